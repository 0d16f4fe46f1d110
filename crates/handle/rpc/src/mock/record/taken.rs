use bytes::Bytes;

/// Messages of one call that are recorded, both ways together; a longer call is passed on and not recorded.
const MESSAGES_MAX: usize = 10_000;
/// The same in bytes.
const RECORDED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The messages of a call that is passed on, until there are too many of them: from then on nothing is kept.
#[derive(Debug, Default)]
pub(super) struct Taken {
    requests: Vec<Bytes>,
    answers: Vec<(Bytes, u64)>,
    bytes: usize,
    is_over: bool,
}

/// The client's messages, and the backend's with the milliseconds before each.
type Both = (Vec<Bytes>, Vec<(Bytes, u64)>);

impl Taken {
    /// Keeps a copy of a message of the client.
    pub(super) fn asked(&mut self, message: &[u8]) {
        if self.has_room(message.len()) {
            self.requests.push(Bytes::copy_from_slice(message));
        }
    }

    /// Keeps a message of the backend, which came so many milliseconds after what was before it.
    pub(super) fn answered(&mut self, message: Vec<u8>, after_ms: u64) {
        if self.has_room(message.len()) {
            self.answers.push((message.into(), after_ms));
        }
    }

    /// All of them; `None` where there were too many.
    pub(super) fn all(self) -> Option<Both> {
        (!self.is_over).then_some((self.requests, self.answers))
    }

    fn has_room(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        let count = self.requests.len() + self.answers.len();
        if !self.is_over && (self.bytes > RECORDED_BYTES_MAX || count >= MESSAGES_MAX) {
            *self = Self { is_over: true, ..Self::default() };
        }
        !self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_too_long_leaves_nothing() {
        for (count, bytes, is_kept) in [
            (0, 0, true),
            (10_000, 0, true),
            (10_001, 0, false),
            (16, 1024 * 1024, true),
            (17, 1024 * 1024, false),
            (1, 17 * 1024 * 1024, false),
        ] {
            let mut taken = Taken::default();
            for number in 0..count {
                let message = vec![0; bytes];
                if number % 2 == 0 { taken.asked(&message) } else { taken.answered(message, 1) }
            }
            if !is_kept {
                assert_eq!((taken.requests.capacity(), taken.answers.capacity()), (0, 0), "{count} of {bytes}");
                taken.asked(b"later");
                assert!(taken.requests.is_empty());
            }
            let found = taken.all().map(|(requests, answers)| requests.len() + answers.len());
            assert_eq!(found, is_kept.then_some(count), "{count} of {bytes}");
        }
    }
}
