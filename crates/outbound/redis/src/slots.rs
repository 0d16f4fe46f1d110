use crate::Target;

/// Slots that a cluster's masters share (<https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/>).
pub(crate) const SLOTS: usize = 16_384;

/// The slot of a key: CRC16 of what stands between its first `{` and the next `}`, or of all of it where that is nothing.
#[must_use]
pub fn slot(key: &[u8]) -> u16 {
    let open = key.iter().position(|byte| *byte == b'{');
    let tag = open.and_then(|open| {
        let rest = key.get(open + 1..)?;
        let close = rest.iter().position(|byte| *byte == b'}')?;
        rest.get(..close).filter(|tag| !tag.is_empty())
    });
    crc16(tag.unwrap_or(key)) % SLOTS as u16
}

/// CRC-16/XMODEM: polynomial 0x1021, nothing reflected, starting at zero.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| (crc << 8) ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

const TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// Which master has which slots, as a cluster said at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlotMap {
    masters: Vec<Target>,
    /// By slot: the place of its master above, or [`NOBODY`].
    of: Box<[u16]>,
}

const NOBODY: u16 = u16::MAX;

impl SlotMap {
    pub(crate) fn new() -> Self {
        Self { masters: Vec::new(), of: vec![NOBODY; SLOTS].into() }
    }

    /// Gives these slots to a master.
    pub(crate) fn give(&mut self, slots: std::ops::RangeInclusive<usize>, master: Target) {
        let place = self.masters.iter().position(|known| *known == master).unwrap_or_else(|| {
            self.masters.push(master);
            self.masters.len() - 1
        });
        if let Some(slots) = self.of.get_mut(slots) {
            slots.fill(u16::try_from(place).unwrap_or(NOBODY));
        }
    }

    pub(crate) fn masters(&self) -> &[Target] {
        &self.masters
    }

    /// The place of a slot's master among [`SlotMap::masters`].
    pub(crate) fn master(&self, slot: u16) -> Option<usize> {
        self.of.get(usize::from(slot)).map(|place| usize::from(*place)).filter(|place| *place < self.masters.len())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn slots_are_those_of_the_specification() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        for (key, same) in [
            ("{user1000}.following", "user1000"),
            ("foo{{bar}}zap", "{bar"),
            ("foo{bar}{zap}", "bar"),
            ("foo{}{bar}", "foo{}{bar}"),
            ("foo{bar", "foo{bar"),
        ] {
            assert_eq!(slot(key.as_bytes()), crc16(same.as_bytes()) % SLOTS as u16, "{key}");
        }
        // As `CLUSTER KEYSLOT` answers.
        assert_eq!((slot(b"foo"), slot(b"bar"), slot(b"hello"), slot(b"")), (12_182, 5_061, 866, 0));
    }

    #[test]
    fn a_slot_has_the_master_that_it_was_given_last_or_none() {
        let target = |port| Target::Tcp("h".to_owned(), port);
        let mut map = SlotMap::new();
        map.give(0..=9, target(1));
        map.give(10..=SLOTS - 1, target(2));
        map.give(5..=5, target(2));
        assert_eq!(map.masters(), [target(1), target(2)]);
        assert_eq!([0, 5, 9, 10].map(|slot| map.master(slot)), [Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!((SlotMap::new().master(3), map.master(16_384)), (None, None));
        // Nonsense changes nothing.
        map.give(16_384..=16_384, target(3));
        assert_eq!(map.master(16_383), Some(1));
    }
}
