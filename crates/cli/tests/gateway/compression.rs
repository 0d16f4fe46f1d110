//! Replies that are compressed on their way.

use std::io::{Read, Write};
use std::net::TcpStream;

use leat_testkit::{Folder, Gate, Leat, Peer, Response, Script};

use crate::support::{config, is_problem, url};

const CODINGS: [&str; 3] = ["gzip", "br", "zstd"];

fn decoded(coding: &str, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match coding {
        "gzip" => flate2::read::GzDecoder::new(bytes).read_to_end(&mut out),
        "br" => brotli::Decompressor::new(bytes, 4096).read_to_end(&mut out),
        "zstd" => zstd::stream::read::Decoder::new(bytes).unwrap().read_to_end(&mut out),
        other => panic!("{other}"),
    }
    .unwrap_or_else(|error| panic!("{coding}: {error}"));
    out
}

fn gateway(peer: &Peer, compression: &str) -> Leat {
    Leat::gateway(&config(url(peer), "", "", &format!("compression: {compression}"), ""), 1)
}

fn get(leat: &Leat, fields: &str) -> Response {
    let mut client = leat.connect();
    client.send(format!("GET / HTTP/1.1\r\nhost: h\r\n{fields}\r\n"));
    client.response()
}

/// A text that compresses as texts do.
fn text(count: usize) -> String {
    let mut state = 1u64;
    let mut words = String::with_capacity(count + 16);
    while words.len() < count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        words.push_str(["leat ", "mill ", "water ", "wheel ", "stone ", "flour "][(state >> 33) as usize % 6]);
    }
    words.truncate(count);
    words
}

#[test]
fn bodies_of_every_length_come_back_whole() {
    for coding in CODINGS {
        for count in [1, 1_023, 1_024, 16_384, 16_385, 100_000, 3_000_000] {
            let body = text(count);
            for chunked in [false, true] {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\n";
                let reply = match chunked {
                    true => {
                        format!("{head}transfer-encoding: chunked\r\n\r\n{count:x}\r\n{body}\r\n0\r\nx-sum: 7\r\n\r\n")
                    }
                    false => format!("{head}content-length: {count}\r\n\r\n{body}"),
                };
                let peer = Peer::listen([Script::new().expect_head().send(reply)]);
                let leat = gateway(&peer, "{}");
                let response = get(&leat, &format!("accept-encoding: {coding}\r\nte: trailers\r\n"));
                let what = format!("{coding} {count} {chunked}");
                if count < 1_024 && !chunked {
                    assert_eq!(response.field("content-encoding"), None, "{what}");
                    assert_eq!(response.text(), body, "{what}");
                    continue;
                }
                assert_eq!(response.field("content-encoding"), Some(coding), "{what}");
                assert_eq!(response.field("content-length"), None, "{what}");
                assert_eq!(response.fields_named("vary"), ["accept-encoding"], "{what}");
                assert!(decoded(coding, &response.body) == body.as_bytes(), "{what}");
                assert!(count < 10_000 || response.body.len() < count / 3, "{what}: {}", response.body.len());
                let trailers: Vec<_> = response.trailers.iter().map(|(name, _)| name.as_str()).collect();
                assert_eq!(trailers, if chunked { vec!["x-sum"] } else { vec![] }, "{what}");
            }
        }
    }
}

#[test]
fn what_gains_nothing_or_may_not_goes_as_it_is() {
    let body = text(2_000);
    for (status, fields, asked, vary) in [
        (200, "content-type: text/plain\r\n", "", true),
        (200, "content-type: text/plain\r\n", "accept-encoding: identity, gzip;q=0\r\n", true),
        (200, "content-type: text/plain\r\n", "accept-encoding: deflate\r\n", true),
        (200, "content-type: image/png\r\n", "accept-encoding: gzip\r\n", false),
        (200, "", "accept-encoding: gzip\r\n", false),
        (200, "content-type: text/event-stream\r\n", "accept-encoding: gzip\r\n", false),
        (200, "content-type: application/grpc\r\n", "accept-encoding: gzip\r\n", false),
        (200, "content-type: text/plain\r\ncontent-encoding: br\r\n", "accept-encoding: gzip\r\n", false),
        (
            200,
            "content-type: text/plain\r\ncache-control: public, no-transform\r\n",
            "accept-encoding: gzip\r\n",
            false,
        ),
        (200, "content-type: text/plain\r\nrepr-digest: sha-256=:x:\r\n", "accept-encoding: gzip\r\n", false),
        (206, "content-type: image/png\r\ncontent-range: bytes 0-1999/9000\r\n", "accept-encoding: gzip\r\n", false),
        // A part has the `vary` of the whole.
        (206, "content-type: text/plain\r\ncontent-range: bytes 0-1999/9000\r\n", "accept-encoding: gzip\r\n", true),
    ] {
        let reply = format!("HTTP/1.1 {status} X\r\n{fields}etag: \"1\"\r\ncontent-length: 2000\r\n\r\n{body}");
        let peer = Peer::listen([Script::new().expect_head().send(reply)]);
        let leat = gateway(&peer, "{}");
        let response = get(&leat, asked);
        assert_eq!(response.text(), body, "{fields} {asked}");
        assert_eq!(response.field("content-length"), Some("2000"));
        assert_eq!(response.field("etag"), Some("\"1\""), "{fields} {asked}");
        assert_eq!(response.field("vary").is_some(), vary, "{fields} {asked}");
    }
}

#[test]
fn the_head_tells_of_the_coded_body() {
    let body = text(2_000);
    for (fields, asked, coding, etag) in [
        ("etag: \"1\"\r\naccept-ranges: bytes\r\n", "gzip", "gzip", "W/\"1\""),
        ("etag: W/\"1\"\r\ncontent-encoding: identity\r\n", "GZIP;q=0.5, br", "br", "W/\"1\""),
        ("etag: W/\"1\"\r\n", "gzip, br, zstd", "zstd", "W/\"1\""),
        ("etag: W/\"1\"\r\n", "*", "zstd", "W/\"1\""),
    ] {
        let head =
            format!("HTTP/1.1 404 X\r\nContent-Type: Application/Problem+JSON\r\n{fields}content-length: 2000\r\n\r\n");
        let peer = Peer::listen([Script::new().expect_head().send(head + &body)]);
        let leat = gateway(&peer, "{}");
        let response = get(&leat, &format!("accept-encoding: {asked}\r\n"));
        assert_eq!(response.status, 404);
        assert_eq!(response.fields_named("content-encoding"), [coding], "{asked}");
        assert_eq!(response.field("etag"), Some(etag));
        assert_eq!(response.field("accept-ranges"), None);
        assert!(decoded(coding, &response.body) == body.as_bytes());
    }
}

#[test]
fn replies_without_a_body_stay_without() {
    for (method, status, fields) in [
        ("HEAD", 200, "content-type: text/plain\r\ncontent-length: 20\r\n"),
        ("HEAD", 200, "content-type: image/png\r\ncontent-length: 2000\r\n"),
        ("HEAD", 204, "content-type: text/plain\r\n"),
        ("GET", 304, "content-type: text/plain\r\netag: \"1\"\r\n"),
        ("GET", 204, "content-type: text/plain\r\n"),
    ] {
        let peer = Peer::listen([Script::new().expect_head().send(format!("HTTP/1.1 {status} X\r\n{fields}\r\n"))]);
        let leat = gateway(&peer, "{}");
        let mut client = leat.connect();
        client.send(format!("{method} / HTTP/1.1\r\nhost: h\r\naccept-encoding: gzip\r\n\r\n"));
        let response = client.response_to(method);
        assert_eq!((response.status, response.field("content-encoding")), (status, None));
        assert!(response.body.is_empty());
    }
}

#[test]
fn a_cache_that_asks_again_finds_what_it_has() {
    for (has, fields, wanted) in [
        ("W/\"1\"", "etag: \"1\"\r\n", "etag: W/\"1\"|vary: accept-encoding"),
        ("\"0\", W/\"1\"", "etag: \"1\"\r\nvary: origin\r\n", "etag: W/\"1\"|vary: origin|vary: accept-encoding"),
        ("\"1\"", "etag: \"1\"\r\n", "etag: \"1\"|vary: accept-encoding"),
        ("W/\"1\"", "etag: W/\"1\"\r\n", "etag: W/\"1\"|vary: accept-encoding"),
        ("W/\"1\"", "etag: \"1\"\r\ncache-control: no-transform\r\n", "etag: \"1\"|cache-control: no-transform"),
        // Named by the upstream: not twice.
        ("\"1\"", "etag: \"1\"\r\nvary: origin, Accept-Encoding\r\n", "etag: \"1\"|vary: origin, Accept-Encoding"),
        ("\"1\"", "vary: *\r\n", "vary: *"),
    ] {
        let reply = format!("HTTP/1.1 304 Not Modified\r\n{fields}\r\n");
        let peer = Peer::listen([Script::new().expect_head().send(reply)]);
        let leat = gateway(&peer, "{}");
        let response = get(&leat, &format!("accept-encoding: gzip\r\nif-none-match: {has}\r\n"));
        let found: Vec<String> = (response.fields.iter())
            .filter(|(name, _)| !["date", "x-request-id"].contains(&name.as_str()))
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)))
            .collect();
        assert_eq!((response.status, found.join("|")), (304, wanted.to_owned()), "{has} {fields}");
    }
}

#[test]
fn head_is_told_what_get_would_get() {
    for (fields, asked, wanted) in [
        (
            "etag: \"1\"\r\naccept-ranges: bytes\r\ncontent-length: 2000\r\n",
            "gzip",
            "etag: W/\"1\"|content-encoding: gzip|vary: accept-encoding",
        ),
        ("", "br", "content-encoding: br|vary: accept-encoding"),
        ("content-length: 2000\r\n", "identity", "content-length: 2000|vary: accept-encoding"),
        ("content-length: 1023\r\n", "gzip", "content-length: 1023"),
        ("content-length: 0\r\n", "gzip", "content-length: 0"),
        ("content-length: 2000\r\ncontent-encoding: br\r\n", "gzip", "content-length: 2000|content-encoding: br"),
    ] {
        let reply = format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n{fields}\r\n");
        let peer = Peer::listen([Script::new().expect_head().send(reply.clone()).expect_head().send(reply)]);
        let leat = gateway(&peer, "{}");
        let mut client = leat.connect();
        for _ in 0..2 {
            client.send(format!("HEAD / HTTP/1.1\r\nhost: h\r\naccept-encoding: {asked}\r\n\r\n"));
            let response = client.response_to("HEAD");
            let found: Vec<String> = (response.fields.iter())
                .filter(|(name, _)| !["date", "content-type", "x-request-id"].contains(&name.as_str()))
                .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)))
                .collect();
            assert_eq!(found.join("|"), wanted, "{fields} {asked}");
        }
    }
}

#[test]
fn a_client_can_read_all_that_the_upstream_has_said() {
    for coding in CODINGS {
        let gate = Gate::new();
        let peer = Peer::listen([Script::new()
            .expect_head()
            .send("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n")
            .wait(&gate)
            .send("4\r\nlast\r\n0\r\n\r\n")]);
        let leat = gateway(&peer, "{}");
        // HTTP/1.0: no chunks around what is read here.
        let mut socket = TcpStream::connect(leat.address(0)).unwrap();
        write!(socket, "GET / HTTP/1.0\r\nhost: h\r\naccept-encoding: {coding}\r\n\r\n").unwrap();
        let (mut received, mut piece) = (Vec::new(), [0; 4096]);
        while read_so_far(coding, &received) != b"first" {
            let count = socket.read(&mut piece).unwrap();
            assert!(count > 0, "{coding}: the end came first");
            received.extend_from_slice(&piece[..count]);
        }
        gate.open();
        socket.read_to_end(&mut received).unwrap();
        assert_eq!(read_so_far(coding, &received), b"firstlast", "{coding}");
    }
}

/// What a decoder makes of the body so far.
fn read_so_far(coding: &str, received: &[u8]) -> Vec<u8> {
    let Some(at) = received.windows(4).position(|window| window == b"\r\n\r\n") else { return Vec::new() };
    let body = &received[at + 4..];
    let mut reader: Box<dyn Read> = match coding {
        "gzip" => Box::new(flate2::read::GzDecoder::new(body)),
        "br" => Box::new(brotli::Decompressor::new(body, 4096)),
        _ => Box::new(zstd::stream::read::Decoder::new(body).unwrap()),
    };
    let (mut out, mut byte) = (Vec::new(), [0]);
    while let Ok(1) = reader.read(&mut byte) {
        out.push(byte[0]);
    }
    out
}

#[test]
fn encoders_are_few_and_replies_beyond_them_go_as_they_are() {
    // One more than a core has.
    const CLIENTS: usize = 65;
    let gate = Gate::new();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n";
    let script = Script::new()
        .expect_head()
        .send(head)
        .wait(&gate)
        .send("1\r\nb\r\n0\r\n\r\n")
        .expect_head()
        .send(head)
        .send("0\r\n\r\n");
    let peer = Peer::listen(vec![script; CLIENTS]);
    let leat = gateway(&peer, "{}");
    let request = "GET / HTTP/1.1\r\nhost: h\r\naccept-encoding: gzip\r\n\r\n";
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| leat.connect()).collect();
    let mut plain = 0;
    for client in &mut clients {
        let head = client.send(request).until("\r\n\r\n");
        plain += usize::from(!String::from_utf8_lossy(&head).contains("content-encoding: gzip"));
    }
    assert_eq!(plain, 1);
    gate.open();
    clients.iter_mut().for_each(|client| drop(client.until("0\r\n\r\n")));
    // They are given back.
    assert_eq!(clients[0].send(request).response().field("content-encoding"), Some("gzip"));
}

#[test]
fn a_body_that_is_cut_off_is_seen_to_be() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 9000\r\n\r\n".to_owned();
    let gate = Gate::new();
    let peer = Peer::listen([Script::new().expect_head().send(head + &text(5_000)).wait(&gate).close()]);
    let leat = gateway(&peer, "{}");
    let mut client = leat.connect();
    client.send("GET / HTTP/1.1\r\nhost: h\r\naccept-encoding: gzip\r\n\r\n").until("\r\n\r\n");
    gate.open();
    assert!(!client.rest().ends_with(b"0\r\n\r\n"), "the body looks complete");
}

#[test]
fn files_are_compressed_and_the_gateway_s_own_words_are_not() {
    let folder = Folder::new();
    let body = text(5_000);
    folder.write("a.txt", &body);
    let root = folder.path().display();
    let leat = Leat::gateway(
        &format!(
            "listeners: 127.0.0.1:0\nworkers: 1\nroutes:\n  - {{ compression: {{ codings: gzip, bytes_min: 0 }}, files: \"{root}\" }}\n"
        ),
        1,
    );
    let mut client = leat.connect();
    for _ in 0..2 {
        client.send("GET /a.txt HTTP/1.1\r\nhost: h\r\naccept-encoding: br, gzip\r\n\r\n");
        let response = client.response();
        assert_eq!(response.field("content-encoding"), Some("gzip"));
        assert!(decoded("gzip", &response.body) == body.as_bytes());
    }
    client.send("GET /b.txt HTTP/1.1\r\nhost: h\r\naccept-encoding: gzip\r\n\r\n");
    is_problem(&client.response(), 404, "file.not_found");
    client.send("GET /a.txt HTTP/1.1\r\nhost: h\r\naccept-encoding: gzip\r\nrange: bytes=0-3\r\n\r\n");
    let part = client.response();
    assert_eq!((part.status, part.text()), (206, &body[..4]));
}
