use crate::Code;

/// Streams that we reset last and still know of, at least: as many as a peer may have open, since frames for them may be under
/// way.
const OURS_MIN: usize = 128;
/// Other streams that were closed last. Frames for them are the peer's error; they only tell which one.
const OTHERS: usize = 16;

/// How a stream came to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// Both sides ended it.
    #[default]
    Ended,
    /// The peer reset it, with this code.
    ResetByPeer(Code),
    /// We reset it since nobody here wants it any more: the peer may not know yet.
    ResetByUs,
    /// We reset it, or ended the connection, for what the peer did.
    Faulty,
    /// The server said GOAWAY, and that it did nothing with it: the request may be sent again.
    Unprocessed,
    /// The connection is gone.
    Lost,
}

/// The streams that were closed last.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Grows as it is needed.
    ours: Vec<u32>,
    ours_max: usize,
    next_ours: usize,
    others: [(u32, Cause); OTHERS],
    next_other: usize,
}

impl Closed {
    /// Knows `ours_max` streams that we reset, and 128 at least.
    pub(crate) fn new(ours_max: usize) -> Self {
        Self {
            ours: Vec::new(),
            ours_max: ours_max.max(OURS_MIN),
            next_ours: 0,
            others: [(0, Cause::Ended); OTHERS],
            next_other: 0,
        }
    }

    pub(crate) fn push(&mut self, id: u32, cause: Cause) {
        if matches!(cause, Cause::ResetByUs | Cause::Faulty) {
            match self.ours.get_mut(self.next_ours) {
                Some(entry) => *entry = id,
                None => self.ours.push(id),
            }
            self.next_ours = (self.next_ours + 1) % self.ours_max;
        } else {
            if let Some(entry) = self.others.get_mut(self.next_other) {
                *entry = (id, cause);
            }
            self.next_other = (self.next_other + 1) % OTHERS;
        }
    }

    /// How the stream ended, if that is still known.
    pub(crate) fn cause(&self, id: u32) -> Option<Cause> {
        if self.ours.contains(&id) {
            return Some(Cause::ResetByUs);
        }
        self.others.iter().find(|&&(other, _)| other == id).map(|&(_, cause)| cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_resets_are_remembered_whatever_else_ends() {
        let mut closed = Closed::new(1);
        closed.push(1, Cause::ResetByUs);
        (1..100).for_each(|number| closed.push(2 * number + 1, Cause::Ended));
        closed.push(201, Cause::ResetByPeer(Code::CANCEL));
        let causes = [1, 3, 199, 201, 203].map(|id| closed.cause(id));
        let (ours, ended, peers) = (Some(Cause::ResetByUs), Some(Cause::Ended), Some(Cause::ResetByPeer(Code::CANCEL)));
        assert_eq!(causes, [ours, None, ended, peers, None]);
        (200..200 + OURS_MIN as u32).for_each(|number| closed.push(2 * number + 1, Cause::Faulty));
        assert_eq!((closed.cause(1), closed.cause(401)), (None, ours));
    }
}
