use std::time::Duration;

use super::{Decision, Gcra, Next};
use crate::time::nanos;
use crate::{Instant, SettingsError};

/// The longest life of a lease.
const TERM_MAX: Duration = Duration::from_millis(500);
/// The shortest one that is worth asking for: a few round trips.
const TERM_MIN: Duration = Duration::from_millis(20);
/// A lease lives for at most this part of the time in which the whole burst comes back.
const TERMS_A_BURST: u64 = 4;
/// One lease is at most this part of what the server lends out: others come too.
const LEASES_A_BURST: u64 = 4;

/// A limit that several holders share by leases: a server lends units out, a holder spends them without asking.
///
/// **Bound.** All requests that the holders admit in any time T cost at most `burst + rate × T`, as if one had counted them
/// all. A unit is debited at the server when it is lent and may be spent until one `term` later, so what is spent in
/// T was lent in `term + T`, which is at most the server's burst `+ rate × (term + T)`. The server's burst is lower
/// than the limit's by the reserve, which is what comes in one term, rounded up. It holds as long as the server
/// loses no debit, and its clock runs no faster than the holders'.
///
/// **Error.** Leases admit less than one counter would, by what is lent and not spent: the reserve, and the unspent units of
/// each lease until the rate has brought them again. Nothing else: a holder without units asks before it refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leasing {
    law: Gcra,
    term: Duration,
    reserve: u64,
    size_max: u64,
}

/// What the server answers to a holder that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// So many units, to be spent within a term from when they were asked for.
    Lent(u64),
    /// Not even what is needed now.
    Refused {
        /// After what time to ask again; `None` for never.
        retry_after: Option<Duration>,
    },
}

impl Leasing {
    /// The terms under which `limit` is lent out.
    ///
    /// # Errors
    /// A burst that comes back so fast that a lease would have to end at once, or that the reserve would use up.
    pub fn new(limit: &Gcra) -> Result<Self, SettingsError> {
        let interval_ns = limit.interval_ns();
        let burst_ns = limit.burst() * interval_ns;
        let term_ns = (burst_ns / TERMS_A_BURST).min(nanos(TERM_MAX));
        let reserve = term_ns.div_ceil(interval_ns);
        let least_ns = nanos(TERM_MIN) * TERMS_A_BURST;
        if burst_ns < least_ns || reserve >= limit.burst() {
            return Err(SettingsError::TooSmall { name: "burst", min: least_ns.div_ceil(interval_ns).max(2) });
        }
        let law = Gcra::new(limit.quota(), limit.per(), limit.burst() - reserve)?;
        let size_max = (law.burst() / LEASES_A_BURST).max(1);
        Ok(Self { law, term: Duration::from_nanos(term_ns), reserve, size_max })
    }

    /// What the server counts by: the limit's rate, and its burst without the reserve.
    #[must_use]
    pub const fn law(&self) -> &Gcra {
        &self.law
    }

    /// How long a lease may be spent, from when it was asked for.
    #[must_use]
    pub const fn term(&self) -> Duration {
        self.term
    }

    /// Units of the burst that are never lent out at once.
    #[must_use]
    pub const fn reserve(&self) -> u64 {
        self.reserve
    }

    /// What the server makes of a holder that needs `need` units now and would like to have `want`: half of what it
    /// has at most, unless more is needed. Returns its state after that.
    #[must_use]
    pub fn grant(&self, state: u64, now: Instant, need: u64, want: u64) -> (Grant, u64) {
        let left = self.law.next(state, now, 0).verdict.remaining;
        let units = want.min(left / 2).max(need);
        if units == 0 {
            return (Grant::Lent(0), state);
        }
        let Next { verdict, state } = self.law.next(state, now, units);
        match verdict.decision {
            Decision::Admit => (Grant::Lent(units), state),
            Decision::Refuse { retry_after } => (Grant::Refused { retry_after }, state),
        }
    }
}

/// The units that a holder has of one key, and how much it will ask for.
///
/// Not shared: its owner locks it for a few nanoseconds. At first it asks for what it needs, as if there were no leases; a
/// key that is asked for often gets leases for about half a term's demand, which are asked for again before they are used up.
#[derive(Clone, Debug, Default)]
pub struct Lease {
    /// Two, so that the next one can come while there is something left. In no order.
    held: [Held; 2],
    /// Units of the lease that came last.
    size: u64,
    /// Units spent, and since when.
    spent: u64,
    since: Instant,
    /// When the last question went out that was not answered yet.
    asked: Option<Instant>,
    /// When the units of leases that ended unspent will have come again.
    wasted: Instant,
    /// Until when the server has refused a request of this cost, or a dearer one.
    refused: Option<(u64, Option<Instant>)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    left: u64,
    until: Instant,
}

impl Held {
    /// When units that nobody spent in time will have come again, behind others of which that is known.
    fn come_again(self, others: Instant, law: &Gcra) -> Instant {
        if self.left == 0 {
            return others;
        }
        others.max(self.until).after(Duration::from_nanos(self.left.saturating_mul(law.interval_ns())))
    }
}

/// What a holder makes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It may pass: its cost is spent from the lease that ends then.
    Admit {
        /// For [`Lease::give_back`].
        until: Instant,
    },
    /// The server has refused its like a moment ago.
    Refuse {
        /// After what time it would be asked again; `None` for never.
        retry_after: Option<Duration>,
    },
    /// The server must be asked: see [`Lease::ask`].
    Ask,
}

impl Lease {
    /// Takes `cost` from the lease that ends first.
    pub fn take(&mut self, now: Instant, cost: u64) -> Taken {
        let fits = self.held.iter_mut().filter(|held| held.until > now && held.left >= cost);
        if let Some(held) = fits.min_by_key(|held| held.until) {
            held.left -= cost;
            self.spent = self.spent.saturating_add(cost);
            return Taken::Admit { until: held.until };
        }
        match self.refused {
            Some((refused, None)) if cost >= refused => Taken::Refuse { retry_after: None },
            Some((refused, Some(until))) if cost >= refused && until > now => {
                Taken::Refuse { retry_after: Some(until.since(now)) }
            }
            _ => Taken::Ask,
        }
    }

    /// Whether the next lease should be asked for although there is something left: half of the last one is spent, or
    /// most of its time is over. Never while an answer is awaited, and never for a key that is seldom asked for.
    #[must_use]
    pub fn runs_out(&self, terms: &Leasing, now: Instant) -> bool {
        let awaited = self.asked.is_some_and(|asked| now < asked.after(terms.term));
        let late = now.after(terms.term / 4);
        let lasting = self.held.iter().filter(|held| held.until > late).map(|held| held.left).sum::<u64>();
        self.size > 1 && self.spent > 0 && !awaited && lasting <= self.size / 2
    }

    /// Notes that the server is asked now for a request of cost `need` (0 for none), and says how much to want: half a term's
    /// demand, as it was since the last question.
    pub fn ask(&mut self, terms: &Leasing, now: Instant, need: u64) -> u64 {
        // A short time says little: what is wanted at most doubles from one question to the next.
        let elapsed = now.since(self.since).max(terms.term / 4);
        let spent = u128::from(self.spent.saturating_add(need));
        let demand = spent * terms.term.as_nanos() / 2 / elapsed.as_nanos().max(1);
        self.asked = Some(now);
        (self.spent, self.since) = (0, now);
        u64::try_from(demand).unwrap_or(u64::MAX).min(terms.size_max).max(need)
    }

    /// The server has lent `units` beyond what was needed, which were asked for at `asked`.
    pub fn granted(&mut self, terms: &Leasing, asked: Instant, units: u64) {
        let until = asked.after(terms.term);
        self.asked = None;
        self.refused = None;
        self.size = units;
        let (one, two) = match &mut self.held {
            [one, two] if one.until <= two.until => (one, two),
            [one, two] => (two, one),
        };
        if one.left == 0 || one.until <= asked {
            self.wasted = one.come_again(self.wasted, &terms.law);
            *one = Held { left: units, until };
        } else if two.left == 0 {
            *two = Held { left: units, until };
        } else {
            // Both still have something: as if it were lent when the older one was.
            one.left = one.left.saturating_add(units);
        }
    }

    /// The server has refused a request of cost `need` that it was asked about at `asked`.
    pub fn refused(&mut self, asked: Instant, need: u64, retry_after: Option<Duration>) {
        self.asked = None;
        if need > 0 {
            self.refused = Some((need, retry_after.map(|time| asked.after(time))));
        }
    }

    /// There was no answer.
    pub fn failed(&mut self) {
        self.asked = None;
    }

    /// Gives the cost of a request back that was not admitted after all. Lost if its lease is gone.
    pub fn give_back(&mut self, until: Instant, cost: u64) {
        if let Some(held) = self.held.iter_mut().find(|held| held.until == until) {
            held.left = held.left.saturating_add(cost);
        }
    }

    /// By how many units less than one counter could admit now, on account of this holder: those that it could still spend,
    /// and those of ended leases that the rate has not brought again. The reserve comes besides.
    #[must_use]
    pub fn error(&self, terms: &Leasing, now: Instant) -> u64 {
        let ended = self.held.iter().filter(|held| held.until <= now);
        let again = ended.fold(self.wasted, |again, held| held.come_again(again, &terms.law));
        let wasted_ns = u64::try_from(again.since(now).as_nanos()).unwrap_or(u64::MAX);
        self.left(now).saturating_add(wasted_ns.div_ceil(terms.law.interval_ns()))
    }

    /// Units that can still be spent.
    #[must_use]
    pub fn left(&self, now: Instant) -> u64 {
        self.held.iter().filter(|held| held.until > now).map(|held| held.left).sum()
    }
}

#[cfg(test)]
#[path = "lease_tests.rs"]
mod tests;
