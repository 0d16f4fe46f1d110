use std::time::Duration;

use leat_policy::retry::{Backoff, Budget, Conditions, Jitter, Retry};

use super::policies::{read_statuses, settled};
use crate::config::policies::Retries;
use crate::config::table::{Key, Kind, Open, Section};

const TIME: Kind = Kind::Time { min_ms: 1, max_ms: 86_400_000, off: false };
const STATUSES: Kind = Kind::List { of: &Kind::Text { what: "a status", example: "503" }, one: true };

pub(super) static RETRY: Section = Section::new(
    "retry",
    "the `retry` section",
    "What is tried again. What surely did not reach the endpoint, or was not processed there, is with any method; what broke or was answered with one of `statuses`, only where doing it twice is the same as doing it once (GET, HEAD, OPTIONS, TRACE, PUT, DELETE). Nothing is once a byte of the response has been passed on.",
    &[
        Key::default("retries_max", Kind::Number { min: 0, max: 10 }, "2", "Tries of one request after the first.")
            .aka(&["attempts", "num_retries", "tries", "count"]),
        Key::default("statuses", STATUSES, "[502, 503, 504]", "Statuses that are tried again where the method allows.")
            .aka(&["retry_on", "status_codes"]),
        Key::default(
            "statuses_any_method",
            STATUSES,
            "[429]",
            "Statuses that say that nothing was done: tried again with any method.",
        ),
        Key::default(
            "timeouts",
            Kind::Flag,
            "false",
            "Also where no response came in time: a slow upstream then gets its load twice.",
        ),
        Key::default(
            "try_time",
            Kind::Time { min_ms: 1, max_ms: 86_400_000, off: true },
            "off",
            "How long one try may take to the response's head, connecting included; `timeouts` says whether another follows.",
        )
        .aka(&["per_try_timeout", "try_timeout"]),
        Key::default(
            "backoff",
            TIME,
            "25ms",
            "The wait before the first retry is random and below this; each further one may be twice as long.",
        )
        .aka(&["backoff_base", "base_interval"]),
        Key::default("backoff_max", TIME, "1s", "The longest wait.").aka(&["max_interval"]),
        Key::default(
            "retry_after_max",
            Kind::Time { min_ms: 0, max_ms: 86_400_000, off: false },
            "1s",
            "The longest `Retry-After` that is waited for; a longer one goes to the client.",
        ),
        Key::default(
            "budget_percent",
            Kind::Number { min: 0, max: 100 },
            "20",
            "Retries of all requests of the upstream, of all cores: at most this part of the requests,",
        )
        .aka(&["budget"]),
        Key::default("budget_per_second", Kind::Number { min: 0, max: 100_000 }, "10", "and so many a second,"),
        Key::default(
            "budget_burst",
            Kind::Number { min: 1, max: 16_000 },
            "100",
            "of which so many may come at once.",
        ),
        Key::default(
            "body_bytes_max",
            Kind::Size { min: 0, max: 16 << 20 },
            "64KiB",
            "How much of a request's body is kept to be sent again; one that is longer is sent once.",
        )
        .aka(&["buffer", "body_max"]),
    ],
);

pub(super) fn read_retry(open: &Open<'_>) -> Option<Retries> {
    let retries_max = open.number("retries_max");
    let idempotent = read_statuses(open, "statuses");
    let any = read_statuses(open, "statuses_any_method");
    let timeouts = open.flag("timeouts");
    let try_time_ms = open.time("try_time");
    let time = |name: &str| open.time(name).map(Duration::from_millis);
    let (base, longest, retry_after_max) = (time("backoff"), time("backoff_max"), time("retry_after_max"));
    let percent = open.number("budget_percent");
    let (per_second, burst) = (open.number("budget_per_second"), open.number("budget_burst"));
    let body_bytes_max = usize::try_from(open.size("body_bytes_max")).unwrap_or(usize::MAX);
    let conditions = Conditions::default().with_statuses(&idempotent?, &any?);
    let conditions = settled(open, conditions)?.with_failures(true, true, timeouts);
    let backoff = settled(open, Backoff::new(base?, longest?, Jitter::Full))?;
    let policy = settled(open, Retry::new(retries_max? as u32, backoff, retry_after_max?, conditions))?;
    let budget = settled(open, Budget::new(percent? as f64 / 100.0, per_second? as u32, burst? as u32))?;
    Some(Retries { policy, budget, try_time_ms, body_bytes_max })
}
