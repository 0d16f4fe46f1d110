//! Parts of instants and spans.

use crate::cel::function::Function;
use crate::cel::time::zone_offset;
use crate::cel::{Error, Value};

/// `getHours` and its siblings; of an instant in a zone, if one is named.
pub(super) fn part<'a>(function: Function, value: &Value<'a>, zone: Option<&Value<'a>>) -> Result<Value<'a>, Error> {
    let number = match value {
        Value::Duration(span) => {
            let nanos: i128 = match function {
                Function::Hours => 3_600_000_000_000,
                Function::Minutes => 60_000_000_000,
                Function::Seconds => 1_000_000_000,
                Function::Milliseconds => {
                    return Ok(Value::Int(i64::try_from(span.0 % 1_000_000_000 / 1_000_000).unwrap_or_default()));
                }
                _ => return Err(Error::overload("get…", value)),
            };
            i64::try_from(span.0 / nanos).map_err(|_| Error::Overflow)?
        }
        Value::Timestamp(at) => {
            let offset = match zone {
                None => 0,
                Some(Value::String(zone)) => zone_offset(zone).ok_or_else(|| {
                    Error::invalid(format!(
                        "the zone '{}' is not known; write UTC or an offset such as +02:00",
                        &**zone
                    ))
                })?,
                Some(other) => return Err(Error::overload("get…", other)),
            };
            let civil = at.civil(offset);
            match function {
                Function::FullYear => civil.year,
                Function::Month => civil.month - 1,
                Function::DayOfYear => civil.day_of_year,
                Function::DayOfMonth => civil.day - 1,
                Function::Date => civil.day,
                Function::DayOfWeek => civil.weekday,
                Function::Hours => civil.hour,
                Function::Minutes => civil.minute,
                Function::Seconds => civil.second,
                _ => civil.nanos / 1_000_000,
            }
        }
        other => return Err(Error::overload("get…", other)),
    };
    Ok(Value::Int(number))
}
