use crate::resp::{Malformed, integer, line};

/// Lists in lists, at most. A cluster's slots need three.
const DEPTH_MAX: usize = 6;
/// Values of one answer. 1,000 masters that share slots one by one, each with two replicas, need 400,000.
const VALUES_MAX: usize = 1_000_000;
/// Bytes of one text.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// What a server answers to a command about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Vec<u8>),
    Error(Vec<u8>),
    Number(i64),
    Nil,
    List(Vec<Self>),
}

impl Value {
    /// The first value in `bytes` and its length; `None` while it is not complete.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let mut reading = Reading { bytes, used: 0, left: VALUES_MAX };
        Ok(reading.value(0)?.map(|value| (value, reading.used)))
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => std::str::from_utf8(text).ok(),
            _ => None,
        }
    }

    pub(crate) fn number<N: TryFrom<i64>>(&self) -> Option<N> {
        match self {
            Self::Number(number) => N::try_from(*number).ok(),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::List(list) => list,
            _ => &[],
        }
    }

    /// The value of a field in a flat list of names and values.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let pairs = self.list().chunks_exact(2);
        pairs.filter_map(|pair| Some((pair.first()?, pair.get(1)?))).find(|(key, _)| key.text() == Some(name))?.1.text()
    }
}

struct Reading<'a> {
    bytes: &'a [u8],
    used: usize,
    left: usize,
}

impl Reading<'_> {
    fn value(&mut self, depth: usize) -> Result<Option<Value>, Malformed> {
        self.left = self.left.checked_sub(1).ok_or(Malformed)?;
        let Some((kind, text, length)) = line(self.bytes.get(self.used..).unwrap_or_default())? else {
            return Ok(None);
        };
        let start = self.used + length;
        self.used = start;
        Ok(Some(match kind {
            b'+' => Value::Text(text.to_vec()),
            b'-' => Value::Error(text.to_vec()),
            b':' => Value::Number(integer(text)?),
            b'$' => {
                let Ok(length) = usize::try_from(integer(text)?) else { return Ok(Some(Value::Nil)) };
                if length > TEXT_BYTES_MAX {
                    return Err(Malformed);
                }
                let Some(text) = self.bytes.get(start..start + length + 2) else { return Ok(None) };
                self.used = start + length + 2;
                Value::Text(text.strip_suffix(b"\r\n").ok_or(Malformed)?.to_vec())
            }
            b'*' => {
                let Ok(count) = usize::try_from(integer(text)?) else { return Ok(Some(Value::Nil)) };
                if depth >= DEPTH_MAX || count > self.left {
                    return Err(Malformed);
                }
                // Not reserved: the count is only what a peer says.
                let mut list = Vec::new();
                for _ in 0..count {
                    let Some(value) = self.value(depth + 1)? else { return Ok(None) };
                    list.push(value);
                }
                Value::List(list)
            }
            _ => return Err(Malformed),
        }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn values_are_read_once_they_are_complete_and_never_before() {
        for (bytes, wanted) in [
            (&b"+OK\r\n"[..], text("OK")),
            (b"-ERR no\r\n", Value::Error(b"ERR no".to_vec())),
            (b"$4\r\na\r\nb\r\n", text("a\r\nb")),
            (b"$-1\r\n", Value::Nil),
            (b"*0\r\n", Value::List(vec![])),
            (
                b"*2\r\n*2\r\n:0\r\n$1\r\nx\r\n*-1\r\n",
                Value::List(vec![Value::List(vec![Value::Number(0), text("x")]), Value::Nil]),
            ),
        ] {
            for end in 0..bytes.len() {
                assert_eq!(Value::read(&bytes[..end]), Ok(None), "{end} of {}", bytes.escape_ascii());
            }
            assert_eq!(Value::read(bytes).unwrap(), Some((wanted, bytes.len())), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn what_is_no_value_or_too_much_of_it_is_refused() {
        let deep = b"*1\r\n".repeat(DEPTH_MAX + 1);
        for bytes in [&b"%1\r\n"[..], b"$1\r\nabc", b"$65537\r\n", b"*1000001\r\n", b"*x\r\n", &deep] {
            assert_eq!(Value::read(bytes), Err(Malformed), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn fields_are_found_by_their_names() {
        let value = Value::List(vec![text("ip"), text("::1"), text("port"), text("7"), text("odd")]);
        assert_eq!((value.field("ip"), value.field("port"), value.field("odd")), (Some("::1"), Some("7"), None));
    }
}
