use super::ENDPOINTS_MAX;
use crate::{Random, SettingsError};

/// The endpoints of one priority: the same zone, the same region, everywhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Those that can be used; more than all count as all.
    pub healthy: u32,
    /// All.
    pub all: u32,
}

/// Which tier gets a request: the first as long as enough of it is healthy, then the part that it can't carry goes to the
/// next, and so on. Where all together can't carry everything, each gets its part of what they can.
///
/// A tier carries `min(100 %, healthy / all × overprovision)`: as Envoy's priority levels, whose factor is 1.4. In
/// percent, rounded down as there, but not to nothing where one endpoint is healthy; what rounding leaves goes to the first tier that is healthy at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Priorities {
    shares: Box<[u32]>,
}

impl Priorities {
    /// The shares for this health; compute anew when health changes. `overprovision` is in percent, such as 140.
    ///
    /// # Errors
    /// No tier or more than [`ENDPOINTS_MAX`]; an overprovision below 100 or above 10,000.
    pub fn new(tiers: &[Tier], overprovision: u32) -> Result<Self, SettingsError> {
        if tiers.is_empty() {
            return Err(SettingsError::Empty { name: "tiers" });
        }
        if tiers.len() > ENDPOINTS_MAX {
            return Err(SettingsError::TooLarge { name: "tiers", max: ENDPOINTS_MAX as u64 });
        }
        if overprovision < 100 {
            return Err(SettingsError::TooSmall { name: "overprovision", min: 100 });
        }
        if overprovision > 10_000 {
            return Err(SettingsError::TooLarge { name: "overprovision", max: 10_000 });
        }
        let carries = |tier: &Tier| match tier.all {
            0 => 0,
            _ if tier.healthy == 0 => 0,
            all => (u64::from(overprovision) * u64::from(tier.healthy.min(all)) / u64::from(all)).clamp(1, 100) as u32,
        };
        let carried: Vec<u32> = tiers.iter().map(carries).collect();
        let total = carried.iter().map(|part| u64::from(*part)).sum::<u64>().min(100) as u32;
        let mut left = if total == 0 { 0 } else { 100 };
        let mut shares: Vec<u32> = carried
            .iter()
            .map(|part| {
                let share = (part * 100).checked_div(total).unwrap_or(0).min(left);
                left -= share;
                share
            })
            .collect();
        if let Some(first) = shares.iter_mut().find(|share| **share > 0) {
            *first += left;
        }
        Ok(Self { shares: shares.into_boxed_slice() })
    }

    /// The percentage of each tier; all zero if nothing is healthy.
    #[must_use]
    pub fn shares(&self) -> &[u32] {
        &self.shares
    }

    /// The tier of a request; `None` if nothing is healthy, where the caller chooses to refuse or to try what it has. One draw,
    /// none if a tier has everything.
    pub fn pick(&self, random: &mut impl Random) -> Option<usize> {
        if let Some(sole) = self.shares.iter().position(|share| *share == 100) {
            return Some(sole);
        }
        self.shares.iter().find(|share| **share > 0)?;
        let mut at = random.below(100);
        self.shares.iter().position(|share| {
            let is_here = at < *share;
            at = at.saturating_sub(*share);
            is_here
        })
    }
}
