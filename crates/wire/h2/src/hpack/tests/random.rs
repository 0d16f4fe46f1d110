//! What is encoded is decoded as the same, whatever the fields and the sizes of tables.

use super::*;
use crate::hpack::Encoder;

const NAMES: [&str; 8] =
    ["Content-Type", "server", "X-A", "x-b", ":path", "set-cookie", "grpc-status", "x-quite-a-long-name-of-a-field"];

fn field(random: &mut Random) -> Field {
    let name = if random.below(20) == 0 {
        (0..random.below(300)).map(|_| b'a' + random.below(26) as u8).collect()
    } else {
        NAMES[random.below(NAMES.len())].as_bytes().to_vec()
    };
    let value = match random.below(10) {
        0 => random.bytes(40),
        1 => vec![b'v'; random.below(1_500)],
        _ => random.below(6).to_string().into_bytes(),
    };
    let secret = random.below(15) == 0 || name == b"set-cookie";
    (name, value, if secret { Sensitivity::NeverIndexed } else { Sensitivity::Open })
}

#[test]
fn what_is_encoded_comes_back() {
    let mut random = Random(4);
    let (mut blocks, mut indexed) = (0, 0);
    for _ in 0..300 {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4_096));
        for _ in 0..60 {
            for _ in 0..if random.below(30) == 0 { 1 + random.below(3) } else { 0 } {
                let setting = [0, 31, 64, 300, 1_000, 4_096, 100_000][random.below(7)];
                encoder.set_table_bytes_max(setting);
                decoder.set_table_bytes_max(setting);
            }
            let fields: Vec<Field> = (0..random.below(12)).map(|_| field(&mut random)).collect();
            let mut block = Vec::new();
            for (name, value, sensitivity) in &fields {
                match sensitivity {
                    Sensitivity::NeverIndexed if name != b"set-cookie" => encoder.secret(&mut block, name, value),
                    _ => {
                        let before = block.len();
                        encoder.field(&mut block, name, value);
                        indexed += usize::from(block.len() == before + 1);
                    }
                }
            }
            let lowered: Vec<Field> =
                fields.into_iter().map(|(name, value, s)| (name.to_ascii_lowercase(), value, s)).collect();
            assert_eq!(decode(&mut decoder, &block), Ok(lowered));
            blocks += 1;
        }
    }
    assert!(indexed > blocks, "only {indexed} fields of {blocks} blocks went by an index");
}

/// Bytes of which many are right: pieces of fields, sometimes with one byte changed.
fn nearly_right(random: &mut Random) -> Vec<u8> {
    let mut block = Vec::new();
    for _ in 0..random.below(12) {
        match random.below(8) {
            0 => block.push(0x80 | (1 + random.below(63)) as u8),
            1 if block.is_empty() => block.extend([0x3f, 40 + random.below(80) as u8]),
            1 | 2 => block.extend([0x41 + random.below(61) as u8, 2, b'v', b'w']),
            3 => block.extend([0x40, 1, b'n', 0x81, 0x1f]),
            4 => block.extend([random.below(32) as u8, 1, b'v', 0]),
            5 => block.extend([0x40, 0x82, 0xf8, random.next() as u8 | 0x1f, 3, 1, 2, 3]),
            _ => block.extend([0xbe; 3]),
        }
    }
    if random.below(6) == 0 && !block.is_empty() {
        let at = random.below(block.len());
        block[at] = random.next() as u8;
    }
    block
}

#[test]
fn nearly_right_bytes_never_break_a_decoder() {
    let mut random = Random(5);
    let mut seen = [0; 3];
    for _ in 0..20_000 {
        let mut decoder = Decoder::new(150 + random.below(600) as u32);
        decode(&mut decoder, b"\x40\x01a\x01b").unwrap();
        for _ in 0..6 {
            let block = nearly_right(&mut random);
            let mut bytes = 0;
            let result = decoder.decode(&block, 300, &mut |name, value, _| bytes += name.len() + value.len() + 32);
            assert!(bytes <= 300);
            assert!(decoder.table().size() <= decoder.table().size_max());
            match result {
                Ok(()) => seen[0] += 1,
                Err(DecodeError::ListTooLong) => seen[1] += 1,
                Err(_) => {
                    seen[2] += 1;
                    break;
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 1_000), "{seen:?}");
}
