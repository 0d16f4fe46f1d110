use leat_message::Reply;

use crate::admit::OwnFields;
use crate::config::FieldEdits;

/// A name and a value.
type Line = (Box<[u8]>, Box<[u8]>);

/// Changes to a list of fields: what is taken out, and what is put behind the rest. Compiled once; applying it copies
/// nothing but the fields themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits {
    /// Names whose fields are taken out: those to remove and those to set.
    out: Vec<Box<[u8]>>,
    /// Fields that are put behind the others: those to set and those to add.
    put: Vec<Line>,
}

impl Edits {
    pub(crate) fn new(config: &FieldEdits) -> Self {
        let set = config.set().iter();
        let out = config.remove().iter().chain(set.clone().map(|(name, _)| name)).map(|name| name.as_bytes().into());
        let put = set.chain(config.add()).map(|(name, value)| (name.as_bytes().into(), value.as_bytes().into()));
        Self { out: out.collect(), put: put.collect() }
    }

    /// The same, and fields of these names are taken out too.
    pub(crate) fn taking_out(mut self, names: &[&[u8]]) -> Self {
        self.out.extend(names.iter().map(|name| Box::from(*name)));
        self
    }

    /// The same without a word on fields by which authentication tells of the client: it has the last one, also before the fields that
    /// the engine puts by itself.
    pub(crate) fn yielding_to(mut self, own: &OwnFields) -> Self {
        self.put.retain(|(name, _)| !own.tells(name));
        self.out.extend(own.told().map(Box::from));
        self
    }

    /// Whether a field of this name is taken out.
    #[inline]
    pub(crate) fn takes_out(&self, name: &[u8]) -> bool {
        self.out.iter().any(|out| out.eq_ignore_ascii_case(name))
    }

    /// Whether the configuration has its own word on this field, so that the engine's default stays away.
    #[inline]
    pub(crate) fn decides(&self, name: &[u8]) -> bool {
        self.takes_out(name) || self.put.iter().any(|(put, _)| put.eq_ignore_ascii_case(name))
    }

    /// A head in text with these changes. One allocation and a copy.
    pub(crate) fn apply(&self, head: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(head.len() + 64);
        let mut lines = head.split_inclusive(|&byte| byte == b'\n');
        out.extend_from_slice(lines.next().unwrap_or_default());
        for line in lines {
            if matches!(line, b"\n" | b"\r\n") {
                for (name, value) in self.put() {
                    for part in [name, b": ", value, b"\r\n"] {
                        out.extend_from_slice(part);
                    }
                }
                out.extend_from_slice(line);
                continue;
            }
            let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
            if !self.takes_out(name) {
                out.extend_from_slice(line);
            }
        }
        out
    }

    /// The fields that are put behind the others.
    pub(crate) fn put(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.put.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Writes the fields that are put behind the others.
    pub(crate) fn write<R: Reply>(&self, reply: &mut R) {
        for (name, value) in self.put() {
            reply.field(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_in_text_is_changed_as_its_fields_would_be() {
        let line = |name: &str, value: &str| (name.as_bytes().into(), value.as_bytes().into());
        let edits = Edits { out: vec![b"server".as_slice().into()], put: vec![line("x-by", "leat")] };
        for (head, changed) in [
            ("HTTP/1.1 200 OK\r\nServer: a\r\nx: 1\r\n\r\n", "HTTP/1.1 200 OK\r\nx: 1\r\nx-by: leat\r\n\r\n"),
            ("HTTP/1.1 200 Server: OK\r\n\r\n", "HTTP/1.1 200 Server: OK\r\nx-by: leat\r\n\r\n"),
            ("HTTP/1.1 200 OK\r\nservers: a\r\n\r\n", "HTTP/1.1 200 OK\r\nservers: a\r\nx-by: leat\r\n\r\n"),
        ] {
            assert_eq!(String::from_utf8(edits.apply(head.as_bytes())).unwrap(), changed);
        }
    }
}
