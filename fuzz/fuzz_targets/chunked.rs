//! Chunked bodies: see ../README.md.
#![no_main]

use leat_fuzz::{control, prefixes};
use leat_h1::{BodyDecoder, Decoded, DecoderLimits, Length, Limits, Profile, Reason};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((control, bytes)) = control(data) else { return };
    let profile = if control & 1 == 0 { Profile::Compatible } else { Profile::Strict };
    let limits = match control & 2 {
        0 => DecoderLimits::new(&Limits::default(), profile),
        _ => DecoderLimits {
            body_bytes_max: 100,
            trailer_bytes_max: 60,
            chunk_extension_bytes_max: 10,
            fields_max: 3,
            profile,
        },
    };
    let at_once = decode(limits, bytes, [bytes.len()].into_iter(), usize::MAX);
    let in_pieces = decode(limits, bytes, prefixes(control, bytes.len()), 1 + usize::from(control & 0x1c));
    assert_eq!(at_once, in_pieces);
});

/// What became of the input: the data that came out before the end or the refusal.
#[derive(Debug, PartialEq)]
struct Outcome {
    data: Vec<u8>,
    /// Bytes of the input that belong to the body; `None` if it goes on.
    end: Option<usize>,
    trailers: Vec<(Vec<u8>, Vec<u8>)>,
}

fn decode(
    limits: DecoderLimits,
    bytes: &[u8],
    arrivals: impl Iterator<Item = usize>,
    take_max: usize,
) -> Result<Outcome, Reason> {
    let mut decoder = BodyDecoder::new(Length::Stream, limits);
    let mut data = Vec::new();
    let mut at = 0;
    for arrived in arrivals {
        loop {
            match decoder.decode(&bytes[at..arrived])? {
                Decoded::Data { skip, data: lent } => {
                    assert!(lent > 0 && at + skip + lent <= arrived);
                    let taken = lent.min(take_max);
                    data.extend_from_slice(&bytes[at + skip..at + skip + taken]);
                    decoder.consumed(taken);
                    at += skip + taken;
                    assert!(data.len() as u64 <= limits.body_bytes_max);
                }
                Decoded::More { skip } => {
                    at += skip;
                    assert_eq!(at, arrived);
                    break;
                }
                Decoded::End { skip } => {
                    at += skip;
                    assert!(at <= arrived && decoder.is_done());
                    let trailers = decoder.trailers().into_iter().flatten();
                    let trailers = trailers.map(|(_, name, value)| (name.to_vec(), value.to_vec())).collect();
                    return Ok(Outcome { data, end: Some(at), trailers });
                }
            }
        }
    }
    assert!(!decoder.is_done() && decoder.clone().end_of_input() == Err(Reason::BodyCutOff));
    Ok(Outcome { data, end: None, trailers: Vec::new() })
}
