//! Times HPACK for the heads of a unary gRPC call and of a page, and prints nanoseconds a block (best and median of rounds).
//!
//! `cargo run --release -p leat-h2 --example hpack_ns`; with a sample's name it handles that one a fixed number of
//! times and prints nothing, for counting instructions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use leat_h2::hpack::{Decoder, Encoder};

type Field = (&'static str, &'static str);

/// As ghz and grpc-go send them.
const GRPC_REQUEST: &[Field] = &[
    (":method", "POST"),
    (":scheme", "http"),
    (":path", "/shop.v1.Orders/GetOrder"),
    (":authority", "127.0.0.1:50051"),
    ("content-type", "application/grpc"),
    ("user-agent", "grpc-go/1.72.0"),
    ("te", "trailers"),
    ("grpc-accept-encoding", "gzip"),
    ("grpc-timeout", "19999m"),
];
const GRPC_REPLY: &[Field] = &[
    ("content-type", "application/grpc"),
    ("grpc-encoding", "identity"),
    ("grpc-accept-encoding", "identity,gzip"),
    ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
];
const GRPC_TRAILERS: &[Field] = &[("grpc-status", "0"), ("grpc-message", "")];

const PAGE_REQUEST: &[Field] = &[
    (":method", "GET"),
    (":scheme", "https"),
    (":path", "/articles/2024/05/some-title?utm_source=feed&page=2"),
    (":authority", "www.example.org"),
    ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0"),
    ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"),
    ("accept-language", "en-US,en;q=0.5"),
    ("accept-encoding", "gzip, deflate, br"),
    ("referer", "https://www.example.org/articles/"),
    ("upgrade-insecure-requests", "1"),
];
/// As an app in Node answers: names in the case of HTTP/1.1.
const PAGE_REPLY: &[Field] = &[
    ("X-Powered-By", "Express"),
    ("Content-Type", "text/html; charset=utf-8"),
    ("Content-Length", "5120"),
    ("ETag", "W/\"1400-Ys3cOkxzkDNXS0ffdmF7jVhPx2k\""),
    ("Cache-Control", "public, max-age=60"),
    ("Vary", "Accept-Encoding"),
    ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
];

const ROUNDS: usize = 41;
const BLOCKS: u32 = 20_000;
const COUNTED: u32 = 100_000;
/// Until everything that repeats is in the table.
const WARM: usize = 3;

fn encode(encoder: &mut Encoder, out: &mut Vec<u8>, fields: &[Field]) {
    for (name, value) in fields {
        encoder.field(out, name.as_bytes(), value.as_bytes());
    }
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> usize {
    let mut bytes = 0;
    decoder.decode(black_box(block), 16_384, &mut |name, value, _| bytes += black_box((name, value)).0.len()).unwrap();
    bytes
}

fn decoding(fields: &'static [Field], is_warm: bool) -> Box<dyn FnMut()> {
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4_096));
    let mut block = Vec::new();
    for _ in 0..if is_warm { WARM } else { 1 } {
        block.clear();
        encode(&mut encoder, &mut block, fields);
        decode(&mut decoder, &block);
    }
    Box::new(move || {
        black_box(decode(&mut decoder, &block));
    })
}

fn encoding(lists: &'static [&'static [Field]], is_warm: bool) -> Box<dyn FnMut()> {
    let (mut encoder, mut out) = (Encoder::new(), Vec::with_capacity(4_096));
    Box::new(move || {
        out.clear();
        if !is_warm {
            encoder = Encoder::new();
        }
        encoder.status(&mut out, 200);
        lists.iter().for_each(|fields| encode(&mut encoder, &mut out, black_box(fields)));
        black_box(&out);
    })
}

/// Three Huffman-coded values of 34 characters together, each of which goes into the table.
fn huffman() -> Box<dyn FnMut()> {
    let block: Vec<u8> = ["418cf1e3c2e5f23a6ba0ab90f4ff", "5886a8eb10649cbf", "5f87497ca589d34d1f"]
        .iter()
        .flat_map(|text| text.as_bytes().chunks(2))
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    let mut decoder = Decoder::new(4_096);
    Box::new(move || {
        black_box(decode(&mut decoder, &block));
    })
}

fn sample(name: &str) -> Option<Box<dyn FnMut()>> {
    Some(match name {
        "grpc-request-decode" => decoding(GRPC_REQUEST, true),
        "grpc-request-decode-first" => decoding(GRPC_REQUEST, false),
        "page-request-decode" => decoding(PAGE_REQUEST, true),
        "huffman-decode" => huffman(),
        "grpc-reply-encode" => encoding(&[GRPC_REPLY, GRPC_TRAILERS], true),
        "grpc-reply-encode-first" => encoding(&[GRPC_REPLY, GRPC_TRAILERS], false),
        "page-reply-encode" => encoding(&[PAGE_REPLY], true),
        "nothing" => Box::new(|| {}),
        _ => return None,
    })
}

const SAMPLES: [&str; 7] = [
    "grpc-request-decode",
    "grpc-request-decode-first",
    "page-request-decode",
    "huffman-decode",
    "grpc-reply-encode",
    "grpc-reply-encode-first",
    "page-reply-encode",
];

fn time(run: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..BLOCKS {
        run();
    }
    start.elapsed().as_nanos() as f64 / f64::from(BLOCKS)
}

fn main() {
    if let Some(name) = std::env::args().nth(1) {
        let mut run = sample(&name).unwrap_or_else(|| panic!("no such sample: {name}"));
        (0..COUNTED).for_each(|_| run());
        return;
    }
    for name in SAMPLES {
        let mut run = sample(name).unwrap();
        let mut times: Vec<f64> = (0..ROUNDS).map(|_| time(&mut run)).collect();
        times.sort_by(f64::total_cmp);
        println!("{name:28} {:7.1} {:7.1}", times[0], times[ROUNDS / 2]);
    }
}
