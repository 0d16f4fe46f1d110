//! How long a reply waits: a fixed time, a range, or a distribution by the seed.

use leat_config::table::{Key, Kind, Open, Section, units};

use super::template::{At, Failure, Names, Scope, Template, Uses};
use crate::mock::state::Draws;

/// Longest delay, in milliseconds: an hour. A client gives up before.
const DELAY_MS_MAX: u64 = 3_600_000;

const TIME: Kind = Kind::Time { min_ms: 0, max_ms: DELAY_MS_MAX, off: false };

/// A delay.
#[derive(Debug)]
pub(super) enum Delay {
    Fixed(u64),
    /// Text such as `20ms` in the end.
    Template(Template),
    Range {
        min_ms: u64,
        max_ms: u64,
    },
    Normal {
        mean_ms: u64,
        deviation_ms: u64,
    },
    Exponential {
        mean_ms: u64,
    },
    LogNormal {
        mean_ms: u64,
        deviation_ms: u64,
    },
}

#[derive(Clone, Copy)]
enum Distribution {
    Normal,
    Exponential,
    LogNormal,
}

pub(super) static DELAY: Section = Section::new(
    "delay",
    "a delay",
    "How long to wait: a time such as `20ms`, `{ min, max }`, or `{ mean, deviation, distribution }`. What is random \
     follows from the seed.",
    &[
        Key::optional(
            "fixed",
            Kind::Text { what: "a time such as `20ms`, or a template that makes one", example: "20ms" },
            "Always this long. A delay that is written as one value means this.",
        )
        .aka(&["ms", "time", "duration"]),
        Key::optional("min", TIME, "The shortest delay of a range; all from it to `max` are equally likely."),
        Key::optional("max", TIME, "The longest delay; of a distribution too, whose longer values are cut to it."),
        Key::optional("mean", TIME, "The mean of a distribution."),
        Key::optional("deviation", TIME, "The standard deviation. Without it: a quarter of the mean.")
            .aka(&["stddev", "sigma"]),
        Key::optional(
            "distribution",
            Kind::Choice(&[
                ("normal", "normal, values below zero are zero"),
                ("exponential", "exponential; it has no deviation of its own"),
                ("lognormal", "log-normal with this mean and deviation: what latencies look like"),
            ]),
            "The distribution. Without it: `normal`.",
        ),
    ],
)
.shorthand("fixed");

impl Delay {
    /// Reads it. `None`: problems were reported.
    pub(super) fn compile(open: &Open<'_>, names: &Names) -> Option<Bounded> {
        let fixed = open.text("fixed");
        let (min, max) = (open.time("min"), open.time("max"));
        let (mean, deviation) = (open.time("mean"), open.time("deviation"));
        let distribution = open.choice(
            "distribution",
            &[
                ("normal", Distribution::Normal),
                ("exponential", Distribution::Exponential),
                ("lognormal", Distribution::LogNormal),
            ],
        );
        let problem = |message: &str, help: &str| {
            open.reader.problem_help(open.place(), message, help);
            None
        };
        let others = min.is_some() || mean.is_some() || deviation.is_some() || distribution.is_some();
        let delay = match (fixed, min, max, mean) {
            (Some(_), ..) if others || max.is_some() => {
                return problem("`fixed` beside other keys of a delay", "keep `fixed` alone, or leave it out");
            }
            (Some(text), ..) if names.is_template(text.value) => {
                let at = At::new(open.reader, text.place, text.value, false);
                Self::Template(Template::compile(text.value, names, &at)?)
            }
            (Some(text), ..) => match units::time_ms(text.value).filter(|&ms| ms <= DELAY_MS_MAX) {
                Some(ms) => Self::Fixed(ms),
                None => {
                    let message = format!("`{}` is no delay", leat_config::table::shorten(text.value));
                    let help = "write a time with its unit, at most an hour, such as `20ms`, `1s` or `2m`";
                    open.reader.problem_help(text.place, message, help);
                    return None;
                }
            },
            (None, Some(_), _, Some(_)) => {
                return problem("`min` beside `mean` in a delay", "write `{ min, max }` or `{ mean, deviation, max }`");
            }
            (None, Some(min_ms), Some(max_ms), None) if min_ms <= max_ms => Self::Range { min_ms, max_ms },
            (None, Some(_), Some(_), None) => return problem("`min` is above `max`", "swap them"),
            (None, None, Some(max_ms), None) => Self::Range { min_ms: 0, max_ms },
            (None, None, _, Some(mean_ms)) => {
                let deviation_ms = deviation.unwrap_or(mean_ms / 4);
                match distribution.unwrap_or(Distribution::Normal) {
                    Distribution::Normal => Self::Normal { mean_ms, deviation_ms },
                    Distribution::LogNormal => Self::LogNormal { mean_ms, deviation_ms },
                    Distribution::Exponential => Self::Exponential { mean_ms },
                }
            }
            (None, Some(_), None, None) => return problem("`max` is missing in a delay", "add `max: 50ms`"),
            (None, None, None, None) => {
                return problem("a delay without a time", "write `20ms`, `{ min, max }` or `{ mean, deviation }`");
            }
        };
        Some(Bounded { delay, max_ms: max.unwrap_or(DELAY_MS_MAX) })
    }
}

/// A delay and its upper bound.
#[derive(Debug)]
pub(super) struct Bounded {
    delay: Delay,
    max_ms: u64,
}

impl Bounded {
    /// No wait at all.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.delay, Delay::Fixed(0))
    }

    pub(super) fn uses(&self) -> Uses {
        match &self.delay {
            Delay::Fixed(_) => Uses::NONE,
            Delay::Template(template) => template.uses(),
            _ => Uses::DRAWS,
        }
    }

    /// The delay of one call, in milliseconds, if it takes no template.
    pub(super) fn drawn_ms(&self, draws: &mut Draws) -> Option<u64> {
        let ms = match self.delay {
            Delay::Template(_) => return None,
            Delay::Fixed(ms) => ms as f64,
            Delay::Range { min_ms, max_ms } => {
                draws.between(i64::try_from(min_ms).ok()?, i64::try_from(max_ms).ok()?) as f64
            }
            Delay::Normal { mean_ms, deviation_ms } => mean_ms as f64 + normal(draws) * deviation_ms as f64,
            Delay::Exponential { mean_ms } => -(1.0 - draws.fraction()).ln() * mean_ms as f64,
            Delay::LogNormal { mean_ms: 0, .. } => 0.0,
            Delay::LogNormal { mean_ms, deviation_ms } => {
                let (mean, deviation) = (mean_ms as f64, deviation_ms as f64);
                let variance = (1.0 + (deviation / mean).powi(2)).ln();
                (mean.ln() - variance / 2.0 + normal(draws) * variance.sqrt()).exp()
            }
        };
        // A cast from a float saturates.
        Some((ms.round().max(0.0) as u64).min(self.max_ms))
    }

    /// The delay of one call, in milliseconds.
    pub(super) fn made_ms<'f>(&'f self, scope: &'f Scope<'f>) -> Result<u64, Failure> {
        let Delay::Template(template) = &self.delay else {
            return Ok(self.drawn_ms(&mut scope.draws().borrow_mut()).unwrap_or_default());
        };
        let text = template.text(scope)?;
        let ms = units::time_ms(text.trim()).filter(|&ms| ms <= DELAY_MS_MAX);
        ms.ok_or_else(|| Failure(format!("`{}` is no delay, such as `20ms`", leat_config::table::shorten(&text))))
    }
}

/// A number of the standard normal distribution (Box and Muller).
fn normal(draws: &mut Draws) -> f64 {
    let (one, two) = (1.0 - draws.fraction(), draws.fraction());
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos()
}
