//! The static table (RFC 7541, appendix A).

use super::hash;

/// What index 1 and on mean; an index below 62 is of this table.
pub(super) const LEN: usize = 61;
/// A power of two, with room to spare: a name is found at once or nearly.
const SLOTS: usize = 256;

/// A name and a value; names that stand alone have an empty value.
#[rustfmt::skip]
static FIELDS: [(&str, &str); LEN] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
    (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
    (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
    ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
    ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""),
    ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""),
    ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""),
    ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""),
    ("www-authenticate", ""),
];

/// By a name's hash: the first index that has it, 0 for none; what collides stands in the next slot.
static FIRST_BY_NAME: [u8; SLOTS] = first_by_name();

const fn first_by_name() -> [u8; SLOTS] {
    let mut slots = [0; SLOTS];
    let (mut at, mut last_hash) = (0, 0);
    while at < LEN {
        let hash = hash::of_name(FIELDS[at].0.as_bytes());
        // Fields of one name stand together: the first of them is enough.
        if hash != last_hash {
            let mut slot = hash as usize % SLOTS;
            while slots[slot] != 0 {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = at as u8 + 1;
        }
        last_hash = hash;
        at += 1;
    }
    slots
}

/// The field of an index from 1 to [`LEN`].
#[inline]
pub(super) fn get(index: usize) -> Option<(&'static [u8], &'static [u8])> {
    let (name, value) = FIELDS.get(index.wrapping_sub(1))?;
    Some((name.as_bytes(), value.as_bytes()))
}

/// The first index with this name, in any case, whose hash is `hash`.
pub(super) fn index_of_name(name: &[u8], hash: u64) -> Option<usize> {
    let mut slot = hash as usize % SLOTS;
    loop {
        let index = usize::from(*FIRST_BY_NAME.get(slot)?);
        if hash::is_lower_of(get(index)?.0, name) {
            return Some(index);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// The index of this name with this value, where the name is first at `index`.
pub(super) fn index_of_field(index: usize, value: &[u8]) -> Option<usize> {
    let (name, _) = get(index)?;
    let same_name = (index..=LEN).map_while(|index| Some(index).zip(get(index).filter(|field| field.0 == name)));
    same_name.filter(|(_, field)| field.1 == value && !value.is_empty()).map(|(index, _)| index).next()
}
