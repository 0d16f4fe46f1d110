//! What an encoder makes of fields, byte by byte.

use super::*;
use crate::hpack::Encoder;

type Pair = (&'static str, &'static str);

fn block(encoder: &mut Encoder, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        encoder.field(&mut out, name.as_bytes(), value.as_bytes());
    }
    out
}

#[test]
fn a_field_is_literal_then_inserted_then_one_byte() {
    let cases: [(&[Pair], [&str; 4]); 4] = [
        (&[("server", "leat")], ["0f27 04 6c656174", "76 04 6c656174", "be", "be"]),
        (
            &[("Grpc-Status", "0")],
            ["00 0b 677270632d737461747573 01 30", "40 0b 677270632d737461747573 01 30", "be", "be"],
        ),
        (&[("a", "1"), ("b", "2")], ["0001610131 0001620132", "4001610131 4001620132", "bf be", "bf be"]),
        // The same name with another value is another field.
        (&[("a", "1"), ("a", "2")], ["0001610131 0001610132", "4001610131 4001610132", "bf be", "bf be"]),
    ];
    for (fields, blocks) in cases {
        let mut encoder = Encoder::new();
        for expected in blocks {
            assert_eq!(block(&mut encoder, fields), hex(expected), "{fields:?}");
        }
    }
}

#[test]
fn names_of_any_case_are_one_field() {
    let mut encoder = Encoder::new();
    block(&mut encoder, &[("x-served-by", "Leat")]);
    assert_eq!(
        block(&mut encoder, &[("X-Served-By", "Leat")]),
        [hex("40 0b"), b"x-served-by".to_vec(), hex("04 4c656174")].concat()
    );
    assert_eq!(block(&mut encoder, &[("X-SERVED-BY", "Leat"), ("x-served-by", "Leat")]), hex("be be"));
    // Values have no case, and only letters have one: the last name's hash is the same, so it counts as seen.
    assert_eq!(block(&mut encoder, &[("x-served-by", "leat")])[0], 0);
    assert_eq!(block(&mut encoder, &[("x-served\rby", "Leat")])[0], 0x40);
}

#[test]
fn what_the_static_table_has_is_one_byte_at_once() {
    for (name, value, byte) in [
        (":method", "GET", 0x82),
        (":method", "POST", 0x83),
        (":path", "/", 0x84),
        (":path", "/index.html", 0x85),
        (":scheme", "https", 0x87),
        (":status", "500", 0x8e),
        ("accept-encoding", "gzip, deflate", 0x90),
    ] {
        assert_eq!(block(&mut Encoder::new(), &[(name, value)]), [byte]);
    }
}

#[test]
fn every_name_of_the_static_table_goes_by_its_first_index() {
    for index in 1..=61 {
        let (name, _) = crate::hpack::static_table::get(index).unwrap();
        let first = (1..=61).find(|&at| crate::hpack::static_table::get(at).unwrap().0 == name).unwrap();
        let mut out = Vec::new();
        Encoder::new().field(&mut out, &name.to_ascii_uppercase(), b"?");
        let secret = [23, 32, 49, 55].contains(&first);
        let pattern = if secret { 0x10 } else { 0 };
        let head = if first < 15 { vec![pattern | first as u8] } else { vec![pattern | 15, first as u8 - 15] };
        assert_eq!(out, [head, hex("01 3f")].concat());
    }
}

#[test]
fn an_empty_value_is_not_taken_for_a_name_that_stands_alone() {
    let mut encoder = Encoder::new();
    assert_eq!(block(&mut encoder, &[("vary", "")]), hex("0f2c 00"));
    assert_eq!(block(&mut encoder, &[("vary", ""), ("vary", "")]), hex("7b 00 be"));
}

#[test]
fn statuses() {
    for (status, bytes) in [
        (200, "88"),
        (204, "89"),
        (206, "8a"),
        (304, "8b"),
        (400, "8c"),
        (404, "8d"),
        (500, "8e"),
        (100, "08 03 313030"),
        (429, "08 03 343239"),
        (599, "08 03 353939"),
    ] {
        let mut out = Vec::new();
        Encoder::new().status(&mut out, status);
        assert_eq!(out, hex(bytes), "{status}");
    }
}

#[test]
fn credentials_and_cookies_are_never_indexed_however_often_they_come() {
    for (name, index) in [("Authorization", 23), ("cookie", 32), ("proxy-authorization", 49), ("Set-Cookie", 55)] {
        let mut encoder = Encoder::new();
        for _ in 0..4 {
            assert_eq!(block(&mut encoder, &[(name, "secret")]), [&[0x1f, index - 15, 6], &b"secret"[..]].concat());
        }
        let large = "x".repeat(2_000);
        assert_eq!(block(&mut encoder, &[(name, &large)])[..2], [0x1f, index - 15]);
    }
}

#[test]
fn a_secret_is_never_indexed_even_where_the_table_has_it() {
    let mut encoder = Encoder::new();
    block(&mut encoder, &[("x-key", "1"), ("x-key", "1")]);
    let mut out = Vec::new();
    encoder.secret(&mut out, b"X-Key", b"1");
    assert_eq!(out, hex("10 05 782d6b6579 01 31"));
}

#[test]
fn what_differs_each_time_takes_no_place() {
    let mut encoder = Encoder::new();
    for _ in 0..3 {
        block(&mut encoder, &[("server", "leat"), ("content-type", "application/grpc")]);
    }
    for round in 0..10_000 {
        let id = round.to_string();
        let out =
            block(&mut encoder, &[("server", "leat"), ("x-request-id", &id), ("content-type", "application/grpc")]);
        assert_eq!((out[0], out[1], out.last()), (0xbf, 0, Some(&0xbe)), "{round}");
    }
}

#[test]
fn a_large_field_leaves_the_table_alone() {
    let mut encoder = Encoder::new();
    let large = "x".repeat(1_025 - 32 - 1);
    for _ in 0..3 {
        assert_eq!(block(&mut encoder, &[("a", &large)])[0], 0);
        block(&mut encoder, &[("b", "")]);
    }
    assert_eq!(block(&mut encoder, &[("b", "")]), [0xbe]);
    assert_eq!(block(&mut encoder, &[("c", &large[1..])])[0], 0);
    assert_eq!(block(&mut encoder, &[("c", &large[1..])])[0], 0x40);
}

#[test]
fn a_peers_setting_is_told_with_the_next_block() {
    for (settings, update) in [
        (&[4_096][..], ""),
        (&[65_536], ""),
        (&[0], "20"),
        (&[30], "3e"),
        (&[100], "3f45"),
        (&[0, 65_536], "20 3fe11f"),
        (&[100, 0, 50, 200], "20 3fa901"),
        (&[200, 100], "3f45"),
    ] {
        let mut encoder = Encoder::new();
        settings.iter().for_each(|&setting| encoder.set_table_bytes_max(setting));
        let mut out = Vec::new();
        encoder.status(&mut out, 200);
        encoder.status(&mut out, 200);
        assert_eq!(out, [hex(update), hex("88 88")].concat(), "{settings:?}");
        let mut secret = Vec::new();
        settings.iter().for_each(|&setting| encoder.set_table_bytes_max(setting));
        encoder.secret(&mut secret, b"a", b"");
        assert!(secret.ends_with(&hex("10 01 61 00")), "{settings:?}");
    }
}

#[test]
fn without_a_table_nothing_is_indexed() {
    let mut encoder = Encoder::new();
    encoder.set_table_bytes_max(0);
    assert_eq!(block(&mut encoder, &[("a", "1")]), hex("20 0001610131"));
    for _ in 0..3 {
        assert_eq!(block(&mut encoder, &[("a", "1")]), hex("0001610131"));
    }
}

#[test]
fn fields_whose_hashes_choose_the_same_slots_all_find_a_place() {
    // In 32 sets, so that many share one, and seldom more than four do.
    let fields: Vec<(String, String)> = (0..40).map(|at| (format!("x-{at}"), format!("value {at}"))).collect();
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let mut encoder = Encoder::new();
    block(&mut encoder, &fields);
    block(&mut encoder, &fields);
    let indexed = fields.iter().filter(|field| block(&mut encoder, &[**field]).len() == 1).count();
    assert!(indexed >= 39, "{indexed} of 40");
}
