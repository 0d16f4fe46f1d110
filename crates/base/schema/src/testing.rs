//! Random messages of a schema that has everything, for tests that compare two ways of reading.

use std::sync::Arc;

use crate::wire::{put_varint, zigzag};
use crate::{Field, Kind, MessageType, Schema, Shape, Sources};

/// Every kind and shape of field, in proto2 and in proto3.
const TEXTS: [(&str, &str); 2] = [
    (
        "three.proto",
        r#"syntax = "proto3"; package three;
        import "google/protobuf/any.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto";
        import "google/protobuf/struct.proto"; import "google/protobuf/wrappers.proto"; import "google/protobuf/field_mask.proto";
        enum Open { ZERO = 0; ONE = 1; TWO = 2; MANY = 1000; BELOW = -1; }
        message All {
          double double = 1; float float = 2; int32 int32 = 3; int64 int64 = 4; uint32 uint32 = 5; uint64 uint64 = 6;
          sint32 sint32 = 7; sint64 sint64 = 8; fixed32 fixed32 = 9; fixed64 fixed64 = 10; sfixed32 sfixed32 = 11;
          sfixed64 sfixed64 = 12; bool bool = 13; string string = 14; bytes bytes = 15; Open open = 16; All all = 17;
          repeated int32 int_list = 21; repeated double double_list = 22 [packed = false]; repeated string string_list = 23;
          repeated Open open_list = 24; repeated All all_list = 25; repeated bytes bytes_list = 26; repeated sint64 sint_list = 27;
          repeated bool bool_list = 28; repeated fixed32 fixed_list = 29;
          map<string, string> by_string = 31; map<int32, All> by_int = 32; map<bool, Open> by_bool = 33; map<uint64, bytes> by_uint = 34;
          map<sint32, double> by_sint = 35;
          optional int32 maybe_int = 41; optional string maybe_string = 42;
          oneof one { int32 one_int = 51; string one_string = 52; All one_all = 53; Open one_open = 54; google.protobuf.NullValue one_null = 55; }
        }
        message Known {
          google.protobuf.Any any = 1; google.protobuf.Timestamp timestamp = 2; google.protobuf.Duration duration = 3;
          google.protobuf.Struct struct = 4; google.protobuf.Value value = 5; google.protobuf.ListValue list = 6;
          google.protobuf.Int64Value int64 = 7; google.protobuf.StringValue string = 8; google.protobuf.BytesValue bytes = 9;
          google.protobuf.FieldMask mask = 10; repeated google.protobuf.Timestamp timestamps = 11; google.protobuf.NullValue null = 12;
          map<string, google.protobuf.Value> values = 13; google.protobuf.BoolValue bool = 14; google.protobuf.FloatValue float = 15;
          repeated google.protobuf.Value value_list = 16; oneof one { google.protobuf.Value one_value = 17; int32 one_int = 18; }
        }
        service Echo { rpc Call(All) returns (All); }"#,
    ),
    (
        "two.proto",
        r#"syntax = "proto2"; package two;
        enum Closed { ONE = 1; TWO = 2; NINE = 9; }
        message All {
          required int32 must = 1; optional string text = 2 [default = "a \"b\""]; optional Closed closed = 3 [default = TWO];
          repeated Closed closed_list = 4; repeated Closed closed_packed = 5 [packed = true]; optional All all = 6;
          optional group Group = 7 { optional int32 in = 1; optional Closed closed = 2; optional All all = 3; }
          repeated group Groups = 8 { optional string in = 1; } map<string, Closed> closed_map = 9; map<int64, All> by_int = 10;
          optional double double = 11 [default = -inf]; optional bytes bytes = 12 [default = "\001\377"]; optional bool yes = 13 [default = true];
          optional uint64 big = 14 [default = 18446744073709551615]; optional float float = 15 [default = 1.5];
          oneof one { Closed one_closed = 21; string one_text = 22; All one_all = 23; group OneGroup = 24 { optional int32 in = 1; } }
          extensions 100 to 200;
        }
        extend All { optional int32 more = 100; repeated All more_list = 101; optional Closed more_closed = 102 [default = NINE]; }"#,
    ),
];

/// The schema of [`TEXTS`].
pub(crate) fn schema() -> Arc<Schema> {
    let mut sources = Sources::new();
    for (name, text) in TEXTS {
        sources.proto(name, text);
    }
    sources.build().unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Numbers that look random, the same for the same seed (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// One time in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// What a message may contain.
#[derive(Clone, Copy)]
pub(crate) struct Wild {
    /// Messages inside messages.
    pub(crate) depth: u32,
    /// Also fields of wrong wire types, of unknown numbers, and twice; messages in parts; lists packed or not, against the schema.
    pub(crate) odd: bool,
}

/// A message in binary form, which a parser takes.
pub(crate) fn message(of: &MessageType, random: &mut Random, wild: Wild) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..random.below(if wild.odd { 9 } else { 6 }) {
        let Some(field) = of.fields().get(random.below(of.fields().len() as u64) as usize) else { break };
        if wild.odd && random.once_in(20) {
            tag(&mut out, if random.once_in(2) { 9999 } else { field.number() }, 0);
            if matches!(crate::path::wire_type(field.kind()), crate::wire::WireType::Varint) {
                put_varint(&mut out, random.below(3));
            } else {
                put_varint(&mut out, random.next());
            }
            continue;
        }
        put_field(of, field, random, wild, &mut out);
    }
    for field in of.fields().iter().filter(|field| field.presence() == crate::Presence::Required) {
        put_field(of, field, random, wild, &mut out);
    }
    out
}

fn put_field(of: &MessageType, field: &Field, random: &mut Random, wild: Wild, out: &mut Vec<u8>) {
    let nested = Wild { depth: wild.depth.saturating_sub(1), ..wild };
    if wild.depth == 0 && matches!(field.kind(), Kind::Message(_)) {
        return;
    }
    if let Shape::Map { key } = field.shape() {
        let mut entry = Vec::new();
        if !random.once_in(10) {
            put_value(of, field, key, 1, random, nested, &mut entry);
        }
        // The library takes 0 for the value that is not there, also where an enum begins with another.
        if !random.once_in(10) || field.is_closed() {
            put_value(of, field, field.kind(), 2, random, nested, &mut entry);
        }
        tag(out, field.number(), 2);
        put_bytes(out, &entry);
        return;
    }
    let times = if field.shape() == Shape::List { random.below(4) } else { 1 };
    let packed = field.shape() == Shape::List && field.kind().is_packable();
    if packed && (field.is_packed() != (wild.odd && random.once_in(2))) {
        let mut list = Vec::new();
        (0..times).for_each(|_| put_bare(of, field, field.kind(), random, nested, &mut list));
        tag(out, field.number(), 2);
        put_bytes(out, &list);
    } else {
        (0..times).for_each(|_| put_value(of, field, field.kind(), field.number(), random, nested, out));
    }
}

fn put_value(
    of: &MessageType,
    field: &Field,
    kind: Kind,
    number: u32,
    random: &mut Random,
    wild: Wild,
    out: &mut Vec<u8>,
) {
    use crate::wire::WireType;
    if let (Kind::Message(_), true) = (kind, field.is_delimited() && number == field.number()) {
        tag(out, number, 3);
        out.extend(of.message_of(field).map(|of| message(&of, random, wild)).unwrap_or_default());
        return tag(out, number, 4);
    }
    let wire = match crate::path::wire_type(kind) {
        WireType::Varint => 0,
        WireType::Fixed64 => 1,
        WireType::Fixed32 => 5,
        _ => 2,
    };
    tag(out, number, wire);
    put_bare(of, field, kind, random, wild, out);
}

fn put_bare(of: &MessageType, field: &Field, kind: Kind, random: &mut Random, wild: Wild, out: &mut Vec<u8>) {
    const WORDS: [&str; 8] = [
        "",
        "a",
        "name",
        "with \"quotes\" \\ and \n",
        "日本",
        "\u{1f600}\u{7f}\u{0}",
        "</script>",
        "0123456789abcdef0123456789abcdef",
    ];
    let pick = random.below(6);
    let number = match pick {
        0 => 0,
        1 => random.below(5),
        2 => random.next(),
        3 => u64::from(u32::MAX),
        4 => random.below(1 << 40),
        _ => random.below(5).wrapping_neg(),
    };
    let double =
        [0.0, -0.0, 1.5, -1e300, 1e-7, 123_456.789, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e21, f32::MAX.into()]
            [random.below(11) as usize];
    match kind {
        Kind::Double => out.extend_from_slice(&double.to_le_bytes()),
        Kind::Float => out.extend_from_slice(&(double as f32).to_le_bytes()),
        Kind::Int32 => put_varint(out, i64::from(number as i32).cast_unsigned()),
        Kind::Uint32 => put_varint(out, u64::from(number as u32)),
        Kind::Sint32 => put_varint(out, zigzag(i64::from(number as i32)) & 0xffff_ffff),
        Kind::Sint64 => put_varint(out, zigzag(number.cast_signed())),
        Kind::Int64 | Kind::Uint64 => put_varint(out, number),
        Kind::Fixed32 | Kind::Sfixed32 => out.extend_from_slice(&(number as u32).to_le_bytes()),
        Kind::Fixed64 | Kind::Sfixed64 => out.extend_from_slice(&number.to_le_bytes()),
        Kind::Bool => put_varint(out, number & 1),
        Kind::String => put_bytes(out, WORDS[random.below(8) as usize].as_bytes()),
        Kind::Bytes => put_bytes(out, &number.to_le_bytes()[..random.below(8) as usize]),
        Kind::Enum(id) => {
            let values = of.enumeration(id).values();
            let named = values[random.below(values.len() as u64) as usize].number();
            let number = if random.once_in(4) { number as i32 } else { named };
            put_varint(out, i64::from(number).cast_unsigned());
        }
        Kind::Message(_) => {
            let nested = of.message_of(field).map(|of| message(&of, random, wild)).unwrap_or_default();
            put_bytes(out, &nested);
        }
    }
}

fn tag(out: &mut Vec<u8>, number: u32, wire: u64) {
    put_varint(out, u64::from(number) << 3 | wire);
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}
