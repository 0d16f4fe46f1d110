/// Which endpoints a request was sent to before. Endpoints whose numbers are 64 apart count as one: a retry then spares
/// a few more than it had to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tried(u64);

impl Tried {
    pub(crate) fn add(&mut self, at: usize) {
        self.0 |= 1 << (at % 64);
    }

    pub(crate) fn has(self, at: usize) -> bool {
        self.0 >> (at % 64) & 1 == 1
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}
