//! Random and mutated input for all that reads a peer's bytes: no panic, no more than the limit, and the same answer for
//! every way of cutting the input. The fuzz targets look further; this runs with every test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use leat_rpc_wire::connect::query::Query;
use leat_rpc_wire::envelope::{self, Found, Reader};
use leat_rpc_wire::grpc_web::text;
use leat_rpc_wire::{Code, Coding, Detail, MediaType, Status, binary_value, connect, grpc};

const ROUNDS: usize = 20_000;
const BYTES_MAX: usize = 300;

/// xorshift64*: the same inputs in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end.max(1)
    }

    /// Bytes of an alphabet, so that most inputs get past the first look.
    fn bytes(&mut self, alphabet: &[u8], len_max: usize) -> Vec<u8> {
        (0..self.below(len_max)).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }

    /// A few bytes changed, cut off or repeated.
    fn mutated(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        for _ in 0..self.below(4) {
            let at = self.below(bytes.len());
            match self.below(3) {
                0 if !bytes.is_empty() => bytes[at] = self.next() as u8,
                1 => bytes.truncate(at),
                _ => bytes.extend_from_within(..at.min(bytes.len())),
            }
        }
        bytes
    }
}

fn envelopes(input: &[u8], piece: usize) -> (Vec<(u8, Vec<u8>)>, bool) {
    let (mut reader, mut all) = (Reader::default(), Vec::new());
    for mut rest in input.chunks(piece.max(1)) {
        loop {
            let (used, found) = reader.read(rest, BYTES_MAX);
            rest = &rest[used..];
            match found {
                Found::Whole { flags } => all.push((flags, reader.content().to_vec())),
                Found::TooLarge { .. } => return (all, true),
                Found::More => break,
            }
        }
    }
    (all, false)
}

#[test]
fn envelopes_do_not_depend_on_the_pieces() {
    let mut random = Random(1);
    for _ in 0..ROUNDS {
        let mut input = Vec::new();
        for _ in 0..random.below(4) {
            let message = random.bytes(b"\0\x01ab", 40);
            envelope::write(random.below(4) as u8, &message, &mut input);
        }
        let input = random.mutated(input);
        let piece = 1 + random.below(20);
        assert_eq!(envelopes(&input, input.len()), envelopes(&input, piece), "{input:?} by {piece}");
        if let (Some((flags, message)), (all, _)) = (envelope::only(&input), envelopes(&input, input.len()))
            && message.len() <= BYTES_MAX
        {
            assert_eq!(all, [(flags, message.to_vec())]);
        }
    }
}

#[test]
fn decompression_stays_within_its_limit() {
    let mut random = Random(2);
    for round in 0..ROUNDS {
        let coding = [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd][round % 4];
        let message = random.bytes(b"aab", 2 * BYTES_MAX);
        let mut packed = Vec::new();
        coding.compress(&message, &mut packed);
        let input = random.mutated(packed.clone());
        let mut out = Vec::new();
        let result = coding.decompress(&input, BYTES_MAX, &mut out);
        assert!(result.is_err() || out.len() <= BYTES_MAX);
        if input == packed {
            assert_eq!(result.is_ok(), message.len() <= BYTES_MAX, "{coding:?} of {}", message.len());
            assert!(result.is_err() || out == message);
        }
    }
}

#[test]
fn text_does_not_depend_on_the_pieces() {
    let decode = |input: &[u8], piece: usize| {
        let (mut decoder, mut out) = (text::Decoder::default(), Vec::new());
        let result = input.chunks(piece.max(1)).try_for_each(|piece| decoder.decode(piece, &mut out));
        result.map(|()| (out, decoder.is_complete()))
    };
    let mut random = Random(3);
    for _ in 0..ROUNDS {
        let mut input = Vec::new();
        for _ in 0..random.below(3) {
            text::encode(&random.bytes(b"\0ab\xff", 20), &mut input);
        }
        let input = random.mutated(input);
        let piece = 1 + random.below(9);
        assert_eq!(decode(&input, input.len()), decode(&input, piece), "{input:?} by {piece}");
    }
}

#[test]
fn short_values_are_read_or_refused() {
    let mut random = Random(4);
    for _ in 0..ROUNDS {
        let query = random.bytes(b"message=&base64=1%+aQ2", 60);
        let mut message = Vec::new();
        if Query::read(&query).decode(&mut message).is_ok() {
            assert!(message.len() <= query.len());
        }
        let time = random.bytes(b"0123456789HMSmun", 12);
        if let Some(found) = grpc::timeout::read(&time) {
            let mut written = String::new();
            grpc::timeout::write(found, &mut written);
            let again = grpc::timeout::read(written.as_bytes()).unwrap();
            assert!(again <= found, "{written}");
        }
        let _ = connect::timeout::read(&time);
        let _ = MediaType::from_bytes(&random.bytes(b"application/grpc-web+textjson; ", 40));
        let value = random.bytes(b"aQ2+/=-_", 20);
        if let Some(bytes) = binary_value::decode(&value) {
            let mut written = String::new();
            binary_value::encode(&bytes, &mut written);
            assert_eq!(binary_value::decode(written.as_bytes()), Some(bytes));
        }
        let escaped = random.bytes(b"%aAfF09\xc3\xa9 ", 20);
        let (plain, mut written) = (grpc::status::unescape(&escaped), String::new());
        grpc::status::escape(&plain, &mut written);
        assert_eq!(grpc::status::unescape(written.as_bytes()), plain);
    }
}

#[test]
fn statuses_come_back_whatever_they_were_read_from() {
    let detail = Detail { type_name: "a.B".into(), value: vec![1; 200].into() };
    let status = Status { code: Code::NotFound, message: "text".into(), details: vec![detail.clone(), detail] };
    let mut random = Random(5);
    for _ in 0..ROUNDS {
        let input = random.mutated(grpc::status::to_message(&status));
        if let Some(found) = grpc::status::from_message(&input) {
            assert_eq!(grpc::status::from_message(&grpc::status::to_message(&found)), Some(found));
        }
    }
}
