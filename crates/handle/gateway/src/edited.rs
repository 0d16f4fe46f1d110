use leat_message::{Exchange, Layer, Length, Reply};

use crate::admit::FieldLines;
use crate::proxy::Edits;

/// A reply whose fields are changed on their way, as the route's `response_headers` say, with those of its checks behind
/// them. Costs a comparison a field.
pub(crate) struct Edited<'a, R> {
    inner: &'a mut R,
    edits: &'a Edits,
    added: Option<&'a FieldLines>,
}

impl<'a, R> Edited<'a, R> {
    pub(crate) fn new(inner: &'a mut R, edits: &'a Edits, added: Option<&'a FieldLines>) -> Self {
        Self { inner, edits, added }
    }
}

impl<R: Reply> Layer for Edited<'_, R> {
    type Inner = R;

    fn inner(&self) -> &R {
        self.inner
    }

    fn inner_mut(&mut self) -> &mut R {
        self.inner
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        if !self.edits.takes_out(name) {
            self.inner.field(name, value);
        }
    }

    fn length(&mut self, length: Length) {
        self.edits.write(self.inner);
        if let Some(added) = self.added {
            added.iter().for_each(|(name, value)| self.inner.field(name, value));
        }
        self.inner.length(length);
    }

    fn verbatim(&mut self, status: u16, head: &[u8])
    where
        R: Exchange,
    {
        self.inner.verbatim(status, &self.edits.apply(head));
    }
}
