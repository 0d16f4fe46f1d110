//! What is valid, httparse reads in the same way: generated heads give the same method, target, names, values and length.
//!
//! Known differences, none of them on valid input: httparse also takes bare line feeds, leaves white space behind a value
//! that ends its line, refuses some bytes in targets that browsers send, and judges neither Host, framing, nor targets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use leat_h1::{
    Head, Limits, Method, Profile, Progress, RequestLines, ResponseHead, ResponseLimits, ResponseLines, Version,
    parse_request, parse_response,
};

const CASES: u64 = 5_000;

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> usize {
        (self.next() % limit) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64)]
    }

    /// Mostly short, sometimes around the block size of the scanner, seldom long.
    fn length(&mut self) -> usize {
        match self.below(10) {
            0 => 0,
            1..7 => self.below(24),
            7 | 8 => 56 + self.below(20),
            _ => self.below(400),
        }
    }

    fn bytes(&mut self, alphabet: &[u8], len: usize) -> Vec<u8> {
        (0..len).map(|_| *self.pick(alphabet)).collect()
    }
}

const TOKEN: &[u8] = b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const TARGET: &[u8] = b"-._~!$&'()*+,;=:@/?%|{}\"0123456789abcdefghijklmnopqrstuvwxyz\xc3\xa9";
const NAMES: [&str; 8] =
    ["Accept", "user-agent", "Cookie", "X-Forwarded-For", "Sec-Fetch-Mode", "Referer", "A", "Accept-Encoding"];

fn value(random: &mut Random) -> Vec<u8> {
    let alphabet: Vec<u8> = (0x20..=0xff).filter(|&b| b != 0x7f).chain([b'\t']).collect();
    let len = random.length();
    random.bytes(&alphabet, len)
}

fn fields(random: &mut Random, out: &mut Vec<u8>) {
    for _ in 0..random.below(20) {
        if random.below(2) == 0 {
            out.extend_from_slice(random.pick(&NAMES).as_bytes());
        } else {
            let len = 1 + random.length();
            // A prefix keeps the name from being one of those that have a meaning.
            out.extend_from_slice(b"x!");
            out.extend(random.bytes(TOKEN, len));
        }
        out.push(b':');
        out.extend_from_slice(random.pick(&["", " ", "  ", "\t", " \t "]).as_bytes());
        out.extend(value(random));
        out.extend_from_slice(b"\r\n");
    }
}

fn request(random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    if random.below(3) == 0 {
        let len = 1 + random.below(12);
        out.extend_from_slice(b"X");
        out.extend(random.bytes(TOKEN, len));
    } else {
        out.extend_from_slice(random.pick(&["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]).as_bytes());
    }
    out.extend_from_slice(b" /");
    let len = random.length();
    out.extend(random.bytes(TARGET, len));
    out.extend_from_slice(random.pick(&[" HTTP/1.1\r\n", " HTTP/1.0\r\n"]).as_bytes());
    let host = format!("{}: example.org\r\n", random.pick(&["Host", "host", "HOST"]));
    if random.below(2) == 0 {
        out.extend_from_slice(host.as_bytes());
        fields(random, &mut out);
    } else {
        fields(random, &mut out);
        out.extend_from_slice(host.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out
}

fn trimmed(value: &[u8]) -> &[u8] {
    let blank = |b: &u8| *b == b' ' || *b == b'\t';
    let start = value.iter().position(|b| !blank(b)).unwrap_or(value.len());
    let end = value.iter().rposition(|b| !blank(b)).map_or(start, |last| last + 1);
    &value[start..end]
}

type Pairs<'a> = Vec<(&'a [u8], &'a [u8])>;

fn theirs<'a>(headers: &[httparse::Header<'a>]) -> Pairs<'a> {
    headers.iter().map(|header| (header.name.as_bytes(), trimmed(header.value))).collect()
}

#[test]
fn valid_requests_are_read_as_httparse_reads_them() {
    let mut random = Random(1);
    let mut lines = RequestLines::default();
    let mut compared = 0;
    for case in 0..CASES {
        let mut bytes = request(&mut random);
        let head_len = bytes.len();
        let behind = random.length();
        bytes.extend(random.bytes(b"\r\n\0GET: ", behind));

        let parsed =
            parse_request(&bytes, &mut Progress::default(), Profile::Compatible, &Limits::default(), &mut lines);
        assert_eq!(parsed, Ok(Some(head_len)), "case {case}: {}", bytes.escape_ascii());
        let ours = Head::new(&bytes, &lines);

        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut their = httparse::Request::new(&mut headers);
        let status = their.parse(&bytes);
        // Bytes that it does not take in a target, but Leat and browsers do, are no difference to look at here.
        if let Err(httparse::Error::Token) = status {
            continue;
        }
        assert_eq!(status, Ok(httparse::Status::Complete(head_len)), "case {case}: {}", bytes.escape_ascii());
        assert_eq!(ours.method_bytes(), their.method.unwrap().as_bytes());
        assert_eq!(ours.target(), their.path.unwrap().as_bytes());
        assert_eq!(ours.version() == Version::Http11, their.version == Some(1));
        let pairs: Pairs<'_> = ours.fields().iter().map(|(_, name, value)| (name, value)).collect();
        assert_eq!(pairs, theirs(their.headers), "case {case}: {}", bytes.escape_ascii());
        for (id, name, _) in ours.fields() {
            assert_eq!(id, leat_h1::Name::from_bytes(name));
        }
        compared += 1;
    }
    assert!(compared > CASES / 4, "only {compared} heads were compared");
}

#[test]
fn valid_responses_are_read_as_httparse_reads_them() {
    let mut random = Random(2);
    let mut lines = ResponseLines::default();
    for case in 0..CASES {
        let mut bytes = format!("HTTP/1.{} {} ", random.below(2), 200 + random.below(400)).into_bytes();
        bytes.extend(random.pick(&["", "OK", "Not Found", "a  b"]).bytes());
        bytes.extend_from_slice(b"\r\n");
        fields(&mut random, &mut bytes);
        bytes.extend_from_slice(b"\r\n");
        let head_len = bytes.len();
        let behind = random.length();
        bytes.extend(random.bytes(b"\r\n\0GET: ", behind));

        let limits = ResponseLimits::default();
        let parsed = parse_response(&bytes, &mut Progress::default(), &limits, Method::Get, &mut lines);
        assert_eq!(parsed, Ok(Some(head_len)), "case {case}: {}", bytes.escape_ascii());
        let ours = ResponseHead::new(&bytes, &lines);

        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut their = httparse::Response::new(&mut headers);
        assert_eq!(their.parse(&bytes), Ok(httparse::Status::Complete(head_len)), "{}", bytes.escape_ascii());
        assert_eq!(ours.status(), their.code.unwrap());
        assert_eq!(ours.reason(), their.reason.unwrap().as_bytes());
        let pairs: Pairs<'_> = ours.fields().iter().map(|(_, name, value)| (name, value)).collect();
        assert_eq!(pairs, theirs(their.headers), "case {case}: {}", bytes.escape_ascii());
    }
}

/// One byte changed in a valid head: whatever Leat then accepts, httparse accepts too, up to the bytes of targets.
#[test]
fn what_leat_accepts_of_damaged_requests_httparse_accepts_as_well() {
    let mut random = Random(3);
    let mut lines = RequestLines::default();
    for case in 0..CASES {
        let mut bytes = request(&mut random);
        let at = random.below(bytes.len() as u64);
        bytes[at] = match random.below(3) {
            0 => *random.pick(b"\r\n \t:\0\x0b\x0c\x7f#?/"),
            _ => random.next() as u8,
        };
        let parsed =
            parse_request(&bytes, &mut Progress::default(), Profile::Compatible, &Limits::default(), &mut lines);
        let Ok(Some(len)) = parsed else { continue };
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut their = httparse::Request::new(&mut headers);
        match their.parse(&bytes) {
            Ok(httparse::Status::Complete(their_len)) => assert_eq!(their_len, len, "{}", bytes.escape_ascii()),
            Err(httparse::Error::Token)
                if !lines.target.of(&bytes).iter().all(|b| b"\"<>|{}`^\\".contains(b) || *b >= 0x80) => {}
            other => panic!("case {case}: {other:?}: {}", bytes.escape_ascii()),
        }
    }
}
