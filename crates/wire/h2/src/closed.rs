/// Streams that we reset last and still know of: as many as a client may have open, since frames for them may be under way.
const OURS: usize = 128;
/// Other streams that were closed last. Frames for them are the client's error; they only tell which one.
const OTHERS: usize = 16;

/// How a stream came to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Both sides ended it.
    #[default]
    Ended,
    /// The client reset it, or the connection broke.
    ResetByPeer,
    /// We reset it: the client may not know yet.
    ResetByUs,
}

/// The streams that were closed last.
#[derive(Debug)]
pub(crate) struct Closed {
    ours: [u32; OURS],
    next_ours: usize,
    others: [(u32, Cause); OTHERS],
    next_other: usize,
}

impl Closed {
    pub(crate) fn new() -> Self {
        Self { ours: [0; OURS], next_ours: 0, others: [(0, Cause::Ended); OTHERS], next_other: 0 }
    }

    pub(crate) fn push(&mut self, id: u32, cause: Cause) {
        if cause == Cause::ResetByUs {
            if let Some(entry) = self.ours.get_mut(self.next_ours) {
                *entry = id;
            }
            self.next_ours = (self.next_ours + 1) % OURS;
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
        let mut closed = Closed::new();
        closed.push(1, Cause::ResetByUs);
        (1..100).for_each(|number| closed.push(2 * number + 1, Cause::Ended));
        closed.push(201, Cause::ResetByPeer);
        let causes = [1, 3, 199, 201, 203].map(|id| closed.cause(id));
        let (ours, ended, peers) = (Some(Cause::ResetByUs), Some(Cause::Ended), Some(Cause::ResetByPeer));
        assert_eq!(causes, [ours, None, ended, peers, None]);
        (200..200 + OURS as u32).for_each(|number| closed.push(2 * number + 1, Cause::ResetByUs));
        assert_eq!((closed.cause(1), closed.cause(401)), (None, ours));
    }
}
