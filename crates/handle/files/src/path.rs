use leat_message::Reason;

use crate::Hidden;

/// A checked path below the root: plain names, decoded, joined by single slashes, no leading slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RelativePath {
    bytes: Vec<u8>,
}

impl RelativePath {
    /// Decodes the part of a request path that follows a route's prefix, and refuses whatever could mean something else
    /// to the file system, to a cache or to a rule that looked at the path before us.
    ///
    /// # Errors
    /// - `line.target_invalid`: a percent sign without two hexadecimal digits.
    /// - `file.forbidden`: a NUL or other control byte, a backslash, an encoded slash, `.` and `..`, a hidden name.
    /// - `file.not_found`: an empty name, as in `a//b`: one file shall have one path.
    pub(crate) fn parse(encoded: &[u8], hidden: Hidden) -> Result<Self, Reason> {
        let encoded = encoded.strip_prefix(b"/").unwrap_or(encoded);
        let mut bytes = Vec::with_capacity(encoded.len());
        let mut rest = encoded.iter();
        while let Some(&byte) = rest.next() {
            let decoded = match byte {
                b'%' => match (rest.next().and_then(hex), rest.next().and_then(hex)) {
                    (Some(high), Some(low)) => high << 4 | low,
                    _ => return Err(Reason::LineTargetInvalid),
                },
                byte => byte,
            };
            if decoded < b' ' || decoded == 0x7f || decoded == b'\\' || (decoded == b'/' && byte == b'%') {
                return Err(Reason::FileForbidden);
            }
            bytes.push(decoded);
        }
        let path = Self { bytes };
        path.check_names(hidden)?;
        Ok(path)
    }

    fn check_names(&self, hidden: Hidden) -> Result<(), Reason> {
        let names = self.bytes.strip_suffix(b"/").unwrap_or(&self.bytes);
        if names.is_empty() {
            return if self.bytes.is_empty() { Ok(()) } else { Err(Reason::FileNotFound) };
        }
        let mut is_empty = false;
        for (depth, name) in names.split(|&byte| byte == b'/').enumerate() {
            let is_well_known = depth == 0 && name == b".well-known";
            match name {
                b"." | b".." => return Err(Reason::FileForbidden),
                [b'.', ..] if hidden == Hidden::Refuse && !is_well_known => return Err(Reason::FileForbidden),
                name => is_empty |= name.is_empty(),
            }
        }
        if is_empty { Err(Reason::FileNotFound) } else { Ok(()) }
    }

    /// Whether the path asks for a directory: it is empty or ends in a slash.
    pub(crate) fn is_directory(&self) -> bool {
        self.bytes.is_empty() || self.bytes.ends_with(b"/")
    }

    /// The path, for the file system.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The path with `suffix` (a plain name, or the end of one) behind it.
    pub(crate) fn join(&self, suffix: &str) -> Self {
        Self { bytes: [&self.bytes, suffix.as_bytes()].concat() }
    }

    /// What follows the last dot of the last name; empty if there is none.
    pub(crate) fn extension(&self) -> &str {
        let name = self.bytes.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let dot = name.iter().rposition(|&byte| byte == b'.');
        dot.and_then(|dot| name.get(dot + 1..)).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

fn hex(digit: &u8) -> Option<u8> {
    char::from(*digit).to_digit(16).map(|digit| digit as u8)
}

/// Where a directory that was asked for without a slash is found: the same path with one, and the query.
///
/// The reply can only lead back to this origin: leading slashes become one (`//host/` would name another origin), and
/// whatever is not plain ASCII, and a backslash (which browsers read as a slash), is percent-encoded.
pub(crate) fn with_slash(path: &[u8], query: Option<&[u8]>) -> Vec<u8> {
    let start = path.iter().position(|&byte| byte != b'/' && byte != b'\\').unwrap_or(path.len());
    let mut location = vec![b'/'];
    path.get(start..).unwrap_or_default().iter().for_each(|&byte| push_plain(byte, &mut location));
    if !location.ends_with(b"/") {
        location.push(b'/');
    }
    if let Some(query) = query {
        location.push(b'?');
        query.iter().for_each(|&byte| push_plain(byte, &mut location));
    }
    location
}

fn push_plain(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' | b'<' | b'>' | b'\\' | b'#' => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        b'!'..=b'~' => out.push(byte),
        _ => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_once_and_refused_where_doubtful() {
        use Reason::{FileForbidden, FileNotFound, LineTargetInvalid};
        let cases: [(&str, Result<&str, Reason>); 46] = [
            ("", Ok("")),
            ("/", Ok("")),
            ("/a.txt", Ok("a.txt")),
            ("a.txt", Ok("a.txt")),
            ("/a/b/c", Ok("a/b/c")),
            ("/a/", Ok("a/")),
            ("/a%20b", Ok("a b")),
            ("/%61", Ok("a")),
            ("/%C3%A9", Ok("é")),
            ("/a%2541", Ok("a%41")),
            ("/a+b", Ok("a+b")),
            ("/a?b", Ok("a?b")),
            ("/a:b", Ok("a:b")),
            ("/a..b", Ok("a..b")),
            ("/a.", Ok("a.")),
            ("/a...", Ok("a...")),
            ("/.well-known/x", Ok(".well-known/x")),
            ("/.well-known/", Ok(".well-known/")),
            ("//", Err(FileNotFound)),
            ("//a", Err(FileNotFound)),
            ("/a//b", Err(FileNotFound)),
            ("/a//", Err(FileNotFound)),
            ("/..", Err(FileForbidden)),
            ("/../a", Err(FileForbidden)),
            ("/a/../b", Err(FileForbidden)),
            ("/a/..", Err(FileForbidden)),
            ("//../a", Err(FileForbidden)),
            ("/./a", Err(FileForbidden)),
            ("/a/.", Err(FileForbidden)),
            ("/%2e%2e/a", Err(FileForbidden)),
            ("/%2E./a", Err(FileForbidden)),
            ("/a%2fb", Err(FileForbidden)),
            ("/..%2Fa", Err(FileForbidden)),
            ("/a\\b", Err(FileForbidden)),
            ("/a%5Cb", Err(FileForbidden)),
            ("/a%00", Err(FileForbidden)),
            ("/a%00.txt", Err(FileForbidden)),
            ("/a%0d%0ab", Err(FileForbidden)),
            ("/a%7f", Err(FileForbidden)),
            ("/.git/config", Err(FileForbidden)),
            ("/a/.env", Err(FileForbidden)),
            ("/%2eenv", Err(FileForbidden)),
            ("/a/.well-known/x", Err(FileForbidden)),
            ("/a%", Err(LineTargetInvalid)),
            ("/a%4", Err(LineTargetInvalid)),
            ("/a%zz", Err(LineTargetInvalid)),
        ];
        for (encoded, expected) in cases {
            let parsed = RelativePath::parse(encoded.as_bytes(), Hidden::Refuse);
            assert_eq!(parsed.map(|path| path.bytes), expected.map(|path| path.as_bytes().to_vec()), "{encoded}");
        }
    }

    #[test]
    fn hidden_names_can_be_allowed_but_dots_alone_cannot() {
        for (encoded, is_allowed) in
            [("/.env", true), ("/a/.b/c", true), ("/..", false), ("/a/%2e%2e", false), ("/.", false)]
        {
            assert_eq!(RelativePath::parse(encoded.as_bytes(), Hidden::Serve).is_ok(), is_allowed, "{encoded}");
        }
    }

    #[test]
    fn extensions_are_those_of_the_last_name() {
        for (path, extension) in [("a.txt", "txt"), ("a.b/c", ""), ("a.tar.gz", "gz"), ("a", ""), ("a.", ""), ("", "")]
        {
            let path = RelativePath { bytes: path.as_bytes().to_vec() };
            assert_eq!(path.extension(), extension, "{path:?}");
        }
    }

    #[test]
    fn redirects_stay_on_this_origin() {
        for (path, query, location) in [
            ("/a", None, "/a/"),
            ("/a", Some("q=1"), "/a/?q=1"),
            ("//evil.example/a", None, "/evil.example/a/"),
            ("///evil.example", None, "/evil.example/"),
            ("/\\evil.example", None, "/evil.example/"),
            ("/a\\b", None, "/a%5Cb/"),
            ("/a\r\nx: y", Some("\r\n"), "/a%0D%0Ax:%20y/?%0D%0A"),
            ("/\u{e9}", None, "/%C3%A9/"),
            ("", None, "/"),
        ] {
            let made = with_slash(path.as_bytes(), query.map(str::as_bytes));
            assert_eq!(String::from_utf8_lossy(&made), location, "{path:?}");
        }
    }
}
