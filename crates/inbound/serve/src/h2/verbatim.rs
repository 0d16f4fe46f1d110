use std::cell::RefCell;

use leat_h1::{Progress, ResponseLimits, parse_response};
use leat_h2::FieldList;
use leat_message::{Fields, Length, Method, Name, ResponseLines};

use super::reply::H2Reply;

thread_local! {
    /// The ranges of the head that is being brought over.
    static LINES: RefCell<ResponseLines> = RefCell::default();
}

/// Heads that the handler formatted as HTTP/1 text.
impl H2Reply {
    /// Takes a final head; a malformed one leaves the reply without a head, which is the handler's failure. Parses it once
    /// and copies its fields.
    pub(super) fn verbatim(&mut self, head: &[u8]) {
        if !self.is_waiting() {
            return;
        }
        let method = if self.head_request { Method::Head } else { Method::Get };
        match bring_over(head, method, self.fields()) {
            Some((status, length)) if status >= 200 => self.give_head(status, length),
            _ => self.fields().clear(),
        }
    }

    /// Sends an interim head; a malformed one is left out.
    pub(super) fn interim_verbatim(&mut self, head: &[u8]) {
        if !self.is_waiting() {
            return;
        }
        match bring_over(head, Method::Get, self.fields()) {
            Some((status, _)) if self.takes_interim(status) => self.send_interim(status),
            _ => self.fields().clear(),
        }
    }
}

/// Reads a head in text. Fields that belong to a connection stay behind (RFC 9113 section 8.2.2).
fn bring_over(head: &[u8], method: Method, fields: &mut FieldList) -> Option<(u16, Length)> {
    // The text is our own process's, however long it is.
    let limits = ResponseLimits { head_bytes_max: usize::MAX, fields_max: usize::MAX };
    LINES.with_borrow_mut(|lines| {
        let len = parse_response(head, &mut Progress::default(), &limits, method, lines).ok()??;
        if len != head.len() {
            return None;
        }
        let list = Fields::new(head, &lines.fields);
        for (id, name, value) in list {
            if !id.is_hop_by_hop() && !is_named(list, name) {
                fields.push(name, value);
            }
        }
        Some((lines.status, lines.length))
    })
}

/// Whether `Connection` names this field.
fn is_named(list: Fields<'_>, name: &[u8]) -> bool {
    let mut options = list.get_all(Name::Connection).flat_map(|value| value.split(|&byte| byte == b','));
    options.any(|option| option.trim_ascii().eq_ignore_ascii_case(name))
}
