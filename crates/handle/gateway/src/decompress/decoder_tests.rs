use std::io::Write;

use brotli::SliceWrapper;

use super::*;

const CODINGS: [RequestCoding; 4] =
    [RequestCoding::Gzip, RequestCoding::Deflate, RequestCoding::Br, RequestCoding::Zstd];

fn encode(coding: RequestCoding, bytes: &[u8]) -> Vec<u8> {
    let best = flate2::Compression::best();
    match coding {
        RequestCoding::Gzip => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), best);
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        }
        RequestCoding::Deflate => {
            let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), best);
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        }
        RequestCoding::Br => brotli_in(bytes, 22),
        RequestCoding::Zstd => zstd_in(bytes, 0),
    }
}

fn brotli_in(bytes: &[u8], window_bits: u32) -> Vec<u8> {
    let mut writer = brotli::CompressorWriter::new(Vec::new(), 4096, 5, window_bits);
    writer.write_all(bytes).unwrap();
    writer.into_inner()
}

/// A stream, so that the window is not that of the content; 0 bits for the level's own.
fn zstd_in(bytes: &[u8], window_bits: u32) -> Vec<u8> {
    let mut writer = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    if window_bits > 0 {
        writer.window_log(window_bits).unwrap();
    }
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// Everything that comes out of `coded`, in steps of these sizes; whether it is whole.
fn decode(coding: RequestCoding, coded: &[u8], step: usize, room: usize) -> Result<(Vec<u8>, bool), Reason> {
    let mut decoder = Decoder::new(coding)?;
    let (mut all, mut out, mut rest) = (Vec::new(), vec![0; room], coded);
    loop {
        let moved = decoder.step(&rest[..rest.len().min(step)], &mut out)?;
        all.extend_from_slice(&out[..moved.made]);
        rest = &rest[moved.taken..];
        if rest.is_empty() && moved.made < room {
            return Ok((all, decoder.is_whole()));
        }
    }
}

fn text(count: usize) -> Vec<u8> {
    (0..count).map(|at| ((at * at) >> 7) as u8 & 0x1f).collect()
}

#[test]
fn what_was_coded_comes_back_in_steps_of_any_size() {
    for coding in CODINGS {
        for count in [0, 1, 1_000, 300_000] {
            let plain = text(count);
            let coded = encode(coding, &plain);
            for (step, room) in [(1, 1), (7, 4_096), (usize::MAX, 16_384)] {
                let (found, is_whole) = decode(coding, &coded, step, room).unwrap();
                assert!(found == plain && is_whole, "{coding:?} {count} {step} {room}: {}", found.len());
            }
        }
    }
}

#[test]
fn a_body_that_is_cut_off_is_never_whole() {
    for coding in CODINGS {
        let coded = encode(coding, &text(5_000));
        for end in (0..coded.len()).step_by(97).chain([coded.len() - 1]) {
            let (_, is_whole) = decode(coding, &coded[..end], usize::MAX, 16_384).unwrap();
            assert!(!is_whole, "{coding:?} {end} of {}", coded.len());
        }
    }
}

#[test]
fn nothing_may_follow_the_end() {
    for coding in CODINGS {
        for tail in [&b"\0"[..], b"x", b"garbage behind it", &[0; 64]] {
            let mut coded = encode(coding, &text(1_000));
            coded.extend_from_slice(tail);
            // One byte may be how another member begins: that is cut off then.
            let found = decode(coding, &coded, usize::MAX, 16_384);
            let refused = matches!(found, Err(Reason::CodingInvalid)) || matches!(found, Ok((_, false)));
            assert!(refused, "{coding:?} {tail:?}");
        }
    }
}

#[test]
fn gzip_has_members_and_zstd_has_frames() {
    for (coding, goes_on) in [
        (RequestCoding::Gzip, true),
        (RequestCoding::Zstd, true),
        (RequestCoding::Deflate, false),
        (RequestCoding::Br, false),
    ] {
        let coded = [encode(coding, b"one "), encode(coding, b""), encode(coding, b"two")].concat();
        for step in [1, usize::MAX] {
            let found = decode(coding, &coded, step, 16);
            match goes_on {
                true => assert_eq!(found, Ok((b"one two".to_vec(), true)), "{coding:?}"),
                false => assert_eq!(found, Err(Reason::CodingInvalid), "{coding:?}"),
            }
        }
    }
    let empty = encode(RequestCoding::Gzip, b"");
    for (members, fits) in [(MEMBERS_MAX, true), (MEMBERS_MAX + 1, false)] {
        let found = decode(RequestCoding::Gzip, &empty.repeat(members as usize), usize::MAX, 16);
        assert_eq!(found.is_ok(), fits, "{members}");
    }
}

#[test]
fn a_changed_byte_gives_no_panic_and_no_other_content_unnoticed() {
    for coding in [RequestCoding::Gzip, RequestCoding::Deflate] {
        let plain = text(2_000);
        let coded = encode(coding, &plain);
        for at in 0..coded.len() {
            let mut changed = coded.clone();
            changed[at] ^= 0x10;
            if let Ok((found, true)) = decode(coding, &changed, usize::MAX, 16_384) {
                // Bytes of the head that say nothing of the content.
                assert!(found == plain, "{coding:?} {at}");
            }
        }
    }
    for coding in CODINGS {
        for start in 0..=255u8 {
            let noise: Vec<u8> = (0..300u32).map(|at| (at * 167 + u32::from(start) * 31) as u8 ^ start).collect();
            let _ = decode(coding, &noise, usize::MAX, 1_024);
        }
    }
}

#[test]
fn windows_have_a_limit() {
    let plain = text(100_000);
    for (bits, fits) in [(20, true), (23, true), (24, false), (27, false)] {
        let found = decode(RequestCoding::Zstd, &zstd_in(&plain, bits), usize::MAX, 16_384);
        match fits {
            true => assert!(found.is_ok_and(|(found, is_whole)| found == plain && is_whole), "zstd {bits}"),
            false => assert_eq!(found.map(|_| ()), Err(Reason::CodingWindow), "zstd {bits}"),
        }
    }
    for (bits, fits) in [(18, true), (22, true), (24, false)] {
        let found = decode(RequestCoding::Br, &brotli_in(&plain, bits), usize::MAX, 16_384);
        match fits {
            true => assert!(found.is_ok_and(|(found, is_whole)| found == plain && is_whole), "br {bits}"),
            false => assert_eq!(found.map(|_| ()), Err(Reason::CodingWindow), "br {bits}"),
        }
    }
    // The mark of Brotli's large windows, which RFC 7932 does not know.
    assert_eq!(decode(RequestCoding::Br, &[0x11, 30, 0, 0, 0], usize::MAX, 16).map(|_| ()), Err(Reason::CodingInvalid));
}

#[test]
fn the_decoders_of_a_core_hold_no_more_than_they_may() {
    let begun = |coding: RequestCoding, coded: &[u8]| {
        let mut decoder = Decoder::new(coding)?;
        decoder.step(&coded[..coded.len() / 2], &mut [0; 1_024])?;
        Ok::<_, Reason>(decoder)
    };
    let plain = text(12_000_000);
    for (coding, coded) in [
        (RequestCoding::Zstd, zstd_in(&plain, 23)),
        (RequestCoding::Br, brotli_in(&plain, 23)),
        (RequestCoding::Gzip, encode(RequestCoding::Gzip, b"hello")),
    ] {
        let mut open = Vec::new();
        let refused = loop {
            match begun(coding, &coded) {
                Ok(decoder) => open.push(decoder),
                Err(reason) => break reason,
            }
            assert!(open.len() < 2_000, "{coding:?}");
        };
        assert_eq!(refused, Reason::CodingBusy, "{coding:?}");
        let each = CORE_BYTES_MAX / open.len();
        assert!(each >= if coding == RequestCoding::Gzip { INFLATE_BYTES } else { 8 << 20 }, "{coding:?} {each}");
        drop(open);
        assert_eq!(CORE_BYTES.get(), 0, "{coding:?}: all is given back");
        assert!(begun(coding, &coded).is_ok());
    }
}

/// The start of a Brotli stream (RFC 7932 section 9.2) with the smallest common window, 64 KiB, and `trees` prefix codes each for
/// literals and for distances; it ends before the first of them.
fn brotli_with_trees(trees: u32) -> Vec<u8> {
    let mut bits = Vec::new();
    let mut put = |value: u32, count: u32| bits.extend((0..count).map(|at| (value >> at) as u8 & 1));
    // The window; not the last block; 65,536 bytes, compressed; one type of block each for literals, commands and distances.
    for (value, count) in [(0, 1), (0, 1), (0, 2), (0xffff, 16), (0, 1), (0, 3)] {
        put(value, count);
    }
    // Distances without extra bits; one context mode.
    for (value, count) in [(0, 2), (0, 4), (0, 2)] {
        put(value, count);
    }
    for _ in 0..2 {
        // How many trees: one more than a power of two, and the rest.
        let power = (trees - 1).ilog2();
        let symbol_bits = 32 - (trees - 1).leading_zeros();
        put(1, 1);
        put(power, 3);
        put(trees - 1 - (1 << power), power);
        // A map without runs, by a code of one symbol: all contexts have the first tree.
        for (value, count) in [(0, 1), (1, 2), (0, 2), (0, symbol_bits), (0, 1)] {
            put(value, count);
        }
    }
    bits.chunks(8).map(|byte| byte.iter().enumerate().fold(0, |all, (at, bit)| all | bit << at)).collect()
}

#[test]
fn the_trees_that_a_brotli_stream_announces_count_as_memory() {
    for trees in [2, 17, 256] {
        let coded = brotli_with_trees(trees);
        let mut decoder = Decoder::new(RequestCoding::Br).unwrap();
        decoder.step(&coded, &mut [0; 16]).unwrap();
        let State::Br(state) = &decoder.state else { panic!("it is Brotli") };
        let groups = [&state.literal_hgroup, &state.insert_copy_hgroup, &state.distance_hgroup];
        let entries: usize = groups.into_iter().map(|group| group.codes.slice().len()).sum();
        let tables = entries * size_of::<HuffmanCode>();
        assert!(tables > 2 * trees as usize * 1_024, "{trees}: the stream is read up to its trees");
        assert!(decoder.held.0.bytes() >= tables, "{trees}: {} of {tables} bytes", decoder.held.0.bytes());
    }
    // Each takes two megabytes for sixty bytes.
    let coded = brotli_with_trees(256);
    let mut open = Vec::new();
    let refused = loop {
        let mut decoder = Decoder::new(RequestCoding::Br).unwrap();
        match decoder.step(&coded, &mut [0; 16]) {
            Ok(_) => open.push(decoder),
            Err(reason) => break reason,
        }
        assert!(open.len() < CORE_BYTES_MAX / (2 << 20));
    };
    assert_eq!(refused, Reason::CodingBusy);
}
