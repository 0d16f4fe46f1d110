use leat_message::{Method, Name};

/// The head of a request as a host writes it: method, target, and name and value of each field, a line each. Checked whole
/// before anything is sent, since whatever a program puts into a line must not become another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    lines: &'a [u8],
    /// The method.
    pub(crate) method: &'a [u8],
    /// The path with its query.
    pub(crate) target: &'a [u8],
    /// Host and port, where the program has named them itself.
    pub(crate) host: Option<&'a [u8]>,
    /// The length of the body, where the program has told it.
    pub(crate) length: Option<u64>,
}

impl<'a> Ask<'a> {
    /// Reads `lines`, of which the host has counted `count`; `None` where they are no head of a request that can be sent: what
    /// concerns the connection is not the caller's to say, and CONNECT opens no tunnel here.
    pub(crate) fn parse(lines: &'a [u8], count: usize) -> Option<Self> {
        if lines.split(|&byte| byte == b'\n').count() != count || !count.is_multiple_of(2) {
            return None;
        }
        let mut parts = lines.split(|&byte| byte == b'\n');
        let (method, target) = (parts.next()?, parts.next()?);
        if !is_token(method)
            || method == b"CONNECT"
            || target.is_empty()
            || !target.iter().all(|&byte| byte > b' ' && byte != 0x7f)
        {
            return None;
        }
        let mut ask = Self { lines, method, target, host: None, length: None };
        for (name, value) in ask.fields() {
            if !is_token(name) || !value.iter().all(|&byte| byte >= b' ' && byte != 0x7f || byte == b'\t') {
                return None;
            }
            match Name::from_bytes(name) {
                Name::Host if ask.host.is_none() => ask.host = Some(value),
                Name::ContentLength if ask.length.is_none() => ask.length = Some(number(value)?),
                Name::Host | Name::ContentLength | Name::Expect | Name::Te => return None,
                id if id.is_hop_by_hop() => return None,
                _ => {}
            }
        }
        Some(ask)
    }

    /// Names and values in their order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut parts = self.lines.split(|&byte| byte == b'\n').skip(2);
        std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
    }

    /// Whether a request of this method says that it has no body, where it has none (RFC 9110 section 8.6).
    pub(crate) fn announces_nothing(&self) -> bool {
        matches!(Method::from_bytes(self.method), Method::Post | Method::Put | Method::Patch)
    }
}

fn number(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| digits)?.parse().ok()
}

/// RFC 9110 section 5.6.2.
fn is_token(bytes: &[u8]) -> bool {
    let legal = |&byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !bytes.is_empty() && bytes.iter().all(legal)
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read() {
        let ask = Ask::parse(b"POST\n/a?b\nhost\na:1\nx-a\n\xe9 b\ncontent-length\n12\nx-b\n", 10).unwrap();
        assert_eq!(
            (ask.method, ask.target, ask.host, ask.length),
            (&b"POST"[..], &b"/a?b"[..], Some(&b"a:1"[..]), Some(12))
        );
        let fields: Vec<_> = ask.fields().collect();
        assert_eq!(
            fields,
            [(&b"host"[..], &b"a:1"[..]), (b"x-a", b"\xe9 b"), (b"content-length", b"12"), (b"x-b", b"")]
        );
    }

    #[test]
    fn what_is_no_head_is_refused() {
        let refused: &[(&[u8], usize)] = &[
            (b"", 1),
            (b"GET", 1),
            (b"GET\n/\na", 3),
            // A line end in a value makes more lines than were counted.
            (b"GET\n/\na\nb\nc\nd", 4),
            (b"GET\n/\na\nb\rc", 4),
            (b"GET\n/\na\nb\0", 4),
            (b"GET\n/\na b\nc", 4),
            (b"GET\n/\n\nc", 4),
            (b"GET\n/ HTTP/1.1\na\nb", 4),
            (b"GET\n\na\nb", 4),
            (b"G T\n/", 2),
            (b"CONNECT\na:1", 2),
            (b"GET\n/\nconnection\nclose", 4),
            (b"GET\n/\nTransfer-Encoding\nchunked", 4),
            (b"GET\n/\nupgrade\nh2c", 4),
            (b"GET\n/\nexpect\n100-continue", 4),
            (b"GET\n/\nte\ntrailers", 4),
            (b"GET\n/\nhost\na\nhost\nb", 6),
            (b"GET\n/\ncontent-length\n1\ncontent-length\n1", 6),
            (b"GET\n/\ncontent-length\n-1", 4),
            (b"GET\n/\ncontent-length\n", 4),
            (b"GET\n/\ncontent-length\n99999999999999999999", 4),
        ];
        for (lines, count) in refused {
            assert!(Ask::parse(lines, *count).is_none(), "{}", String::from_utf8_lossy(lines));
        }
    }
}
