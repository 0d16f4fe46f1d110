use leat_policy::SettingsError;

use super::balance::read_balance;
use super::breaker::read_breaker;
use super::concurrency::read_concurrency;
use super::health::read_health;
use super::hedge::read_hedge;
use super::outliers::read_outliers;
use super::retry::read_retry;
use crate::config::policies::Policies;
use crate::config::table::{Key, Kind, Open};

pub(super) const FAILURE_STATUSES: Key = Key::default(
    "failure_statuses",
    Kind::List { of: &Kind::Text { what: "a status", example: "503" }, one: true },
    "[500, 502, 503, 504]",
    "Statuses that `outliers` and `breaker` count as failures of the endpoint.",
);

/// Reads what decides about a request to an upstream.
pub(super) fn read_policies(open: &Open<'_>) -> Option<Policies> {
    let balance = read_balance(&open.section("balance"));
    let outliers = open.section_if("outliers").map(|section| read_outliers(&section));
    let breaker = open.section_if("breaker").map(|section| read_breaker(&section));
    let retries = open.section_if("retry").map(|section| read_retry(&section));
    let health = open.section_if("health").map(|section| read_health(&section));
    let concurrency = open.section_if("concurrency").map(|section| read_concurrency(&section));
    let hedge = open.section_if("hedge").map(|section| read_hedge(&section));
    let failure_statuses = read_statuses(open, "failure_statuses");
    if let (Some(place), None, None, None) = (open.place_of("failure_statuses"), &outliers, &breaker, &hedge) {
        open.reader.warn(
            place,
            "`failure_statuses` does nothing: there are neither `outliers` nor a `breaker`",
            "add `outliers: {}`, or remove it",
        );
    }
    // The inner `None` was reported where it was read.
    let whole = |is_wrong: bool| (!is_wrong).then_some(());
    whole(matches!(outliers, Some(None)) || matches!(breaker, Some(None)))?;
    whole(matches!(retries, Some(None)) || matches!(health, Some(None)))?;
    whole(matches!(concurrency, Some(None)) || matches!(hedge, Some(None)))?;
    if let (Some(place), None) = (open.place_of("hedge"), &retries) {
        open.reader.problem_help(
            place,
            "`hedge` needs `retry`, whose budget pays for it and which keeps the body",
            "add `retry: {}`, or remove it",
        );
        return None;
    }
    let (balance, slow_start_ms) = balance?;
    Some(Policies {
        balance,
        slow_start_ms,
        outliers: outliers.flatten(),
        breaker: breaker.flatten(),
        retries: retries.flatten(),
        health: health.flatten(),
        concurrency: concurrency.flatten(),
        hedge: hedge.flatten(),
        failure_statuses: failure_statuses?,
    })
}

/// Statuses of errors, 400 to 599.
pub(super) fn read_statuses(open: &Open<'_>, name: &str) -> Option<Vec<u16>> {
    let read = |text: crate::config::table::Text<'_>| match text.value.parse() {
        Ok(status) if (400..=599).contains(&status) && text.value.len() == 3 => Some(status),
        _ => {
            open.reader.problem_help(
                text.place,
                format!("`{name}` takes statuses from 400 to 599, found `{}`", text.value.escape_debug()),
                format!("write for example `{name}: [502, 503]`"),
            );
            None
        }
    };
    // All are read, so that each mistake is told.
    let statuses: Vec<Option<u16>> = open.texts(name).into_iter().map(read).collect();
    statuses.into_iter().collect()
}

/// What a policy makes of its settings; reports what they can't be together.
pub(super) fn settled<T>(open: &Open<'_>, made: Result<T, SettingsError>) -> Option<T> {
    let report = |error| match error {
        SettingsError::Above { name, bound } => {
            let (name, bound) = (key(name), key(bound));
            let place = open.place_of(name).or(open.place_of(bound)).unwrap_or(open.place());
            open.reader.problem_help(
                place,
                format!("`{name}` is more than `{bound}`"),
                format!("raise `{bound}`, or lower `{name}`"),
            );
        }
        error => open.reader.problem_help(open.place(), error.to_string(), "write another value"),
    };
    made.map_err(report).ok()
}

/// A policy's name of a setting, as the key that it is written with.
fn key(name: &'static str) -> &'static str {
    match name {
        "base" => "backoff",
        "max" => "backoff_max",
        "limit_min" => "min",
        "limit_max" => "max",
        name => name,
    }
}
