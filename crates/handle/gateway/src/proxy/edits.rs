use leat_message::Reply;

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
