use std::rc::Rc;

use super::auth::Identity;

/// What the checks of a request found out. Reused from request to request: its memory stays.
#[derive(Debug, Default)]
pub(crate) struct Admitted {
    /// How many checks have admitted the request.
    pub(super) passed: usize,
    /// Fields that the upstream gets, behind all others. What a client sends under these names is the business of the
    /// check that sets them: it has to be taken out whether or not there is a value.
    pub(crate) upstream: FieldLines,
    /// Fields that the reply gets, whoever writes it.
    pub(crate) reply: FieldLines,
    /// Who it is from, as the schemes of the route say; for checks that come after.
    pub(super) identities: Vec<Rc<Identity>>,
}

impl Admitted {
    /// Empties it for the next request.
    pub(crate) fn clear(&mut self) {
        self.passed = 0;
        self.upstream.clear();
        self.reply.clear();
        self.identities.clear();
    }
}

/// Fields in one buffer.
#[derive(Debug, Default)]
pub(crate) struct FieldLines {
    bytes: Vec<u8>,
    /// The ends of each name and its value in `bytes`.
    ends: Vec<(u32, u32)>,
}

impl FieldLines {
    /// Appends a field: its value is what `write` appends, without CR, LF and NUL. Allocates where there is no room.
    #[inline]
    pub(crate) fn put(&mut self, name: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        self.put_begun(name, name.len(), write);
    }

    /// Appends a field whose beginning was made ahead: its name, which is so long, and behind it what its value begins with.
    #[inline]
    pub(crate) fn put_begun(&mut self, begun: &[u8], name_bytes: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let name_end = self.bytes.len() + name_bytes;
        self.bytes.extend_from_slice(begun);
        write(&mut self.bytes);
        self.ends.push((name_end as u32, self.bytes.len() as u32));
    }

    /// The fields in their order.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut rest = &self.bytes[..];
        let mut start = 0;
        self.ends.iter().map_while(move |&(name_end, end)| {
            let (name, behind) = rest.split_at_checked((name_end - start) as usize)?;
            let (value, behind) = behind.split_at_checked((end - name_end) as usize)?;
            (rest, start) = (behind, end);
            Some((name, value))
        })
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_as_they_were_put() {
        let mut lines = FieldLines::default();
        for _ in 0..2 {
            assert!(lines.is_empty());
            lines.put(b"a", |value| value.extend_from_slice(b"1"));
            lines.put(b"empty", |_| ());
            lines.put_begun(b"b2", 1, |value| value.push(b'2'));
            let all: Vec<_> = lines.iter().collect();
            assert_eq!(all, [(&b"a"[..], &b"1"[..]), (b"empty", b""), (b"b", b"22")]);
            lines.clear();
        }
    }
}
