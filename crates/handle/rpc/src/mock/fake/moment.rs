//! Timestamps and durations.

use leat_schema::buffa_descriptor::reflect::Value as Proto;
use serde_json::Value;

use super::Draws;
use crate::cel::{Duration, Timestamp};
use crate::mock::noted::timestamp;
use crate::validate::Constraints;

const NANOS: i128 = 1_000_000_000;
/// 2025-01-01T00:00:00Z to the last second of that year, in seconds since 1970: where nothing else is asked for.
const USUAL_S: (i128, i128) = (1_735_689_600, 1_767_225_599);
/// A hundred years, in seconds: later than now for as long as this is used.
const CENTURY_S: i128 = 100 * 365 * 86_400;
/// The range of a `google.protobuf.Timestamp`, in seconds since 1970.
const RANGE_S: (i128, i128) = (-62_135_596_800, 253_402_300_799);

/// A duration in its JSON form.
pub(super) fn duration(rules: &Constraints, draws: &mut Draws) -> Value {
    let (least, most) = range(rules, (1, 3_600));
    Duration(drawn(least, most, draws)).text().into()
}

/// A timestamp in its JSON form.
pub(super) fn instant(rules: &Constraints, draws: &mut Draws) -> Value {
    let (mut least, mut most) = range(rules, USUAL_S);
    let near = rules.near.as_ref().and_then(|near| Some(nanos(near)? / 2));
    if near.is_some() || rules.future.is_some() {
        let Timestamp(now) = timestamp();
        (least, most) = match (near, rules.future) {
            // Half of the way is left for the time until somebody looks.
            (Some(half), Some(true)) => (now + half, now + half),
            (Some(half), _) => (now - half, now - half),
            // The same for every call with the same seed.
            (None, Some(true)) => (least + CENTURY_S * NANOS, most + CENTURY_S * NANOS),
            (None, _) => (least, most),
        };
    }
    let drawn = drawn(least, most, draws).clamp(RANGE_S.0 * NANOS, RANGE_S.1 * NANOS);
    Timestamp(drawn).text().into()
}

/// A timestamp or a duration of a constraint in its JSON form.
pub(super) fn plain(value: &Proto, is_timestamp: bool) -> Option<Value> {
    let nanos = nanos(value)?;
    Some(if is_timestamp { Timestamp(nanos).text() } else { Duration(nanos).text() }.into())
}

/// The range that constraints leave of a usual one, in nanoseconds, both ends included.
fn range(rules: &Constraints, (usual_least, usual_most): (i128, i128)) -> (i128, i128) {
    let end = |end: &Option<(Proto, bool)>, step: i128| {
        end.as_ref().and_then(|(value, included)| Some(nanos(value)? + if *included { 0 } else { step }))
    };
    let width = (usual_most - usual_least) * NANOS;
    match (end(&rules.least, 1), end(&rules.greatest, -1)) {
        (None, None) => (usual_least * NANOS, usual_most * NANOS),
        (Some(least), Some(most)) if least <= most => (least, most),
        // Ends that are the wrong way round exclude what is between them.
        (Some(least), _) => (least, least + width),
        (None, Some(most)) => (if usual_least * NANOS <= most { usual_least * NANOS } else { most - width }, most),
    }
}

/// Whole seconds, if there are some between the two.
fn drawn(least: i128, most: i128, draws: &mut Draws) -> i128 {
    let (first, last) = (-(-least).div_euclid(NANOS), most.div_euclid(NANOS));
    if first <= last {
        return i128::from(draws.between(first as i64, last as i64)) * NANOS;
    }
    least + i128::from(draws.between(0, (most - least) as i64))
}

/// A `google.protobuf.Timestamp` or `Duration` in nanoseconds.
fn nanos(value: &Proto) -> Option<i128> {
    let Proto::Message(message) = value else { return None };
    Some(Duration::of(message).0)
}
