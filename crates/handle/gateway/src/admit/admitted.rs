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
    /// What the reply tells of the route's rate limits so far, if anything.
    told: Option<Told>,
}

/// Fields of `reply` that tell of a rate limit: all from a place on, since the checks of limits stand behind one another.
#[derive(Clone, Copy, Debug)]
struct Told {
    bytes: usize,
    lines: usize,
    /// How much remains of the limit that they tell of.
    remaining: u64,
}

impl Admitted {
    /// Empties it for the next request.
    pub(crate) fn clear(&mut self) {
        self.passed = 0;
        self.upstream.clear();
        self.reply.clear();
        self.identities.clear();
        self.told = None;
    }

    /// Who the request is from, and where a check of rate limits notes what the client is told.
    #[inline]
    pub(super) fn counted(&mut self) -> (&[Rc<Identity>], LimitNotes<'_>) {
        (&self.identities, LimitNotes { reply: &mut self.reply, told: &mut self.told })
    }
}

/// What a client is told of the rate limits of a route: of one of them, whichever stores they are counted in.
pub(super) struct LimitNotes<'a> {
    reply: &'a mut FieldLines,
    told: &'a mut Option<Told>,
}

impl LimitNotes<'_> {
    /// Whether a limit of which so much remains says more than what is told already: less is left of it.
    #[inline]
    pub(super) fn is_news(&self, remaining: u64) -> bool {
        self.told.is_none_or(|told| remaining < told.remaining)
    }

    /// For the fields of a limit of which so much remains, in place of what was told of another one.
    #[inline]
    pub(super) fn anew(&mut self, remaining: u64) -> &mut FieldLines {
        if let Some(told) = self.told {
            self.reply.bytes.truncate(told.bytes);
            self.reply.ends.truncate(told.lines);
        }
        let (bytes, lines) = (self.reply.bytes.len(), self.reply.ends.len());
        *self.told = Some(Told { bytes, lines, remaining });
        self.reply
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
    fn one_limit_is_told_of_behind_what_else_is_noted() {
        let mut admitted = Admitted::default();
        admitted.reply.put(b"vary", |value| value.extend_from_slice(b"origin"));
        let (_, mut notes) = admitted.counted();
        for (remaining, is_news) in [(7, true), (7, false), (8, false), (3, true)] {
            assert_eq!(notes.is_news(remaining), is_news, "{remaining}");
            if is_news {
                notes.anew(remaining).put(b"ratelimit", |value| value.push(b'0' + remaining as u8));
            }
        }
        let all: Vec<_> = admitted.reply.iter().collect();
        assert_eq!(all, [(&b"vary"[..], &b"origin"[..]), (b"ratelimit", b"3")]);
        admitted.clear();
        assert!(admitted.counted().1.is_news(9));
    }

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
