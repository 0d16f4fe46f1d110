//! Responses in binary form, written field by field: most of their bytes are files that are there already.

use leat_rpc_wire::Code;
use leat_schema::wire::{put_bytes, put_varint, varint_len};

use super::request::Question;

/// `valid_host` and `original_request`.
pub(super) fn begin(question: &Question<'_>, request: &[u8], out: &mut Vec<u8>) {
    if !question.host.is_empty() {
        put_bytes(out, 1, question.host.as_bytes());
    }
    put_bytes(out, 2, request);
}

/// `file_descriptor_response`.
pub(super) fn files(files: &[&[u8]], out: &mut Vec<u8>) {
    let len = files.iter().map(|file| 1 + varint_len(file.len() as u64) + file.len()).sum::<usize>();
    put_varint(out, 4 << 3 | 2);
    put_varint(out, len as u64);
    files.iter().for_each(|file| put_bytes(out, 1, file));
}

/// `all_extension_numbers_response`.
pub(super) fn extension_numbers(name: &str, numbers: impl Iterator<Item = u32>, out: &mut Vec<u8>) {
    let mut packed = Vec::new();
    numbers.for_each(|number| put_varint(&mut packed, number.into()));
    let mut body = Vec::new();
    put_bytes(&mut body, 1, name.as_bytes());
    if !packed.is_empty() {
        put_bytes(&mut body, 2, &packed);
    }
    put_bytes(out, 5, &body);
}

/// `list_services_response`.
pub(super) fn services(names: &[String], out: &mut Vec<u8>) {
    let mut body = Vec::new();
    for name in names {
        let mut service = Vec::new();
        put_bytes(&mut service, 1, name.as_bytes());
        put_bytes(&mut body, 1, &service);
    }
    put_bytes(out, 6, &body);
}

/// `error_response`.
pub(super) fn error(code: Code, message: &str, out: &mut Vec<u8>) {
    let mut body = vec![1 << 3];
    put_varint(&mut body, code as u64);
    put_bytes(&mut body, 2, message.as_bytes());
    put_bytes(out, 7, &body);
}
