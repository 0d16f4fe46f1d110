//! Secrets: read from files and from the environment, and never shown.

use std::io::Read;

use crate::config::read::file::missing;
use crate::config::table::{Reader, Text};

/// The longest file of secrets, in bytes.
pub(super) const FILE_BYTES_MAX: u64 = 16 << 20;

/// The content of a file.
pub(super) fn file(reader: &Reader, text: Text<'_>, bytes_max: u64) -> Option<Vec<u8>> {
    let path = reader.path(text.value);
    let mut bytes = Vec::new();
    let read = std::fs::File::open(&path).and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        missing(reader, text, &path, &error);
        return None;
    }
    if bytes.len() as u64 > bytes_max {
        let message = format!("the file `{}` is longer than {bytes_max} bytes", text.value);
        reader.problem_help(text.place, message, "check the path");
        return None;
    }
    Some(bytes)
}

/// The same as text.
pub(super) fn text_file(reader: &Reader, text: Text<'_>) -> Option<String> {
    let content = String::from_utf8(file(reader, text, FILE_BYTES_MAX)?).ok();
    if content.is_none() {
        reader.problem_help(text.place, format!("the file `{}` is not UTF-8", text.value), "check the path");
    }
    content
}

/// A secret in a file: its content without the line break at its end.
pub(in crate::config::read) fn secret_file(reader: &Reader, text: Text<'_>) -> Option<Vec<u8>> {
    let mut bytes = file(reader, text, 4_096)?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
    Some(bytes)
}

/// A secret in a file whose name stands where some write the secret: it is shown only where there is such a file.
pub(in crate::config::read) fn named_file(reader: &Reader, text: Text<'_>) -> Option<Vec<u8>> {
    if !reader.path(text.value).exists() {
        reader.problem_help(
            text.place,
            "there is no file of this name, which is not shown: it may be the secret itself",
            "put the secret into a file and write its name, or `{ env: NAME }` for a variable",
        );
        return None;
    }
    secret_file(reader, text)
}

/// A secret in a variable of the environment.
pub(in crate::config::read) fn variable(reader: &Reader, text: Text<'_>) -> Option<Vec<u8>> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.value.is_empty() || !text.value.chars().all(is_name) {
        // Not shown: it may be the secret itself.
        reader.problem_help(
            text.place,
            "this is not the name of a variable: letters, digits and `_`",
            "name a variable, such as `JWT_SECRET`, and put the secret into it",
        );
        return None;
    }
    match std::env::var(text.value) {
        Ok(value) if !value.is_empty() => Some(value.into_bytes()),
        _ => {
            reader.problem_help(
                text.place,
                "the environment has no variable of this name, or it is empty",
                "set it for the process, or name a file",
            );
            None
        }
    }
}
