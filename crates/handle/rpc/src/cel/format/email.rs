//! Addresses of mail, as HTML's `input type=email` accepts them.

use super::host::is_label_list;

/// Whether the text is an address: a local part of common characters, `@`, labels of letters, digits and inner hyphens.
pub fn is_email(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some((local, domain)) =
        bytes.iter().position(|byte| *byte == b'@').and_then(|at| Some((bytes.get(..at)?, bytes.get(at + 1..)?)))
    else {
        return false;
    };
    !local.is_empty()
        && local.iter().all(|byte| LOCAL.get(usize::from(*byte)).is_some_and(|allowed| *allowed))
        && is_label_list(domain)
}

/// The bytes of a local part.
static LOCAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[allow(clippy::cast_possible_truncation)]
        let each = byte as u8;
        let marks = b".!#$%&'*+/=?^_`{|}~-";
        let mut at = 0;
        while at < marks.len() {
            table[byte] |= marks[at] == each;
            at += 1;
        }
        table[byte] |= each.is_ascii_alphanumeric();
        byte += 1;
    }
    table
};
