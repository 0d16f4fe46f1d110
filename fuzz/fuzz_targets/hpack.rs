//! Blocks of HPACK, one after the other on a connection: see ../README.md.
#![no_main]

use leat_fuzz::control;
use leat_h2::hpack::{DecodeError, Decoder, Encoder, FIELD_OVERHEAD_BYTES, Sensitivity};
use libfuzzer_sys::fuzz_target;

type Fields = Vec<(Vec<u8>, Vec<u8>, Sensitivity)>;

fuzz_target!(|data: &[u8]| {
    let Some((control, mut bytes)) = control(data) else { return };
    let table_bytes_max = [4_096, 256, 64, 0][usize::from(control & 3)];
    let list_bytes_max = if control & 4 == 0 { 16_384 } else { 200 };
    let (mut decoder, mut again) = (Decoder::new(table_bytes_max), Decoder::new(4_096));
    let mut encoder = Encoder::new();
    // A length of one byte before each block.
    while let Some((&len, rest)) = bytes.split_first() {
        let (block, rest) = rest.split_at(usize::from(len).min(rest.len()));
        bytes = rest;
        let (result, fields) = decode(&mut decoder, block, list_bytes_max);
        // Twice, so that what was seen comes again from the table.
        for _ in 0..2 {
            if control & 8 != 0 {
                let setting = u32::from(len) * 16;
                encoder.set_table_bytes_max(setting);
                again.set_table_bytes_max(setting);
            }
            let mut out = Vec::new();
            for (name, value, sensitivity) in &fields {
                match sensitivity {
                    Sensitivity::Open => encoder.field(&mut out, name, value),
                    Sensitivity::NeverIndexed => encoder.secret(&mut out, name, value),
                }
            }
            let (result, found) = decode(&mut again, &out, usize::MAX);
            assert_eq!(result, Ok(()));
            assert_eq!(fields.len(), found.len());
            for ((name, value, sensitivity), (other_name, other_value, other)) in fields.iter().zip(&found) {
                assert!(name.eq_ignore_ascii_case(other_name) && value == other_value);
                assert!(!other_name.iter().any(u8::is_ascii_uppercase));
                // The encoder adds names that are secret by themselves.
                assert!(*sensitivity == Sensitivity::Open || sensitivity == other);
            }
        }
        if !matches!(result, Ok(()) | Err(DecodeError::ListTooLong)) {
            return;
        }
    }
});

fn decode(decoder: &mut Decoder, block: &[u8], list_bytes_max: usize) -> (Result<(), DecodeError>, Fields) {
    let (mut fields, mut bytes) = (Fields::new(), 0);
    let result = decoder.decode(block, list_bytes_max, &mut |name, value, sensitivity| {
        bytes += name.len() + value.len() + FIELD_OVERHEAD_BYTES;
        fields.push((name.to_vec(), value.to_vec(), sensitivity));
    });
    assert!(bytes <= list_bytes_max);
    (result, fields)
}
