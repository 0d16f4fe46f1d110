//! gRPC-Web's text form: see ../README.md.
#![no_main]

use leat_fuzz::{control, prefixes};
use leat_rpc_wire::grpc_web::text::{Decoder, TextError, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((control, bytes)) = control(data) else { return };
    assert_eq!(decode(bytes, [bytes.len()].into_iter()), decode(bytes, prefixes(control, bytes.len())));
    let mut text = Vec::new();
    let mut at = 0;
    for end in prefixes(control, bytes.len()) {
        encode(&bytes[at..end], &mut text);
        at = end;
    }
    assert_eq!(decode(&text, [text.len()].into_iter()), Ok((bytes.to_vec(), true)));
});

fn decode(text: &[u8], arrivals: impl Iterator<Item = usize>) -> Result<(Vec<u8>, bool), TextError> {
    let (mut decoder, mut out, mut at) = (Decoder::default(), Vec::new(), 0);
    for arrived in arrivals {
        decoder.decode(&text[at..arrived], &mut out)?;
        at = arrived;
    }
    Ok((out, decoder.is_complete()))
}
