//! The table-driven decoder beside one that reads bit by bit, from the codes that RFC 7541, section 5.2 describes.

use std::collections::HashMap;

use super::*;
use crate::hpack::huffman::{LENGTHS, decode};

const EOS: usize = 256;

/// Codes by their length and value, made as the canonical code is: upwards by length, then by symbol.
fn codes() -> HashMap<(u32, u32), usize> {
    let mut order: Vec<usize> = (0..LENGTHS.len()).collect();
    order.sort_by_key(|&symbol| (LENGTHS[symbol], symbol));
    let (mut code, mut bits) = (0, u32::from(LENGTHS[order[0]]));
    let mut codes = HashMap::new();
    for symbol in order {
        code <<= u32::from(LENGTHS[symbol]) - bits;
        bits = u32::from(LENGTHS[symbol]);
        codes.insert((bits, code), symbol);
        code += 1;
    }
    codes
}

fn encode(codes: &HashMap<(u32, u32), usize>, text: &[u8]) -> Vec<u8> {
    let by_symbol: HashMap<usize, (u32, u32)> = codes.iter().map(|(&code, &symbol)| (symbol, code)).collect();
    let mut bits = Vec::new();
    for byte in text {
        let (len, code) = by_symbol[&usize::from(*byte)];
        bits.extend((0..len).rev().map(|at| code >> at & 1 == 1));
    }
    bits.chunks(8).map(|byte| (0..8).fold(0, |sum, at| sum << 1 | u8::from(*byte.get(at).unwrap_or(&true)))).collect()
}

fn slow(codes: &HashMap<(u32, u32), usize>, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let (mut out, mut code, mut len) = (Vec::new(), 0, 0);
    for bit in bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| u32::from(byte >> at & 1))) {
        code = code << 1 | bit;
        len += 1;
        match codes.get(&(len, code)) {
            Some(&EOS) => return Err(DecodeError::Huffman),
            Some(&symbol) => {
                out.push(symbol as u8);
                (code, len) = (0, 0);
            }
            None => {}
        }
    }
    if len <= 7 && code == (1 << len) - 1 { Ok(out) } else { Err(DecodeError::Huffman) }
}

fn fast(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut out = b"kept".to_vec();
    let result = decode(bytes, &mut out);
    assert!(out.starts_with(b"kept"));
    result.map(|()| out[4..].to_vec())
}

#[test]
fn codes_are_those_of_appendix_b() {
    let codes = codes();
    let listed = [
        (0, 0x1ff8, 13),
        (usize::from(b' '), 0x14, 6),
        (usize::from(b'0'), 0, 5),
        (usize::from(b'a'), 0x3, 5),
        (usize::from(b'X'), 0xfc, 8),
        (usize::from(b'{'), 0x7ffe, 15),
        (128, 0xf_ffe6, 20),
        (10, 0x3fff_fffc, 30),
        (255, 0x3ff_ffee, 26),
        (EOS, 0x3fff_ffff, 30),
    ];
    for (symbol, code, len) in listed {
        assert_eq!(codes.get(&(len, code)), Some(&symbol));
    }
}

#[test]
fn every_symbol_comes_back_from_every_place_in_a_byte() {
    let codes = codes();
    for symbol in 0..=255 {
        // '0' has five bits: eight of them go through all places.
        for before in 0..8 {
            for after in [0, 1, 9] {
                let text = [vec![b'0'; before], vec![symbol], vec![b'z'; after]].concat();
                assert_eq!(fast(&encode(&codes, &text)).as_ref(), Ok(&text));
            }
        }
    }
}

#[test]
fn random_text_comes_back() {
    let (codes, mut random) = (codes(), Random(1));
    for _ in 0..2_000 {
        let len = random.below(100);
        let text = if random.below(2) == 0 {
            random.bytes(len)
        } else {
            (0..len).map(|_| b' ' + random.below(95) as u8).collect()
        };
        assert_eq!(fast(&encode(&codes, &text)), Ok(text));
    }
}

#[test]
fn random_bytes_mean_the_same_as_read_bit_by_bit() {
    let (codes, mut random) = (codes(), Random(2));
    let mut good = 0;
    for _ in 0..50_000 {
        let len = random.below(24);
        // Long codes begin with many ones, which random bytes seldom do.
        let ones = random.below(8);
        let mut bytes = random.bytes(len);
        bytes.iter_mut().filter(|byte| usize::from(**byte) % 8 < ones).for_each(|byte| *byte |= 0xf8);
        let expected = slow(&codes, &bytes);
        good += usize::from(expected.is_ok());
        assert_eq!(fast(&bytes), expected, "{bytes:02x?}");
    }
    assert!((5_000..45_000).contains(&good), "{good} of 50,000 are right: the test sees one side only");
}

#[test]
fn end_of_string_and_wrong_padding_are_refused() {
    for (bytes, why) in [
        ("ff", "eight bits of padding"),
        ("07 ff", "eleven bits of padding"),
        ("00", "padding of zeros"),
        ("1e", "padding of 110"),
        ("ffff fffc", "EOS"),
        ("ffff ffff", "EOS and padding"),
        ("ffff ffff ffff ffff ffff ff", "EOS twice"),
        ("1fff ffff ff", "EOS after a letter"),
        ("ff fe", "half of a long code"),
    ] {
        assert_eq!(fast(&hex(bytes)), Err(DecodeError::Huffman), "{why}");
    }
    for (bytes, text) in [("", ""), ("1f", "a"), ("07", "0")] {
        assert_eq!(fast(&hex(bytes)), Ok(text.as_bytes().to_vec()), "{bytes}");
    }
}
