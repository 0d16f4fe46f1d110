//! From a file to what QuickJS compiles.

use super::files::Files;
use super::package::PackageKind;
use super::refusal::{Class, Refusal};
use super::scan::{Language, scan};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    CommonJs,
    Module,
    /// CommonJS, unless it has `import` or `export`.
    Unsaid,
    Json,
    Addon,
    /// No format that can be imported.
    Unknown,
}

/// What the file at `path` is, by its name and its package.
///
/// # Errors
/// Its package.json is no JSON.
pub(crate) fn format_of(files: &Files, path: &str) -> Result<Format, Refusal> {
    Ok(match extension(path) {
        ".mjs" | ".mts" => Format::Module,
        ".cjs" | ".cts" => Format::CommonJs,
        ".json" => Format::Json,
        ".node" => Format::Addon,
        ".js" | ".ts" | "" => match files.scope(path)?.map(|package| package.kind) {
            Some(PackageKind::Module) => Format::Module,
            Some(PackageKind::CommonJs) => Format::CommonJs,
            _ => Format::Unsaid,
        },
        _ => Format::Unknown,
    })
}

/// The last extension of a path, with its point; empty if it has none.
pub(crate) fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rfind('.') {
        Some(at) if at > 0 => name.get(at..).unwrap_or(""),
        _ => "",
    }
}

/// Whether a file's types are to be stripped.
pub(crate) fn is_typescript(path: &str) -> bool {
    matches!(extension(path), ".ts" | ".mts" | ".cts")
}

/// The text of a source: without a byte order mark, bytes that are no UTF-8 replaced, types blanked.
///
/// # Errors
/// Types that need code.
pub(crate) fn text_of(path: &str, bytes: Vec<u8>) -> Result<String, Refusal> {
    let mut text =
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    if is_typescript(path) {
        return super::strip::strip(&text).map_err(|problem| problem.refusal(path, &text));
    }
    Ok(text)
}

/// Whether a source that could be either is an ES module.
pub(crate) fn has_module_syntax(text: &str) -> bool {
    if !["import", "export", "await"]
        .iter()
        .any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some())
    {
        return false;
    }
    let found = scan(text, Language::Module);
    found.problem.is_none()
        && (found.module_syntax || (found.awaits.is_some() && scan(text, Language::Script).problem.is_some()))
}

/// Something wrong at a place of a source.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// Byte in the source.
    pub(crate) at: usize,
}

impl Problem {
    /// As the error that JavaScript gets.
    pub(crate) fn refusal(&self, path: &str, text: &str) -> Refusal {
        let (line, column) = place(text, self.at);
        let shown = excerpt(path, text, line, column);
        let stack = format!("{shown}\n\nSyntaxError: {}\n    at {path}:{line}:{column}", self.message);
        let refusal = Refusal { class: Class::SyntaxError, ..Refusal::error(self.code, self.message.clone()) };
        refusal.with("stack", stack)
    }
}

/// Line and column of a byte, both from 1; columns count UTF-16 units.
pub(crate) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(begin..).unwrap_or_default().encode_utf16().count() + 1;
    (line, column)
}

/// Characters of a line that are shown.
const SHOWN_MAX: usize = 300;

/// `file:line`, the line, and a caret under the column.
pub(crate) fn excerpt(file: &str, text: &str, line: usize, column: usize) -> String {
    let shown = text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default().trim_end_matches('\r');
    let shown: String = shown.chars().take(SHOWN_MAX).collect();
    let mut pad = String::new();
    for character in shown.chars().take(column.saturating_sub(1)) {
        pad.push(if character == '\t' { '\t' } else { ' ' });
    }
    format!("{file}:{line}\n{shown}\n{pad}^")
}
