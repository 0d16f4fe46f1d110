//! Times the head parser beside httparse, alternating, and prints nanoseconds a head (best and median of the rounds).
//!
//! `cargo run --release -p leat-h1 --example head_ns`; with an argument (`leat` or `httparse`, then a sample's name) it
//! parses that one sample a fixed number of times and prints nothing, for counting instructions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use leat_h1::{Limits, Method, Name, Profile, Progress, RequestLines, ResponseLimits, ResponseLines};

const SMALL: &str = "GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";

const BROWSER: &str = "GET /articles/2024/05/some-title?utm_source=feed&page=2 HTTP/1.1\r\n\
Host: www.example.org\r\n\
User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0\r\n\
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n\
Accept-Language: en-US,en;q=0.5\r\n\
Accept-Encoding: gzip, deflate, br\r\n\
Referer: https://www.example.org/articles/\r\n\
Connection: keep-alive\r\n\
Cookie: session=0123456789abcdef0123456789abcdef; theme=dark; consent=1; _ga=GA1.2.1234567890.1234567890\r\n\
Upgrade-Insecure-Requests: 1\r\n\
Cache-Control: max-age=0\r\n\r\n";

const RESPONSE: &str = "HTTP/1.1 200 OK\r\n\
Server: nginx\r\n\
Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
Content-Type: application/json\r\n\
Content-Length: 27\r\n\
Connection: keep-alive\r\n\r\n";

const ROUNDS: usize = 41;
const HEADS: u32 = 20_000;
const COUNTED: u32 = 100_000;

fn leat(bytes: &[u8], lines: &mut RequestLines, limits: &Limits) -> usize {
    let mut progress = Progress::default();
    leat_h1::parse_request(bytes, &mut progress, Profile::Compatible, limits, lines).unwrap().unwrap()
}

/// httparse, and the ids of the names, which Leat's time includes.
fn httparse(bytes: &[u8], ids: &mut Vec<Name>, with_ids: bool) -> usize {
    let mut headers = [const { std::mem::MaybeUninit::uninit() }; 32];
    let mut request = httparse::Request::new(&mut []);
    let httparse::Status::Complete(len) = request.parse_with_uninit_headers(bytes, &mut headers).unwrap() else {
        panic!("incomplete")
    };
    if with_ids {
        ids.clear();
        ids.extend(request.headers.iter().map(|header| Name::from_bytes(header.name.as_bytes())));
    } else {
        black_box(&request.headers);
    }
    len
}

fn leat_response(bytes: &[u8], lines: &mut ResponseLines) -> usize {
    let limits = ResponseLimits::default();
    leat_h1::parse_response(bytes, &mut Progress::default(), &limits, Method::Get, lines).unwrap().unwrap()
}

fn httparse_response(bytes: &[u8]) -> usize {
    let mut headers = [const { std::mem::MaybeUninit::uninit() }; 32];
    let mut response = httparse::Response::new(&mut []);
    let parsed =
        httparse::ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
    let httparse::Status::Complete(len) = parsed.unwrap() else { panic!("incomplete") };
    black_box(&response.headers);
    len
}

fn time(mut parse: impl FnMut() -> usize) -> f64 {
    let start = Instant::now();
    for _ in 0..HEADS {
        black_box(parse());
    }
    start.elapsed().as_nanos() as f64 / f64::from(HEADS)
}

fn report(name: &str, subjects: &mut [(&str, &mut dyn FnMut() -> usize)]) {
    let mut times = vec![Vec::new(); subjects.len()];
    for _ in 0..ROUNDS {
        for (times, (_, parse)) in times.iter_mut().zip(subjects.iter_mut()) {
            times.push(time(&mut **parse));
        }
    }
    for (times, (subject, _)) in times.iter_mut().zip(subjects.iter()) {
        times.sort_by(f64::total_cmp);
        println!("{name:>10}  {subject:<16} best {:6.1} ns  median {:6.1} ns", times[0], times[ROUNDS / 2]);
    }
}

fn main() {
    let pipelined = SMALL.repeat(16);
    let limits = Limits::default();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [subject, sample] = arguments.as_slice() {
        let bytes = if sample == "small" { SMALL } else { BROWSER }.as_bytes();
        let (mut lines, mut ids) = (RequestLines::default(), Vec::new());
        for _ in 0..COUNTED {
            black_box(match subject.as_str() {
                "leat" => leat(black_box(bytes), &mut lines, &limits),
                _ => httparse(black_box(bytes), &mut ids, subject == "httparse_ids"),
            });
        }
        return;
    }
    for (name, sample) in [("small", SMALL), ("pipelined", pipelined.as_str()), ("browser", BROWSER)] {
        let (mut lines, mut ids, mut no_ids) = (RequestLines::default(), Vec::new(), Vec::new());
        report(
            name,
            &mut [
                ("leat", &mut || leat(black_box(sample.as_bytes()), &mut lines, &limits)),
                ("httparse", &mut || httparse(black_box(sample.as_bytes()), &mut no_ids, false)),
                ("httparse and ids", &mut || httparse(black_box(sample.as_bytes()), &mut ids, true)),
            ],
        );
    }
    let mut lines = ResponseLines::default();
    report(
        "response",
        &mut [
            ("leat", &mut || leat_response(black_box(RESPONSE.as_bytes()), &mut lines)),
            ("httparse", &mut || httparse_response(black_box(RESPONSE.as_bytes()))),
        ],
    );
}
