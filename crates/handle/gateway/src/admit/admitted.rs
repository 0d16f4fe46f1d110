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
    pub(crate) fn put(&mut self, name: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.extend_from_slice(name);
        let name_end = self.bytes.len() as u32;
        write(&mut self.bytes);
        self.ends.push((name_end, self.bytes.len() as u32));
    }

    /// The fields in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        starts.zip(&self.ends).filter_map(|(start, &(name_end, end))| {
            let name = self.bytes.get(start as usize..name_end as usize)?;
            Some((name, self.bytes.get(name_end as usize..end as usize)?))
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
            lines.put(b"b", |value| value.extend_from_slice(b"22"));
            let all: Vec<_> = lines.iter().collect();
            assert_eq!(all, [(&b"a"[..], &b"1"[..]), (b"empty", b""), (b"b", b"22")]);
            lines.clear();
        }
    }
}
