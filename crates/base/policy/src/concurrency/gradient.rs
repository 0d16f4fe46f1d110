use std::time::Duration;

use super::Settings;
use crate::Instant;
use crate::time::nanos;

/// The part of the difference by which a window moves what is known of the upstream at ease.
const LEARNS: f64 = 0.1;
/// The least that a window may leave of the limit, before the smoothing.
const GRADIENT_MIN: f64 = 0.5;
/// After so many windows in a row without ease it is measured anew, with as few under way as may be.
const WINDOWS_WITHOUT_EASE_MAX: u32 = 300;

/// A limit of requests under way that follows the upstream's latency: it grows while the upstream is about as fast as at
/// ease, and falls by the part by which it is slower.
///
/// The idea is that of Netflix's `Gradient2Limit` (concurrency-limits, 2018): a short average (one window) against a long
/// one, and an allowance of `sqrt(limit)` requests that may queue, so that the limit can grow at all. There the long
/// average follows the short one whatever the load: under an overload that lasts it learns the overload, and the
/// limit climbs. Here the long one is what the upstream takes *at ease*: it learns from windows in which less than half of the limit
/// was used, and from faster ones. Where no window is at ease for long, the limit goes down to its least for a moment and ease is
/// measured anew, as Envoy's `adaptive_concurrency` does: an upstream may have become slower for other reasons than load.
///
/// **Rest.** Where latency grows with what is under way beyond `c` requests, the limit comes to rest where
/// `limit = tolerance × max(c, min) + sqrt(limit)`.
#[derive(Clone, Debug)]
pub struct Gradient {
    settings: Settings,
    limit: f64,
    ease_ns: Option<f64>,
    phase: Phase,
    window: Window,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The limit follows the latency; so many windows in a row were not at ease.
    Moving { without_ease: u32 },
    /// The limit is at its least, and what was sent before is still being answered.
    Settling,
    /// The limit is at its least, and a window is ease.
    Measuring,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    since: Option<Instant>,
    sum_ns: f64,
    count: u32,
    busiest: u32,
}

impl Gradient {
    /// Begins with the least limit.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let (limit, phase) = (settings.min, Phase::Moving { without_ease: 0 });
        Self { settings, limit, ease_ns: None, phase, window: Window::default() }
    }

    /// How many may be under way; at least 1.
    #[must_use]
    pub fn limit(&self) -> u32 {
        match self.phase {
            Phase::Moving { .. } => self.limit as u32,
            Phase::Settling | Phase::Measuring => self.settings.min as u32,
        }
    }

    /// What the upstream takes at ease; `None` before the first window is over.
    #[must_use]
    pub fn ease(&self) -> Option<Duration> {
        self.ease_ns.map(|ns| Duration::from_nanos(ns as u64))
    }

    /// Takes what a request took that was answered at `now`, or how long one was waited for in vain; `in_flight` are those
    /// under way with it. Requests that failed at once say nothing and are not told. A clock that stepped back
    /// makes the window longer.
    pub fn record(&mut self, now: Instant, took: Duration, in_flight: u32) {
        let window = &mut self.window;
        let since = *window.since.get_or_insert(now);
        window.sum_ns += nanos(took) as f64;
        window.count += 1;
        window.busiest = window.busiest.max(in_flight);
        if window.count >= self.settings.samples_min && nanos(now.since(since)) >= self.settings.window_ns {
            let ended = std::mem::replace(window, Window { since: Some(now), ..Window::default() });
            // A latency of zero would divide by itself.
            self.end_window((ended.sum_ns / f64::from(ended.count)).max(1.0), ended.busiest);
        }
    }

    fn end_window(&mut self, short_ns: f64, busiest: u32) {
        let without_ease = match self.phase {
            Phase::Settling => {
                self.phase = Phase::Measuring;
                return;
            }
            Phase::Measuring => {
                self.ease_ns = Some(short_ns);
                self.phase = Phase::Moving { without_ease: 0 };
                return;
            }
            Phase::Moving { without_ease } => without_ease,
        };
        let is_at_ease = f64::from(busiest) * 2.0 < self.limit || self.limit <= self.settings.min;
        let ease_ns = match self.ease_ns {
            None => short_ns,
            Some(known) if is_at_ease || short_ns < known => known + (short_ns - known) * LEARNS,
            Some(known) => known,
        };
        self.ease_ns = Some(ease_ns);
        self.phase = match without_ease + 1 {
            _ if is_at_ease => Phase::Moving { without_ease: 0 },
            WINDOWS_WITHOUT_EASE_MAX => Phase::Settling,
            without_ease => Phase::Moving { without_ease },
        };
        // A limit that nobody comes near has nothing to learn from.
        if f64::from(busiest) * 2.0 < self.limit {
            return;
        }
        let gradient = (self.settings.tolerance * ease_ns / short_ns).clamp(GRADIENT_MIN, 1.0);
        let wanted = self.limit * gradient + self.limit.sqrt();
        let moved = self.limit + (wanted - self.limit) * self.settings.smoothing;
        self.limit = moved.clamp(self.settings.min, self.settings.max);
    }
}
