use leat_message::Trace;

/// The length of the field's value in version 00, the only one there is.
pub const TRACEPARENT_BYTES: usize = 55;

const SAMPLED: u8 = 1;
/// Level 2: the trace id is random.
const RANDOM: u8 = 2;

/// Reads a `traceparent`: `version-traceid-parentid-flags`, lower-case hexadecimal. `None` where it is malformed, its
/// version is `ff`, or an id is all zeros (sections 3.2.2 and 4.3). Of a later version that begins in the same way the ids
/// and the sampled flag are taken (section 3.2.4). The span is the caller's to put in.
pub fn parse_traceparent(value: &[u8]) -> Option<Trace> {
    let (fixed, rest) = value.split_at_checked(TRACEPARENT_BYTES)?;
    let [v1, v0, b'-', id @ .., b'-', f1, f0] = fixed else { return None };
    let (id, [b'-', parent @ ..]) = id.split_at_checked(32)? else { return None };
    let (high, low) = id.split_at_checked(16)?;
    let (version, flags) = (number(&[*v1, *v0])?, number(&[*f1, *f0])? as u8);
    let id = [number(high)?, number(low)?];
    let parent = number(parent)?;
    let is_known = version == 0;
    let is_right = match version {
        0 => rest.is_empty(),
        0xff => false,
        _ => rest.is_empty() || rest.starts_with(b"-"),
    };
    (is_right && id != [0, 0] && parent != 0).then_some(Trace {
        id,
        parent,
        span: 0,
        sampled: flags & SAMPLED != 0,
        random: is_known && flags & RANDOM != 0,
        keeps_state: false,
    })
}

/// A `traceparent` of version 00 that names `span` as the parent.
pub fn write_traceparent(trace: &Trace, span: u64) -> [u8; TRACEPARENT_BYTES] {
    let mut out = *b"00-00000000000000000000000000000000-0000000000000000-00";
    let flags = (u8::from(trace.sampled) * SAMPLED) | (u8::from(trace.random) * RANDOM);
    let [high, low] = trace.id;
    for (at, number) in [(3, high), (19, low), (36, span)] {
        if let Some(place) = out.get_mut(at..at + 16) {
            place.copy_from_slice(&hex(number));
        }
    }
    if let Some(last) = out.last_mut() {
        *last = b'0' + flags;
    }
    out
}

/// Sixteen hexadecimal digits. All at once, since every proxied request needs several of them: the nibbles are spread over the
/// bytes of a word, and those above 9 are moved to the letters.
pub fn hex(number: u64) -> [u8; 16] {
    let spread = |half: u64| {
        let mut word = half;
        word = (word | word << 16) & 0x0000_ffff_0000_ffff;
        word = (word | word << 8) & 0x00ff_00ff_00ff_00ff;
        word = (word | word << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        let letters = (word + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
        (word + 0x3030_3030_3030_3030 + letters * 39).to_be_bytes()
    };
    let mut out = [0; 16];
    let (first, second) = out.split_at_mut(8);
    first.copy_from_slice(&spread(number >> 32));
    second.copy_from_slice(&spread(number & 0xffff_ffff));
    out
}

/// A number of at most sixteen lower-case hexadecimal digits.
fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |number, &digit| {
        let nibble = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u64::from(nibble))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_standard_library() {
        for number in [0, 1, 9, 10, 15, 16, 0xdead_beef_0123_4567, 0x8000_0000_0000_000a, u64::MAX] {
            assert_eq!(String::from_utf8_lossy(&hex(number)), format!("{number:016x}"));
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for (sampled, random) in [(false, false), (true, false), (false, true), (true, true)] {
            let trace = Trace { id: [1, u64::MAX], parent: 7, span: 9, sampled, random, keeps_state: false };
            let read = parse_traceparent(&write_traceparent(&trace, 7));
            assert_eq!(read, Some(Trace { span: 0, ..trace }));
        }
    }
}
