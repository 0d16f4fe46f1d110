//! Straight from one form to the other, without a tree between them: for messages as serializers write them. What is written
//! otherwise (fields twice or in pieces, numbers as `1e3`, odd escapes) and all that is wrong is [`Irregular`], and left to
//! the tree, whose errors are also the ones that people see. So this only has to be right where it says `Ok`.

/// Left to the tree.
#[derive(Debug)]
pub(super) struct Irregular;

/// What the quick way gives.
pub(super) type Quick<T> = Result<T, Irregular>;

/// Messages inside messages that the quick way follows.
pub(super) const DEPTH_MAX: u32 = 64;

/// Which fields of a message were met, and which of its oneofs: a second time is irregular, and so are fields behind the
/// 128th and oneofs behind the 64th.
#[derive(Default)]
pub(super) struct Met {
    fields: u128,
    oneofs: u64,
}

impl Met {
    #[inline]
    pub(super) fn field(&mut self, at: u16) -> Quick<()> {
        let bit = 1u128.checked_shl(u32::from(at)).filter(|bit| self.fields & bit == 0).ok_or(Irregular)?;
        self.fields |= bit;
        Ok(())
    }

    #[inline]
    pub(super) fn oneof(&mut self, at: Option<u16>) -> Quick<()> {
        let Some(at) = at else { return Ok(()) };
        let bit = 1u64.checked_shl(u32::from(at)).filter(|bit| self.oneofs & bit == 0).ok_or(Irregular)?;
        self.oneofs |= bit;
        Ok(())
    }
}
