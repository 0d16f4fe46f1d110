//! Files that a configuration names must be there when it is read.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::config::table::{Reader, Text};

/// How much of a PEM file is looked at, in bytes.
const PEM_BYTES_MAX: u64 = 1024 * 1024;

/// A PEM file with at least one block of this kind (the end of its label, such as `CERTIFICATE`).
pub(super) fn pem(reader: &Reader, text: Text<'_>, label: &str, what: &str) -> Option<PathBuf> {
    let path = reader.path(text.value);
    let mut bytes = Vec::new();
    let read = std::fs::File::open(&path).and_then(|file| file.take(PEM_BYTES_MAX).read_to_end(&mut bytes));
    if let Err(error) = read {
        missing(reader, text, &path, &error);
        return None;
    }
    let text_in = String::from_utf8_lossy(&bytes);
    let begins = |line: &str| line.starts_with("-----BEGIN ") && line.trim_end().ends_with(&format!("{label}-----"));
    if !text_in.lines().any(begins) {
        reader.problem_help(
            text.place,
            format!("the file `{}` has no {what} in it", text.value),
            format!("name a PEM file with `-----BEGIN {label}-----`"),
        );
        return None;
    }
    Some(path)
}

/// The whole content of a small file, as PEM is.
pub(super) fn content(reader: &Reader, text: Text<'_>) -> Option<Vec<u8>> {
    let path = reader.path(text.value);
    let mut bytes = Vec::new();
    let read = std::fs::File::open(&path).and_then(|file| file.take(PEM_BYTES_MAX).read_to_end(&mut bytes));
    match read {
        Ok(_) => Some(bytes),
        Err(error) => {
            missing(reader, text, &path, &error);
            None
        }
    }
}

/// A file of JavaScript or TypeScript.
pub(super) fn script(reader: &Reader, text: Text<'_>) -> Option<PathBuf> {
    const KNOWN: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "cts"];
    let path = reader.path(text.value);
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !KNOWN.contains(&extension) {
        reader.problem_help(
            text.place,
            format!("`{}` is neither JavaScript nor TypeScript by its name", text.value),
            "name a file that ends in `.js`, `.mjs`, `.cjs` or `.ts`",
        );
        return None;
    }
    match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => Some(path),
        Ok(_) => {
            reader.problem_help(text.place, format!("`{}` is not a file", text.value), "name the file itself");
            None
        }
        Err(error) => {
            missing(reader, text, &path, &error);
            None
        }
    }
}

/// A directory.
pub(super) fn directory(reader: &Reader, text: Text<'_>) -> Option<PathBuf> {
    let path = reader.path(text.value);
    match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => Some(path),
        Ok(_) => {
            reader.problem_help(
                text.place,
                format!("`{}` is not a directory", text.value),
                "name the directory that the files are in",
            );
            None
        }
        Err(error) => {
            missing(reader, text, &path, &error);
            None
        }
    }
}

/// A file that will be written: its directory must be there.
pub(super) fn writable(reader: &Reader, text: Text<'_>) -> Option<PathBuf> {
    let path = reader.path(text.value);
    if path.is_dir() {
        reader.problem_help(
            text.place,
            format!("`{}` is a directory", text.value),
            format!("name a file in it, such as `{}/access.log`", text.value.trim_end_matches('/')),
        );
        return None;
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.is_dir() {
        reader.problem_help(
            text.place,
            format!("the directory of `{}` does not exist", text.value),
            format!("create `{}`, or name a file elsewhere", parent.display()),
        );
        return None;
    }
    Some(path)
}

pub(super) fn missing(reader: &Reader, text: Text<'_>, path: &Path, error: &std::io::Error) {
    let message = match error.kind() {
        std::io::ErrorKind::NotFound => format!("`{}` does not exist", text.value),
        std::io::ErrorKind::IsADirectory => format!("`{}` is a directory, not a file", text.value),
        std::io::ErrorKind::PermissionDenied => format!("`{}` may not be read by this user", text.value),
        _ => format!("`{}` cannot be read: {error}", text.value),
    };
    let help = if Path::new(text.value).is_absolute() {
        "check the path".to_owned()
    } else {
        format!("paths start at the directory of this file: it was looked for at `{}`", path.display())
    };
    reader.problem_help(text.place, message, help);
}
