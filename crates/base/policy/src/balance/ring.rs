use super::ENDPOINTS_MAX;
use crate::SettingsError;
use crate::random::mix;

/// Consistent hashing on a ring: a key belongs to the next point on it, and every endpoint has points in proportion
/// to its weight. When an endpoint comes or goes, only keys that it gets or had are moved.
///
/// Karger et al., "Consistent Hashing and Random Trees", STOC 1997. 16 bytes a point; a look-up is a binary search. With 100
/// points an endpoint the shares differ by about a tenth from the weights: [`super::Maglev`] is more even and faster, and
/// moves a few keys more.
#[derive(Clone, Debug)]
pub struct Ring {
    points: Box<[(u64, u32)]>,
    endpoints: usize,
}

impl Ring {
    /// The most points of a ring.
    pub const POINTS_MAX: u64 = 1 << 20;

    /// A ring of endpoints, each with the hash of its name (see [`super::hash`]) and its weight; the points of each are
    /// its weight times `points_per_weight`. The order of endpoints does not matter for where keys go.
    ///
    /// # Errors
    /// No endpoint or more than [`ENDPOINTS_MAX`]; a zero weight; no points, or more than [`Ring::POINTS_MAX`].
    pub fn new(endpoints: &[(u64, u32)], points_per_weight: u32) -> Result<Self, SettingsError> {
        if endpoints.is_empty() {
            return Err(SettingsError::Empty { name: "endpoints" });
        }
        if endpoints.len() > ENDPOINTS_MAX {
            return Err(SettingsError::TooLarge { name: "endpoints", max: ENDPOINTS_MAX as u64 });
        }
        if points_per_weight == 0 || endpoints.iter().any(|(_, weight)| *weight == 0) {
            let name = if points_per_weight == 0 { "points_per_weight" } else { "weight" };
            return Err(SettingsError::Zero { name });
        }
        let count = |weight: u32| u64::from(weight) * u64::from(points_per_weight);
        let sum = endpoints.iter().fold(0_u64, |sum, (_, weight)| sum.saturating_add(count(*weight)));
        if sum > Self::POINTS_MAX {
            return Err(SettingsError::TooLarge { name: "points", max: Self::POINTS_MAX });
        }
        // Names decide where two points are the same, so that the order of the list does not.
        let mut points: Vec<(u64, u64, u32)> = Vec::with_capacity(sum as usize);
        for (index, &(name, weight)) in endpoints.iter().enumerate() {
            points.extend((1..=count(weight)).map(|number| (mix(name ^ mix(number)), name, index as u32)));
        }
        points.sort_unstable();
        let points = points.into_iter().map(|(at, _, index)| (at, index)).collect();
        Ok(Self { points, endpoints: endpoints.len() })
    }

    /// The endpoint of a key's hash, or the next on the ring that is usable; `None` if none is.
    #[must_use]
    pub fn pick(&self, key: u64, usable: impl Fn(usize) -> bool) -> Option<usize> {
        let from = self.points.partition_point(|(at, _)| *at < key);
        let (before, behind) = self.points.split_at(from);
        let mut walk = behind.iter().chain(before).map(|(_, index)| *index as usize);
        let first = walk.next()?;
        if usable(first) {
            return Some(first);
        }
        // No walk around the whole ring where nothing can be found.
        (0..self.endpoints).any(&usable).then(|| walk.find(|index| usable(*index))).flatten()
    }
}
