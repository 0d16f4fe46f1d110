//! The form in which paths are matched, and the ways in which a doubtful path may be read by whoever is behind us.

/// Appends `path` with every percent escape decoded, except for two that would change its structure: an encoded slash
/// stays `%2F` and an encoded percent sign stays `%25`. What is not an escape stays as it is.
pub(crate) fn decode(path: &[u8], out: &mut Vec<u8>) {
    let mut rest = path;
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%'
            && let [high, low, after @ ..] = tail
            && let (Some(high), Some(low)) = (hex(*high), hex(*low))
        {
            match high << 4 | low {
                b'/' => out.extend_from_slice(b"%2F"),
                b'%' => out.extend_from_slice(b"%25"),
                byte => out.push(byte),
            }
            rest = after;
        } else {
            out.push(first);
            rest = tail;
        }
    }
}

/// The value of a hexadecimal digit.
pub(crate) fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// Ways in which servers change a path before they look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doubt(u8);

impl Doubt {
    /// Several slashes count as one.
    const MERGE: u8 = 1;
    /// `%2F` is a slash.
    const ENCODED: u8 = 2;
    /// `\` is a slash.
    const BACKSLASH: u8 = 4;
    /// A segment ends at its first `;`.
    const PARAMS: u8 = 8;

    /// Whether there is only one way to read the path.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Every way to read the path but the one that leaves it alone. At most 15.
    pub(crate) fn readings(self) -> impl Iterator<Item = Reading> {
        // Other changes may bring slashes together.
        let all = if self.0 == 0 { 0 } else { self.0 | Self::MERGE };
        (1..16u8).filter(move |changes| changes & !all == 0).map(Reading)
    }
}

/// One way to read a path: a set of changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading(u8);

impl Reading {
    /// Appends `path` (decoded) as it looks to a server that makes these changes.
    pub(crate) fn write(self, path: &[u8], out: &mut Vec<u8>) {
        let mut rest = path;
        let mut in_params = false;
        while let Some((&first, tail)) = rest.split_first() {
            let (width, slash) = match first {
                b'/' => (1, true),
                b'\\' => (1, self.0 & Doubt::BACKSLASH != 0),
                b'%' if tail.starts_with(b"2F") => (3, self.0 & Doubt::ENCODED != 0),
                _ => (1, false),
            };
            let (taken, after) = rest.split_at_checked(width).unwrap_or((rest, &[]));
            rest = after;
            if slash {
                in_params = false;
                if self.0 & Doubt::MERGE == 0 || out.last() != Some(&b'/') {
                    out.push(b'/');
                }
            } else if !in_params {
                in_params = first == b';' && self.0 & Doubt::PARAMS != 0;
                if !in_params {
                    out.extend_from_slice(taken);
                }
            }
        }
    }
}

/// Why a path is refused without looking for its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A dot segment, in any spelling.
    Dots,
    /// An encoded NUL, where many servers stop reading.
    Nul,
}

/// Whether the raw path may hold anything that [`examine`] looks for; if not, it is matched as it is. Cost: one pass.
#[inline]
pub(crate) fn is_plain(path: &[u8]) -> bool {
    let mut after_slash = false;
    for &byte in path {
        match byte {
            b'%' | b'\\' | b';' => return false,
            // A segment that starts with a dot needs a closer look, and so does an empty one.
            b'.' | b'/' if after_slash => return false,
            _ => after_slash = byte == b'/',
        }
    }
    true
}

/// Looks for what can be read in more than one way, in a decoded path.
pub(crate) fn examine(path: &[u8]) -> Result<Doubt, Refusal> {
    let mut doubt = 0;
    let mut piece = Piece::Start;
    let mut rest = path;
    let mut slash_before = false;
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        let separates = match first {
            0 => return Err(Refusal::Nul),
            b'/' => {
                if slash_before {
                    doubt |= Doubt::MERGE;
                }
                true
            }
            b'\\' => {
                doubt |= Doubt::BACKSLASH;
                true
            }
            b'%' if tail.starts_with(b"2F") => {
                doubt |= Doubt::ENCODED;
                rest = tail.get(2..).unwrap_or_default();
                true
            }
            _ => false,
        };
        slash_before = first == b'/';
        if separates {
            piece.end()?;
            piece = Piece::Start;
        } else if first == b';' {
            doubt |= Doubt::PARAMS;
            piece.end()?;
            piece = Piece::Other;
        } else {
            piece = piece.with(first);
        }
    }
    piece.end()?;
    Ok(Doubt(doubt))
}

/// What was seen of a segment: only whether it is a dot segment matters.
#[derive(Clone, Copy)]
enum Piece {
    Start,
    Dot,
    DotDot,
    Other,
}

impl Piece {
    fn with(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Start, b'.') => Self::Dot,
            (Self::Dot, b'.') => Self::DotDot,
            _ => Self::Other,
        }
    }

    fn end(self) -> Result<(), Refusal> {
        match self {
            Self::Dot | Self::DotDot => Err(Refusal::Dots),
            Self::Start | Self::Other => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(path: &str) -> Vec<u8> {
        let mut out = Vec::new();
        decode(path.as_bytes(), &mut out);
        out
    }

    #[test]
    fn decoding_keeps_the_structure() {
        for (path, wanted) in [
            ("/a", "/a"),
            ("/%61", "/a"),
            ("/%7Eb", "/~b"),
            ("/a%2Fb%2fc", "/a%2Fb%2Fc"),
            ("/%252e", "/%252e"),
            ("/%%32f", "/%2f"),
            ("/100%", "/100%"),
            ("/%zz%4", "/%zz%4"),
            ("/%e2%82%ac", "/€"),
            ("/%40x", "/@x"),
        ] {
            assert_eq!(decoded(path), wanted.as_bytes(), "{path}");
        }
    }

    #[test]
    fn dot_segments_are_found_in_every_spelling() {
        for path in [
            "/.",
            "/..",
            "/a/./b",
            "/a/../b",
            "/a/..",
            "/%2e",
            "/%2E%2e/a",
            "/.%2e/a",
            "/a/..;x/b",
            "/..;/b",
            "/a\\..\\b",
            "/a%5c..%5cb",
            "/a%2f..%2fb",
            "/a%2f%2e%2e",
            "/%2f..",
            "/..%3bx",
            "/..\\",
        ] {
            assert!(!is_plain(path.as_bytes()), "{path}");
            assert_eq!(examine(&decoded(path)), Err(Refusal::Dots), "{path}");
        }
        for path in ["/.well-known/x", "/...", "/a..", "/..a", "/a.b/c.d", "/.;a.b".trim_end_matches(";a.b")] {
            let wanted = if path == "/." { Err(Refusal::Dots) } else { Ok(Doubt(0)) };
            assert_eq!(examine(&decoded(path)), wanted, "{path}");
        }
        assert_eq!(examine(&decoded("/a%00b")), Err(Refusal::Nul));
    }

    #[test]
    fn every_reading_of_a_doubtful_path_is_listed() {
        for (path, wanted) in [
            ("/a", &[][..]),
            ("/a//b", &["/a/b"]),
            ("/a%2fb", &["/a%2Fb", "/a/b", "/a/b"]),
            ("/a/%2fb", &["/a/%2Fb", "/a//b", "/a/b"]),
            ("/a;x/b", &["/a;x/b", "/a/b", "/a/b"]),
            ("/a\\b", &["/a\\b", "/a/b", "/a/b"]),
        ] {
            let path = decoded(path);
            let readings: Vec<String> = examine(&path)
                .unwrap()
                .readings()
                .map(|reading| {
                    let mut out = Vec::new();
                    reading.write(&path, &mut out);
                    String::from_utf8(out).unwrap()
                })
                .collect();
            assert_eq!(readings, wanted, "{}", String::from_utf8_lossy(&path));
        }
        let all = decoded("//a%2fb\\c;d");
        assert_eq!(examine(&all).unwrap().readings().count(), 15);
    }
}
