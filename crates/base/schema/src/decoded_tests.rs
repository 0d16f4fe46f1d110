use super::{DECODED_BYTES_MAX, DecodeProblem, decoded_bytes};
use crate::json::Error;
use crate::testing;
use crate::wire::put_bytes;

/// Field 25 of `three.All` is a list of it, 17 one of it, 32 a map to it, 15 bytes, 21 numbers.
fn all() -> crate::MessageType {
    testing::schema().message("three.All").expect("three.All").clone()
}

fn repeated(part: &[u8], count: usize) -> Vec<u8> {
    part.repeat(count)
}

#[test]
fn the_estimate_grows_with_what_is_made() {
    let all = all();
    let bytes = |message: &[u8]| decoded_bytes(all.pool(), all.index(), message, usize::MAX).unwrap();
    // Messages of one number each, in a list.
    let mut one = Vec::new();
    put_bytes(&mut one, 25, &[0x18, 7]);
    let (few, many) = (bytes(&repeated(&one, 10)), bytes(&repeated(&one, 1_000)));
    assert!(many > few * 80 && many > 1_000 * 800, "{few} {many}");
    // A text costs what it is long.
    let mut text = Vec::new();
    put_bytes(&mut text, 15, &[0; 100_000]);
    assert!((100_000..102_000).contains(&bytes(&text)), "{}", bytes(&text));
    // Packed numbers.
    let mut packed = Vec::new();
    put_bytes(&mut packed, 21, &[1; 1_000]);
    assert!(bytes(&packed) > 1_000 * 64, "{}", bytes(&packed));
    assert_eq!(bytes(&[]), 0);
}

#[test]
fn what_would_take_more_than_the_bound_is_not_begun() {
    let all = all();
    let mut one = Vec::new();
    put_bytes(&mut one, 25, &[0x18, 7]);
    let message = repeated(&one, 4 * 1024 * 1024 / one.len());
    assert!(matches!(all.decode(&message), Err(DecodeProblem::TooLarge)));
    assert_eq!(all.decoded_bytes(&message, DECODED_BYTES_MAX), None);
    let half = &message[..one.len() * 50_000];
    assert!(all.decode(half).is_ok());
}

#[test]
fn long_lists_of_numbers_are_taken() {
    let all = all();
    let mut packed = Vec::new();
    put_bytes(&mut packed, 21, &vec![1; 800_000]);
    assert!(all.decode(&packed).is_ok(), "more than the library's own bound on elements");
}

#[test]
fn malformed_bytes_are_the_decoders_to_refuse() {
    let all = all();
    let mut bytes = vec![0xff; 300_000];
    assert!(matches!(all.decode(&bytes), Err(DecodeProblem::Malformed(_))));
    bytes.fill(0x0b);
    assert!(matches!(all.decode(&bytes), Err(DecodeProblem::Malformed(_))), "groups without an end");
}

#[test]
fn json_that_the_quick_reader_leaves_is_bounded_too() {
    let known = testing::schema().message("three.Known").expect("three.Known").clone();
    // An Any takes the long way.
    let any = r#"{"any":{"@type":"type.googleapis.com/three.All","allList":[LIST]}}"#;
    let with = |count: usize| any.replace("LIST", &vec![r#"{"int32":1}"#; count].join(","));
    let mut out = Vec::new();
    assert_eq!(known.to_binary(with(300_000).as_bytes(), &mut out), Err(Error::TooLarge));
    assert!(out.is_empty());
    known.to_binary(with(1_000).as_bytes(), &mut out).unwrap();
    assert!(out.len() > 4_000);
}
