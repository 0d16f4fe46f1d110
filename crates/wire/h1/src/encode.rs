//! Writes heads: each function appends one line to a buffer. What is appended is not checked here except where said;
//! [`is_field`] tells whether a name and a value may go out.

use leat_message::decimal;

use crate::class::{TOKEN, VALUE};

/// Whether a field line may be sent: a token for a name, and no control byte but HTAB in the value.
pub fn is_field(name: &[u8], value: &[u8]) -> bool {
    !name.is_empty() && TOKEN.all(name) && VALUE.all(value)
}

/// Appends a request line. The caller has checked method and target.
#[inline]
pub fn request_line(out: &mut Vec<u8>, method: &[u8], target: &[u8]) {
    out.reserve(method.len() + target.len() + 12);
    out.extend_from_slice(method);
    out.push(b' ');
    out.extend_from_slice(target);
    out.extend_from_slice(b" HTTP/1.1\r\n");
}

/// Appends a field line, as it is.
#[inline]
pub fn field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.reserve(name.len() + value.len() + 4);
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Appends `content-length`.
#[inline]
pub fn content_length(out: &mut Vec<u8>, bytes: u64) {
    out.extend_from_slice(b"content-length: ");
    decimal(bytes, out);
    out.extend_from_slice(b"\r\n");
}

/// Appends `transfer-encoding: chunked`.
#[inline]
pub fn chunked(out: &mut Vec<u8>) {
    out.extend_from_slice(b"transfer-encoding: chunked\r\n");
}

/// Appends `date` with an IMF-fixdate.
#[inline]
pub fn date(out: &mut Vec<u8>, date: &[u8; 29]) {
    let mut line = *b"date: Thu, 01 Jan 1970 00:00:00 GMT\r\n";
    if let Some(slot) = line.get_mut(6..35) {
        slot.copy_from_slice(date);
    }
    out.extend_from_slice(&line);
}

/// Appends `connection: close`.
#[inline]
pub fn connection_close(out: &mut Vec<u8>) {
    out.extend_from_slice(b"connection: close\r\n");
}

/// Appends `connection: keep-alive`, which an HTTP/1.0 client needs to be told.
#[inline]
pub fn connection_keep_alive(out: &mut Vec<u8>) {
    out.extend_from_slice(b"connection: keep-alive\r\n");
}

/// Appends `connection: upgrade`.
#[inline]
pub fn connection_upgrade(out: &mut Vec<u8>) {
    out.extend_from_slice(b"connection: upgrade\r\n");
}

/// Ends a head.
#[inline]
pub fn end(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\r\n");
}

/// The interim response that an `Expect: 100-continue` waits for.
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Appends a status line with the registered reason phrase; an unregistered status has an empty one.
#[inline]
pub fn status_line(out: &mut Vec<u8>, status: u16) {
    match known_status_line(status) {
        Some(line) => out.extend_from_slice(line),
        None => {
            out.extend_from_slice(b"HTTP/1.1 ");
            decimal(u64::from(status), out);
            out.extend_from_slice(b" \r\n");
        }
    }
}

macro_rules! status_lines {
    ($($status:literal $phrase:literal)+) => {
        #[inline]
        fn known_status_line(status: u16) -> Option<&'static [u8]> {
            match status {
                $($status => Some(concat!("HTTP/1.1 ", $status, " ", $phrase, "\r\n").as_bytes()),)+
                _ => None,
            }
        }
    };
}

// IANA HTTP Status Code Registry.
status_lines! {
    100 "Continue"
    101 "Switching Protocols"
    102 "Processing"
    103 "Early Hints"
    200 "OK"
    201 "Created"
    202 "Accepted"
    203 "Non-Authoritative Information"
    204 "No Content"
    205 "Reset Content"
    206 "Partial Content"
    207 "Multi-Status"
    208 "Already Reported"
    226 "IM Used"
    300 "Multiple Choices"
    301 "Moved Permanently"
    302 "Found"
    303 "See Other"
    304 "Not Modified"
    305 "Use Proxy"
    307 "Temporary Redirect"
    308 "Permanent Redirect"
    400 "Bad Request"
    401 "Unauthorized"
    402 "Payment Required"
    403 "Forbidden"
    404 "Not Found"
    405 "Method Not Allowed"
    406 "Not Acceptable"
    407 "Proxy Authentication Required"
    408 "Request Timeout"
    409 "Conflict"
    410 "Gone"
    411 "Length Required"
    412 "Precondition Failed"
    413 "Content Too Large"
    414 "URI Too Long"
    415 "Unsupported Media Type"
    416 "Range Not Satisfiable"
    417 "Expectation Failed"
    418 "I'm a teapot"
    421 "Misdirected Request"
    422 "Unprocessable Content"
    423 "Locked"
    424 "Failed Dependency"
    425 "Too Early"
    426 "Upgrade Required"
    428 "Precondition Required"
    429 "Too Many Requests"
    431 "Request Header Fields Too Large"
    451 "Unavailable For Legal Reasons"
    500 "Internal Server Error"
    501 "Not Implemented"
    502 "Bad Gateway"
    503 "Service Unavailable"
    504 "Gateway Timeout"
    505 "HTTP Version Not Supported"
    506 "Variant Also Negotiates"
    507 "Insufficient Storage"
    508 "Loop Detected"
    511 "Network Authentication Required"
}
