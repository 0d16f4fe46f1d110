//! Source maps: where a frame of a translated module is in what its author wrote. A map is read when an error's stack is.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::files::{Files, join, parent};
use super::json::Json;
use super::urls::{decode, path_of};

const COMMENT: &str = "//# sourceMappingURL=";
/// Segments that a map may have; one has a dozen bytes.
const SEGMENTS_MAX: usize = 20_000_000;
/// Bits of a digit of base 64 that are the number's.
const DIGIT_BITS: u32 = 5;

/// The maps of a world's modules.
#[derive(Default)]
pub(crate) struct SourceMaps(RefCell<HashMap<String, State>>);

#[derive(Clone)]
enum State {
    /// What its comment says.
    Named(Rc<str>),
    /// Read; `None` if it is no map.
    Read(Option<Rc<SourceMap>>),
}

struct SourceMap {
    text: String,
    sources: Vec<String>,
    /// By line: column, and source, line and column there; all from 0.
    lines: Vec<Vec<Segment>>,
}

#[derive(Clone, Copy)]
struct Segment {
    column: u32,
    source: u32,
    at: (u32, u32),
}

impl SourceMaps {
    /// Remembers the comment of a module, if it has one; tells whether it is the first of all that have. `file` is what
    /// frames call the module.
    pub(crate) fn note(&self, file: &str, text: &str) -> bool {
        let Some(at) = memchr::memmem::rfind(text.as_bytes(), COMMENT.as_bytes()) else { return false };
        let rest = text.get(at + COMMENT.len()..).unwrap_or_default();
        let url = rest.split(['\n', '\r', ' ', '\'', '"']).next().unwrap_or_default();
        let mut maps = self.0.borrow_mut();
        let first = maps.is_empty();
        maps.insert(file.to_owned(), State::Named(url.into()));
        first
    }

    /// Where a place of a module was written.
    pub(crate) fn place(&self, files: &Files, file: &str, line: u32, column: u32) -> Option<(String, u32, u32)> {
        self.map(files, file)?.place(line, column)
    }

    /// The map of a module, as its author's tool wrote it.
    pub(crate) fn text(&self, files: &Files, file: &str) -> Option<String> {
        Some(self.map(files, file)?.text.clone())
    }

    fn map(&self, files: &Files, file: &str) -> Option<Rc<SourceMap>> {
        let state = self.0.borrow().get(file).cloned()?;
        let url = match state {
            State::Read(map) => return map,
            State::Named(url) => url,
        };
        let path = path_of(file).map_or_else(|| file.to_owned(), |(path, _)| path);
        let map = read(files, &path, &url).and_then(|(text, from)| parse(text, &from)).map(Rc::new);
        self.0.borrow_mut().insert(file.to_owned(), State::Read(map.clone()));
        map
    }
}

/// A map's text, and the file that its sources are relative to.
fn read(files: &Files, path: &str, url: &str) -> Option<(String, String)> {
    if let Some(data) = url.strip_prefix("data:") {
        let (kind, data) = data.split_once(',')?;
        let text = if kind.ends_with(";base64") { String::from_utf8(from_base64(data)?).ok()? } else { decode(data)? };
        return Some((text, path.to_owned()));
    }
    let file = match url.strip_prefix("file://") {
        Some(path) => path.to_owned(),
        None if url.contains("://") => return None,
        None => join(parent(path), &decode(url)?),
    };
    Some((String::from_utf8(files.read(&file).ok()?).ok()?, file))
}

fn parse(text: String, from: &str) -> Option<SourceMap> {
    let json: Json = serde_json::from_str(text.strip_prefix(")]}'").unwrap_or(&text)).ok()?;
    let root = json.get("sourceRoot").and_then(Json::text).unwrap_or_default();
    let Some(Json::List(sources)) = json.get("sources") else { return None };
    let sources = sources.iter().map(|source| {
        let source = source.text().unwrap_or_default();
        let whole =
            if root.is_empty() { source.to_owned() } else { format!("{}/{source}", root.trim_end_matches('/')) };
        match whole.strip_prefix("file://") {
            Some(path) => path.to_owned(),
            None if whole.contains("://") => whole,
            None => join(parent(from), &whole),
        }
    });
    let sources = sources.collect();
    let lines = segments(json.get("mappings").and_then(Json::text)?)?;
    Some(SourceMap { text, sources, lines })
}

/// Decodes `mappings`: numbers of base 64 digits, each relative to the one before.
fn segments(mappings: &str) -> Option<Vec<Vec<Segment>>> {
    let mut lines = Vec::new();
    let (mut source, mut line, mut column) = (0_i64, 0_i64, 0_i64);
    let mut count = 0;
    for text in mappings.split(';') {
        let mut segments = Vec::new();
        let mut generated = 0_i64;
        for part in text.split(',').filter(|part| !part.is_empty()) {
            count += 1;
            if count > SEGMENTS_MAX {
                return None;
            }
            let numbers = numbers(part)?;
            generated += numbers.first()?;
            if let [_, by_source, by_line, by_column, ..] = numbers.as_slice() {
                source += by_source;
                line += by_line;
                column += by_column;
                let at = (u32::try_from(line).ok()?, u32::try_from(column).ok()?);
                let source = u32::try_from(source).ok()?;
                segments.push(Segment { column: u32::try_from(generated).ok()?, source, at });
            }
        }
        segments.sort_by_key(|segment| segment.column);
        lines.push(segments);
    }
    Some(lines)
}

fn numbers(part: &str) -> Option<Vec<i64>> {
    let mut numbers = Vec::with_capacity(5);
    let (mut value, mut shift) = (0_i64, 0_u32);
    for byte in part.bytes() {
        let digit = i64::from(digit(byte)?);
        value |= (digit & 31).checked_shl(shift)?;
        if digit & 32 != 0 {
            shift += DIGIT_BITS;
            if shift > 40 {
                return None;
            }
            continue;
        }
        numbers.push(if value & 1 == 1 { -(value >> 1) } else { value >> 1 });
        (value, shift) = (0, 0);
    }
    Some(numbers)
}

fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes().take_while(|byte| *byte != b'=') {
        bits = (bits << 6) | u32::from(digit(byte)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

impl SourceMap {
    fn place(&self, line: u32, column: u32) -> Option<(String, u32, u32)> {
        let segments = self.lines.get(line.checked_sub(1)? as usize)?;
        let after = segments.partition_point(|segment| segment.column < column);
        let segment = segments.get(after.checked_sub(1)?)?;
        let source = self.sources.get(segment.source as usize)?;
        Some((source.clone(), segment.at.0 + 1, segment.at.1 + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_read_from_its_comment_and_places_are_found() {
        let maps = SourceMaps::default();
        let files = Files::default();
        let json = r#"{"version":3,"sources":["src/a.ts"],"mappings":"AAAA;AACA,IAAI"}"#;
        let text = format!("x\ny\n//# sourceMappingURL=data:application/json,{}\n", json.replace('"', "%22"));
        assert!(maps.note("/app/a.js", &text));
        assert!(!maps.note("/app/b.js", "nothing"));
        let path = "/app/src/a.ts".to_owned();
        assert_eq!(maps.place(&files, "/app/a.js", 1, 1), Some((path.clone(), 1, 1)));
        assert_eq!(maps.place(&files, "/app/a.js", 2, 4), Some((path.clone(), 2, 1)));
        assert_eq!(maps.place(&files, "/app/a.js", 2, 9), Some((path, 2, 5)));
        assert_eq!(maps.place(&files, "/app/a.js", 3, 1), None);
        assert_eq!(maps.place(&files, "/app/b.js", 1, 1), None);
    }

    #[test]
    fn what_is_no_map_gives_nothing() {
        let files = Files::default();
        for url in [
            "data:,",
            "data:application/json;base64,e30=",
            "data:,{}",
            "http://a/b",
            "/nowhere.map",
            "data:,%7B%22sources%22:[],%22mappings%22:%22!%22%7D",
        ] {
            let maps = SourceMaps::default();
            maps.note("/a.js", &format!("//# sourceMappingURL={url}"));
            assert_eq!(maps.place(&files, "/a.js", 1, 1), None, "{url}");
        }
    }

    #[test]
    fn base64_and_numbers() {
        assert_eq!(from_base64("aGVsbG8=").as_deref(), Some(&b"hello"[..]));
        assert_eq!(from_base64("a*"), None);
        assert_eq!(numbers("AAgBC"), Some(vec![0, 0, 16, 1]));
        assert_eq!(numbers("D"), Some(vec![-1]));
        assert_eq!(numbers("gggggggggggggA"), None);
    }
}
