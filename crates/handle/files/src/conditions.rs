use leat_message::{Fields, Method, Name};

use crate::validators::{Comparison, Validators, parse_date};

/// What the conditions of a request ask for (RFC 9110 section 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The representation, or the ranges of it that the request names.
    SendRanges,
    /// All of the representation.
    SendAll,
    /// 304: the client has it.
    NotModified,
    /// 412: the client's assumption does not hold.
    PreconditionFailed,
}

/// Evaluates the conditions in the order of RFC 9110 section 13.2.2. `method` is GET or HEAD.
pub(crate) fn evaluate(method: Method, fields: Fields<'_>, validators: &Validators) -> Verdict {
    let listed =
        |name, comparison| fields.get(name).is_some().then(|| validators.is_listed(fields.get_all(name), comparison));
    let is_kept = match listed(Name::IfMatch, Comparison::Strong) {
        Some(is_listed) => is_listed,
        None => !is_modified_since(fields, Name::IfUnmodifiedSince, validators).unwrap_or(false),
    };
    if !is_kept {
        return Verdict::PreconditionFailed;
    }
    let is_new = match listed(Name::IfNoneMatch, Comparison::Weak) {
        Some(is_listed) => !is_listed,
        None => is_modified_since(fields, Name::IfModifiedSince, validators).unwrap_or(true),
    };
    if !is_new {
        return Verdict::NotModified;
    }
    // Range is defined for GET alone (section 14.2), and is not a list over several lines.
    if method != Method::Get || fields.get_all(Name::Range).count() != 1 {
        return Verdict::SendAll;
    }
    match fields.get(Name::IfRange) {
        Some(value) if !validators.fits_range(value) => Verdict::SendAll,
        _ => Verdict::SendRanges,
    }
}

/// Whether the file changed after the date in a field; `None` where there is no such field, no valid date in it, more
/// than one of them, or no date for the file.
fn is_modified_since(fields: Fields<'_>, name: Name, validators: &Validators) -> Option<bool> {
    let mut values = fields.get_all(name);
    let date = parse_date(values.next()?)?;
    match values.next() {
        None => Some(validators.modified_s? > date),
        Some(_) => None,
    }
}
