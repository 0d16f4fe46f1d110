//! The Redis serialization protocol, version 2, as scripts answer in it: strings, errors, integers and arrays of integers.
//! <https://redis.io/docs/latest/develop/reference/protocol-spec/>

/// The longest string or error that is read, in bytes: far beyond what the commands here are answered with.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// The longest line, in bytes: a type, 20 digits, CRLF, or a simple string or error.
const LINE_BYTES_MAX: usize = 4 * 1024;

/// The integers that a script answered with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    list: [i64; Self::MAX],
    count: usize,
}

impl Numbers {
    /// Integers that an answer may have.
    pub const MAX: usize = 8;

    /// The integers, in order.
    pub fn list(&self) -> &[i64] {
        self.list.get(..self.count).unwrap_or_default()
    }
}

/// A reply of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Text(Vec<u8>),
    Error(Vec<u8>),
    Nil,
    Numbers(Numbers),
}

/// A server that does not speak the protocol, or says what nobody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// The first reply in `bytes` and its length; `None` while it is not complete. Allocates for texts only.
pub(crate) fn read_reply(bytes: &[u8]) -> Result<Option<(Reply, usize)>, Malformed> {
    let Some((kind, text, used)) = line(bytes)? else { return Ok(None) };
    let reply = match kind {
        b'+' => Reply::Text(text.to_vec()),
        b'-' => Reply::Error(text.to_vec()),
        b':' => Reply::Numbers(Numbers { list: first(integer(text)?), count: 1 }),
        b'$' => {
            let Ok(length) = usize::try_from(integer(text)?) else { return Ok(Some((Reply::Nil, used))) };
            if length > TEXT_BYTES_MAX {
                return Err(Malformed);
            }
            let (Some(text), Some(end)) = (bytes.get(used..used + length), bytes.get(used + length..used + length + 2))
            else {
                return Ok(None);
            };
            if end != b"\r\n" {
                return Err(Malformed);
            }
            return Ok(Some((Reply::Text(text.to_vec()), used + length + 2)));
        }
        b'*' => {
            let Ok(count) = usize::try_from(integer(text)?) else { return Ok(Some((Reply::Nil, used))) };
            return numbers(bytes, used, count);
        }
        _ => return Err(Malformed),
    };
    Ok(Some((reply, used)))
}

fn numbers(bytes: &[u8], mut used: usize, count: usize) -> Result<Option<(Reply, usize)>, Malformed> {
    let mut numbers = Numbers::default();
    let places = numbers.list.get_mut(..count).ok_or(Malformed)?;
    for place in places {
        match line(bytes.get(used..).unwrap_or_default())? {
            Some((b':', text, length)) => {
                *place = integer(text)?;
                used += length;
            }
            Some(_) => return Err(Malformed),
            None => return Ok(None),
        }
    }
    numbers.count = count;
    Ok(Some((Reply::Numbers(numbers), used)))
}

fn first(number: i64) -> [i64; Numbers::MAX] {
    let mut list = [0; Numbers::MAX];
    if let Some(place) = list.first_mut() {
        *place = number;
    }
    list
}

/// A line's type, its text, and its length with CRLF.
pub(crate) type Line<'a> = (u8, &'a [u8], usize);

pub(crate) fn line(bytes: &[u8]) -> Result<Option<Line<'_>>, Malformed> {
    let seen = bytes.get(..LINE_BYTES_MAX).unwrap_or(bytes);
    let Some(end) = seen.iter().position(|&byte| byte == b'\n') else {
        return if seen.len() == LINE_BYTES_MAX { Err(Malformed) } else { Ok(None) };
    };
    let line = seen.get(..end).and_then(|line| line.strip_suffix(b"\r")).ok_or(Malformed)?;
    let (kind, text) = line.split_first().ok_or(Malformed)?;
    Ok(Some((*kind, text, end + 1)))
}

pub(crate) fn integer(text: &[u8]) -> Result<i64, Malformed> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn of(list: &[i64]) -> Reply {
        let mut numbers = Numbers { count: list.len(), ..Numbers::default() };
        numbers.list[..list.len()].copy_from_slice(list);
        Reply::Numbers(numbers)
    }

    #[test]
    fn replies_are_read_once_they_are_complete_and_never_before() {
        for (text, wanted) in [
            (&b"+OK\r\n"[..], Reply::Text(b"OK".to_vec())),
            (b"-NOSCRIPT No matching script.\r\n", Reply::Error(b"NOSCRIPT No matching script.".to_vec())),
            (b":-7\r\n", of(&[-7])),
            (b"$5\r\na\r\nbc\r\n", Reply::Text(b"a\r\nbc".to_vec())),
            (b"$0\r\n\r\n", Reply::Text(Vec::new())),
            (b"$-1\r\n", Reply::Nil),
            (b"*-1\r\n", Reply::Nil),
            (b"*0\r\n", of(&[])),
            (b"*3\r\n:1\r\n:-1\r\n:9007199254740991\r\n", of(&[1, -1, 9_007_199_254_740_991])),
        ] {
            for end in 0..text.len() {
                assert_eq!(read_reply(&text[..end]), Ok(None), "{end} of {}", text.escape_ascii());
            }
            let more = [text, b":1\r\n"].concat();
            assert_eq!(read_reply(&more).unwrap(), Some((wanted, text.len())), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        let long = [b"+".as_slice(), &[b'x'; LINE_BYTES_MAX]].concat();
        for text in [
            &b"HTTP/1.1 400\r\n"[..],
            b"\r\n",
            b"+OK\n",
            b":one\r\n",
            b":99999999999999999999\r\n",
            b"$65537\r\n",
            b"$1\r\nabc",
            b"*9\r\n",
            b"*1000000000000\r\n",
            b"*1\r\n$1\r\na\r\n",
            &long,
        ] {
            assert_eq!(read_reply(text), Err(Malformed), "{}", text.escape_ascii());
        }
    }
}
