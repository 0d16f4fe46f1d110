use super::ENDPOINTS_MAX;
use crate::SettingsError;

/// Round robin by weight, where no endpoint gets its share in a row: of weights 5, 1, 1 the first gets
/// `a a b a c a a`, not `a a a a a b c`.
///
/// nginx's smooth weighted round robin (commit 52327e0, 2012): each choice adds every endpoint's weight to its balance,
/// takes the one with the highest (the first such), and subtracts the sum of the weights from it. Over any run of choices as long
/// as that sum, each gets exactly its weight. A choice looks at every endpoint.
#[derive(Clone, Debug)]
pub struct Weighted {
    balances: Box<[i64]>,
}

impl Weighted {
    /// For so many endpoints.
    ///
    /// # Errors
    /// None, or more than [`ENDPOINTS_MAX`].
    pub fn new(count: usize) -> Result<Self, SettingsError> {
        match count {
            0 => Err(SettingsError::Empty { name: "endpoints" }),
            1..=ENDPOINTS_MAX => Ok(Self { balances: vec![0; count].into_boxed_slice() }),
            _ => Err(SettingsError::TooLarge { name: "endpoints", max: ENDPOINTS_MAX as u64 }),
        }
    }

    /// The next endpoint by the weights of this moment, of which 0 is one that can't be used; `None` if all are. Weights
    /// may change between choices; an endpoint that comes back starts from a balance of zero.
    pub fn pick(&mut self, weight: impl Fn(usize) -> u32) -> Option<usize> {
        let mut sum = 0_i64;
        let mut best: Option<(usize, i64)> = None;
        for (index, balance) in self.balances.iter_mut().enumerate() {
            let weight = i64::from(weight(index));
            if weight == 0 {
                *balance = 0;
                continue;
            }
            *balance = balance.saturating_add(weight);
            sum += weight;
            if best.is_none_or(|(_, highest)| *balance > highest) {
                best = Some((index, *balance));
            }
        }
        let (index, _) = best?;
        if let Some(balance) = self.balances.get_mut(index) {
            *balance = balance.saturating_sub(sum);
        }
        Some(index)
    }
}
