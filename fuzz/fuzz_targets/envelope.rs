//! Envelopes of RPC messages, and what is compressed in them: see ../README.md.
#![no_main]

use leat_fuzz::{control, prefixes};
use leat_rpc_wire::Coding;
use leat_rpc_wire::envelope::{Found, Reader, only};
use libfuzzer_sys::fuzz_target;

const BYTES_MAX: usize = 1000;

fuzz_target!(|data: &[u8]| {
    let Some((control, bytes)) = control(data) else { return };
    let at_once = read(bytes, [bytes.len()].into_iter());
    assert_eq!(at_once, read(bytes, prefixes(control, bytes.len())));
    if let (Some((flags, message)), [(found, content)]) = (only(bytes), &*at_once.0) {
        assert_eq!((flags, message), (*found, &**content));
    }
    let coding = [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd][usize::from(control & 3)];
    let mut out = Vec::new();
    if coding.decompress(bytes, BYTES_MAX, &mut out).is_ok() {
        assert!(out.len() <= BYTES_MAX);
    }
});

/// All envelopes up to the end or to the first that is too large, and whether one was begun.
fn read(bytes: &[u8], arrivals: impl Iterator<Item = usize>) -> (Vec<(u8, Vec<u8>)>, Option<u32>, bool) {
    let (mut reader, mut all, mut at) = (Reader::default(), Vec::new(), 0);
    for arrived in arrivals {
        loop {
            let (used, found) = reader.read(&bytes[at..arrived], BYTES_MAX);
            at += used;
            assert!(at <= arrived);
            match found {
                Found::Whole { flags } => all.push((flags, reader.content().to_vec())),
                Found::TooLarge { bytes } => return (all, Some(bytes), true),
                Found::More => {
                    assert_eq!(at, arrived);
                    break;
                }
            }
        }
    }
    (all, None, reader.is_inside())
}
