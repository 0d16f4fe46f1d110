//! W3C Trace Context: what a caller says of its trace, what is passed on, and whether a trace that begins here is recorded.
//! Level 1 (the Recommendation of 2021), with level 2's flag for random ids. Pure: randomness is an argument.

mod sampler;
mod traceparent;
mod tracestate;

pub use sampler::Sampler;
pub use traceparent::{TRACEPARENT_BYTES, hex, parse_traceparent, write_traceparent};
pub use tracestate::{TRACESTATE_BYTES_MAX, TRACESTATE_MEMBERS_MAX, is_tracestate};

use leat_message::{Fields, Name, Trace};

/// The field that tells the rest of a trace; its other one has an id ([`Name::Traceparent`]).
pub const TRACESTATE: &[u8] = b"tracestate";

/// The trace that a caller's fields put this exchange into, with `span` as its own span; `None` where there is no
/// `traceparent`, more than one, or one that is malformed: then a new trace begins, and `tracestate` is dropped
/// (section 4.3). No allocation.
pub fn continued(fields: Fields<'_>, span: u64) -> Option<Trace> {
    let mut values = fields.get_all(Name::Traceparent);
    let (value, None) = (values.next()?, values.next()) else { return None };
    let parent = parse_traceparent(value)?;
    let states =
        || fields.iter().filter(|(_, name, _)| name.eq_ignore_ascii_case(TRACESTATE)).map(|(_, _, value)| value);
    Some(Trace { span, keeps_state: is_tracestate(states()), ..parent })
}

/// A trace that begins here. `bits` and `span` are random; zeros, which no id may be, are made ones.
pub fn begun(bits: [u64; 2], span: u64, sampler: Sampler) -> Trace {
    let id = [bits[0], bits[1].max(1)];
    Trace { id, parent: 0, span: span.max(1), sampled: sampler.takes(id), random: true, keeps_state: false }
}
