use super::ENDPOINTS_MAX;
use crate::SettingsError;
use crate::random::mix;

/// Primes, each about twice the one before.
const SIZES: [u32; 10] = [1021, 2039, 4093, 8191, 16_381, 32_749, 65_521, 131_071, 262_139, 524_287];
/// Entries an endpoint: then shares differ by about a hundredth.
const ENTRIES_PER_ENDPOINT: usize = 100;

/// Consistent hashing by a table: a key's hash names an entry, the entry an endpoint. Shares are even to about a
/// hundredth; when an endpoint goes, its keys are spread over the others, and of the others' keys few move.
///
/// Eisenbud et al., "Maglev: A Fast and Reliable Software Network Load Balancer", NSDI 2016, section 3.4. Two bytes an
/// entry, one look-up.
#[derive(Clone, Debug)]
pub struct Maglev {
    table: Box<[u16]>,
    endpoints: usize,
}

/// The order in which an endpoint wants the entries of a table of prime size: `offset`, then every `skip`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preference {
    /// The entry that it wants first, below the size.
    pub offset: u32,
    /// From 1 to below the size.
    pub skip: u32,
    /// Its turns beside the others', more than 0.
    pub weight: u32,
}

impl Maglev {
    /// A table of at least 100 entries an endpoint, each of which has the hash of its name (see [`super::hash`]) and its
    /// weight. The order of the list decides who comes first where two want the same entry: sort it by name.
    ///
    /// # Errors
    /// No endpoint or more than [`ENDPOINTS_MAX`]; a zero weight.
    pub fn new(endpoints: &[(u64, u32)]) -> Result<Self, SettingsError> {
        let wanted = endpoints.len().saturating_mul(ENTRIES_PER_ENDPOINT);
        let size = SIZES.into_iter().find(|size| *size as usize >= wanted).unwrap_or(SIZES[SIZES.len() - 1]);
        let preference = |&(name, weight): &(u64, u32)| Preference {
            offset: (mix(name) % u64::from(size)) as u32,
            skip: (mix(!name) % u64::from(size - 1)) as u32 + 1,
            weight,
        };
        Self::of_preferences(size, &endpoints.iter().map(preference).collect::<Vec<_>>())
    }

    /// The table that the endpoints' wishes lead to. In each round every endpoint whose turn it is takes the first entry
    /// of its order that is free; the turns of a weight below the highest come in proportion.
    ///
    /// # Errors
    /// As [`Maglev::new`]; a size that is no prime or above 524,287, more endpoints than entries, an offset or skip beyond the size.
    pub fn of_preferences(size: u32, endpoints: &[Preference]) -> Result<Self, SettingsError> {
        let highest = endpoints.iter().map(|one| one.weight).max().ok_or(SettingsError::Empty { name: "endpoints" })?;
        if endpoints.len() > ENDPOINTS_MAX.min(size as usize) {
            return Err(SettingsError::TooLarge { name: "endpoints", max: ENDPOINTS_MAX.min(size as usize) as u64 });
        }
        if endpoints.iter().any(|one| one.weight == 0) {
            return Err(SettingsError::Zero { name: "weight" });
        }
        if size > SIZES[SIZES.len() - 1] {
            return Err(SettingsError::TooLarge { name: "size", max: u64::from(SIZES[SIZES.len() - 1]) });
        }
        if !is_prime(size) {
            return Err(SettingsError::NotPrime { name: "size" });
        }
        for one in endpoints {
            if one.skip == 0 {
                return Err(SettingsError::Zero { name: "skip" });
            }
            if one.offset >= size || one.skip >= size {
                return Err(SettingsError::Above { name: "offset and skip", bound: "size" });
            }
        }
        Ok(Self { table: filled(size, highest, endpoints), endpoints: endpoints.len() })
    }

    /// The endpoint of a key's hash, or that of the next entry whose is usable; `None` if none is.
    #[must_use]
    pub fn pick(&self, key: u64, usable: impl Fn(usize) -> bool) -> Option<usize> {
        let at = (key % self.table.len().max(1) as u64) as usize;
        let (before, behind) = self.table.split_at(at);
        let mut walk = behind.iter().chain(before).map(|index| usize::from(*index));
        let first = walk.next()?;
        if usable(first) {
            return Some(first);
        }
        (0..self.endpoints).any(&usable).then(|| walk.find(|index| usable(*index))).flatten()
    }

    /// The endpoint of every entry.
    pub fn table(&self) -> impl Iterator<Item = usize> {
        self.table.iter().map(|index| usize::from(*index))
    }
}

/// Ends, since a prime size makes every order visit all entries, and the highest weight has a turn in every round.
fn filled(size: u32, highest: u32, endpoints: &[Preference]) -> Box<[u16]> {
    const FREE: u16 = u16::MAX;
    let mut table = vec![FREE; size as usize];
    // For each endpoint: the next entry in its order, and its part of a turn.
    let mut turns: Vec<(u32, u64)> = endpoints.iter().map(|one| (one.offset, 0)).collect();
    let mut free = size;
    while free > 0 {
        for (index, (one, (next, credit))) in endpoints.iter().zip(&mut turns).enumerate() {
            *credit += u64::from(one.weight);
            if *credit < u64::from(highest) || free == 0 {
                continue;
            }
            *credit -= u64::from(highest);
            loop {
                let at = *next as usize;
                *next = (*next + one.skip) % size;
                if let Some(entry) = table.get_mut(at)
                    && *entry == FREE
                {
                    *entry = index as u16;
                    break;
                }
            }
            free -= 1;
        }
    }
    table.into_boxed_slice()
}

fn is_prime(number: u32) -> bool {
    number > 1 && (2..).take_while(|divisor| divisor * divisor <= number).all(|divisor| !number.is_multiple_of(divisor))
}
