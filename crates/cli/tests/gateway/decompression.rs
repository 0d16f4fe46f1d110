//! Bodies of requests that are decoded before an upstream gets them.

use std::io::{Read, Write};
use std::net::TcpListener;

use leat_testkit::{Gate, Leat, Peer, Script, eventually};
use tokio::task::spawn_blocking;

use crate::h2_peers::{connect, request, rest, run};
use crate::support::{BARE, OK, config, first_line, is_problem, lines, url};

const CODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

fn coded(coding: &str, bytes: &[u8]) -> Vec<u8> {
    let best = flate2::Compression::best();
    match coding {
        "gzip" => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), best);
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        }
        "deflate" => {
            let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), best);
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        }
        "br" => {
            let mut writer = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
            writer.write_all(bytes).unwrap();
            writer.into_inner()
        }
        "zstd" => zstd::stream::encode_all(bytes, 3).unwrap(),
        other => panic!("{other}"),
    }
}

fn gateway(peer: &Peer, decompress: &str, route: &str) -> Leat {
    Leat::gateway(&config(url(peer), BARE, "", &format!("decompress: {decompress}{route}"), ""), 1)
}

fn post(leat: &Leat, fields: &str, body: &[u8]) -> leat_testkit::Client {
    let mut client = leat.connect();
    client.send(format!("POST / HTTP/1.1\r\nhost: h\r\n{fields}content-length: {}\r\n\r\n", body.len()));
    client.send(body);
    client
}

/// Bytes of four bits each, which no coder shortens much beyond half.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 1u64;
    let step = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b'a' + (state >> 60) as u8
    };
    (0..count).map(step).collect()
}

/// The content of a chunked message.
fn content(received: &[u8]) -> Vec<u8> {
    let at = received.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    let (mut rest, mut all) = (&received[at..], Vec::new());
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n").unwrap();
        let count = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        all.extend_from_slice(&rest[end + 2..end + 2 + count]);
        rest = &rest[end + 2 + count + 2..];
        if count == 0 {
            return all;
        }
    }
}

fn reads_chunks() -> Script {
    Script::new().expect_until("\r\n0\r\n\r\n").send(OK)
}

#[test]
fn the_upstream_gets_plain_bytes_of_every_coding() {
    for coding in CODINGS {
        for count in [1, 1_000, 70_000, 1_500_000] {
            let plain = noise(count);
            let peer = Peer::listen([reads_chunks()]);
            let leat = gateway(&peer, "{}", "");
            let fields = format!("Content-Encoding: {coding}\r\nX-Kept: 1\r\nrepr-digest: sha-256=:x:\r\n");
            let response = post(&leat, &fields, &coded(coding, &plain)).response();
            assert_eq!(response.text(), "ok", "{coding} {count}");
            drop(leat);
            let received = peer.finish().remove(0);
            assert_eq!(lines(&received), ["host: h", "X-Kept: 1", "transfer-encoding: chunked"], "{coding}");
            assert!(content(&received) == plain, "{coding} {count}");
        }
    }
}

#[test]
fn bodies_without_a_coding_pass_as_they_are() {
    for fields in ["", "content-encoding: identity\r\n", "content-encoding: \r\n"] {
        let peer = Peer::listen([Script::new().expect_until("hello").send(OK)]);
        let leat = gateway(&peer, "{}", "");
        assert_eq!(post(&leat, fields, b"hello").response().text(), "ok", "{fields}");
        drop(leat);
        let received = peer.finish().remove(0);
        assert!(lines(&received).contains(&"content-length: 5".to_owned()), "{fields}");
    }
    // No body, and so nothing that is coded, whatever the field says.
    let peer = Peer::listen([Script::new().expect_head().send(OK)]);
    let leat = gateway(&peer, "{}", "");
    let mut client = leat.connect();
    client.send("GET / HTTP/1.1\r\nhost: h\r\ncontent-encoding: compress\r\n\r\n");
    assert_eq!(client.response().text(), "ok");
}

#[test]
fn codings_that_are_not_taken_are_refused_with_those_that_are() {
    for (codings, asked, accepted) in [
        ("{}", "compress", "gzip, deflate, br, zstd"),
        ("{}", "gzip, br", "gzip, deflate, br, zstd"),
        ("{}", "gzip\r\ncontent-encoding: gzip", "gzip, deflate, br, zstd"),
        ("{ codings: [zstd, gzip] }", "br", "zstd, gzip"),
        ("{ codings: gzip }", "gzip;q=1", "gzip"),
    ] {
        let peer = Peer::listen([Script::new()]);
        let leat = gateway(&peer, codings, "");
        let response = post(&leat, &format!("content-encoding: {asked}\r\n"), b"hello").response();
        is_problem(&response, 415, "coding.unknown");
        assert_eq!(response.fields_named("accept-encoding"), [accepted], "{asked}");
        assert_eq!(peer.connections(), 0, "{asked}");
    }
    for asked in ["GZIP", "x-gzip", "identity, gzip"] {
        let peer = Peer::listen([reads_chunks()]);
        let leat = gateway(&peer, "{ codings: gzip }", "");
        let response = post(&leat, &format!("content-encoding: {asked}\r\n"), &coded("gzip", b"hello")).response();
        assert_eq!(response.text(), "ok", "{asked}");
    }
}

#[test]
fn what_is_no_such_coding_is_refused() {
    for coding in CODINGS {
        let whole = coded(coding, &vec![b'a'; 3_000]);
        // To none of them the beginning of anything.
        let changed = [&b"\x11\x1e\0\0"[..], &whole].concat();
        let behind = [&whole[..], b"garbage that stands behind it"].concat();
        for (body, code) in
            [(&whole[..whole.len() - 1], "coding.cut_off"), (&changed, "coding.invalid"), (&behind, "coding.invalid")]
        {
            let peer = Peer::listen([Script::new()]);
            let leat = gateway(&peer, "{}", "");
            let response = post(&leat, &format!("content-encoding: {coding}\r\n"), body).response();
            is_problem(&response, 400, code);
        }
    }
}

#[test]
fn bombs_end_at_the_ratio_or_at_the_limit() {
    let plain = vec![0; 50_000_000];
    for coding in CODINGS {
        let bomb = coded(coding, &plain);
        assert!(bomb.len() < 60_000, "{coding}: {}", bomb.len());
        for (decompress, code, passed_max) in [
            ("{}", "coding.ratio", 100 * bomb.len().max(2_622)),
            ("{ ratio_max: 1000000, bytes_max: 1MiB }", "coding.bytes", 1 << 20),
        ] {
            // It takes what comes, so that nothing but the limits holds the bomb back.
            let socket = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = format!("http://{}", socket.local_addr().unwrap());
            let upstream = std::thread::spawn(move || {
                let mut received = Vec::new();
                // The gateway ends the connection, in whatever way: the request was cut off.
                let _ = socket.accept().unwrap().0.read_to_end(&mut received);
                received
            });
            let route = format!("decompress: {decompress}");
            let leat = Leat::gateway(&config(address, BARE, "", &route, ""), 1);
            let response = post(&leat, &format!("content-encoding: {coding}\r\n"), &bomb).response();
            is_problem(&response, 413, code);
            let received = upstream.join().unwrap();
            assert!(!received.ends_with(b"0\r\n\r\n"), "{coding}: the upstream must not take it for whole");
            let zeros = received.iter().filter(|byte| **byte == 0).count();
            assert!(zeros <= passed_max, "{coding} {code}: {zeros} of {passed_max}");
        }
    }
}

#[test]
fn the_coded_body_has_the_limit_of_the_route_and_the_decoded_one_as_well() {
    for (plain, status, code) in [(900, 200, ""), (1_100, 413, "coding.bytes")] {
        let peer = Peer::listen([reads_chunks()]);
        let leat = gateway(&peer, "{}", ", limits: { body_bytes_max: 1000B }");
        let response = post(&leat, "content-encoding: gzip\r\n", &coded("gzip", &vec![b'a'; plain])).response();
        match status {
            200 => assert_eq!(response.text(), "ok"),
            _ => is_problem(&response, status, code),
        }
    }
    let peer = Peer::listen([Script::new()]);
    let leat = gateway(&peer, "{ bytes_max: 1MiB }", ", limits: { body_bytes_max: 1000B }");
    let response = post(&leat, "content-encoding: gzip\r\n", &coded("gzip", &noise(4_000))).response();
    is_problem(&response, 413, "limit.body_bytes");
}

#[test]
fn a_client_that_waits_for_100_is_asked_for_its_body() {
    let peer = Peer::listen([Script::new()
        .expect_head()
        .send("HTTP/1.1 100 Continue\r\n\r\n")
        .expect_until("0\r\n\r\n")
        .send(OK)]);
    let leat = gateway(&peer, "{}", "");
    let body = coded("gzip", b"hello");
    let mut client = leat.connect();
    client.send(format!(
        "POST / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        body.len()
    ));
    assert_eq!(first_line(&client.until("\r\n\r\n")), "HTTP/1.1 100 Continue");
    assert_eq!(client.send(&body).response().text(), "ok");
}

#[test]
fn another_try_sends_the_plain_bytes_again() {
    let fails = Script::new().expect_until("\r\n0\r\n\r\n").send("HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n");
    let peer = Peer::listen([fails.expect_until("\r\n0\r\n\r\n").send(OK)]);
    let retry = "retry: { statuses_any_method: 503 }";
    let leat = Leat::gateway(&config(url(&peer), BARE, "", "decompress: {}", retry), 1);
    let response = post(&leat, "content-encoding: br\r\n", &coded("br", b"hello again")).response();
    assert_eq!(response.text(), "ok");
    drop(leat);
    let received = peer.finish().remove(0);
    let body = b"\r\n\r\nb\r\nhello again\r\n0\r\n\r\n";
    assert_eq!(received.windows(body.len()).filter(|window| window == body).count(), 2);
}

#[test]
fn clients_of_http2_send_coded_bodies_too() {
    run(async {
        let whole = "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
        let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
        let peer = Peer::listen([Script::new().expect(whole).send(chunked)]);
        let leat = gateway(&peer, "{}", ", buffer_response: {}");
        let mut client = connect(leat.address(0)).await;
        let body = coded("zstd", b"hello");
        let length: &'static str = body.len().to_string().leak();
        let fields = [("content-encoding", "zstd"), ("content-length", length)];
        let (answer, mut out) = client.send_request(request("POST", "http://h/", &fields), false).unwrap();
        out.send_data(body.into(), true).unwrap();
        let answer = answer.await.unwrap();
        assert_eq!(answer.headers().get("content-length").unwrap(), "2");
        assert_eq!(rest(&mut answer.into_body()).await.0, b"ok");
        let fields = [("content-encoding", "compress")];
        let (answer, _out) = client.send_request(request("POST", "http://h/", &fields), false).unwrap();
        let answer = answer.await.unwrap();
        assert_eq!(answer.status(), 415);
        assert_eq!(answer.headers().get("accept-encoding").unwrap(), "gzip, deflate, br, zstd");
        spawn_blocking(|| peer.finish()).await.unwrap();
    });
}

/// The start of a Brotli stream that says that it has 256 codes each for literals and for distances (RFC 7932 section 9.2), of which
/// none is there yet: a window of 64 KiB, a block of 64 KiB, and two maps that are all of one symbol.
const MANY_CODES: [u8; 11] = [0xf0, 0xff, 0x0f, 0x00, 0xff, 0x17, 0x00, 0xfe, 0x2f, 0x00, 0x00];

#[test]
fn what_a_stream_says_that_it_will_need_is_taken_from_what_all_may_have() {
    // Two megabytes each, of the 64 MiB that the decoders of a core may hold.
    const MANY: usize = 60;
    // An upstream that ended a request would give its share back before the last one comes.
    let end = Gate::new();
    let peer = Peer::listen([Script::new().wait(&end).close()]);
    let leat = gateway(&peer, "{}", "");
    let begin = || {
        let mut client = leat.connect();
        let head = "POST / HTTP/1.1\r\nhost: h\r\ncontent-encoding: br\r\ncontent-length: 1000\r\n\r\n";
        client.send([head.as_bytes(), &MANY_CODES].concat());
        client
    };
    let mut open: Vec<_> = (0..MANY).map(|_| begin()).collect();
    is_problem(&open.pop().unwrap().response(), 503, "coding.busy");
    drop(open);
    end.open();
    // All is given back with the requests.
    eventually("a stream is let in", || {
        (post(&leat, "content-encoding: br\r\n", &coded("br", b"hello")).response().status != 503).then_some(())
    });
}
