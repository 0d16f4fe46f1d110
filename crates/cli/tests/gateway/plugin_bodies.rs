//! Bodies that plug-ins read and change: what the two sides get, and what is left alone.

use leat_testkit::{Gate, Peer, Script, eventually};
use tokio::task::spawn_blocking;

use crate::h2_peers::{connect, listed, request, rest, run};
use crate::plugins::gateway;
use crate::support::{OK, answers, is_problem, url};

const JSON: &str = "{\"a\": 7 }";

fn post(body: &str, chunked: bool) -> String {
    if !chunked {
        return format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\nX-A: 1\r\n\r\n{body}", body.len());
    }
    let (first, second) = body.split_at(body.len() / 2);
    let chunk = |part: &str| format!("{:x}\r\n{part}\r\n", part.len());
    let chunks = [chunk(first), chunk(second)].concat();
    format!(
        "POST / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\nTrailer: x-t\r\n\r\n{chunks}0\r\nx-t: 1\r\n\r\n"
    )
}

#[test]
fn a_plugin_reads_and_changes_the_body_of_a_request() {
    let same = "Trailer: x-t\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{\"a\": 7 }\r\n0\r\nx-t: 1\r\n\r\n";
    for (hooks, known, chunked) in [
        // Read alone, it goes on as it came, and so do its trailers.
        (
            "bodies: 'request', onRequest: ({ request }) => ({ headers: { 'x-a': String(body(request).json().a + 1) } })",
            "Content-Length: 9\r\nX-A: 8\r\n\r\n{\"a\": 7 }",
            format!("X-A: 8\r\n{same}"),
        ),
        (
            "bodies: 'request', onResponse() {}",
            "Content-Length: 9\r\nX-A: 1\r\n\r\n{\"a\": 7 }",
            format!("X-A: 1\r\n{same}"),
        ),
        (
            "bodies: ['request'], onRequest: ({ request }) => ({ body: JSON.stringify({ ...body(request).json(), b: 'ü' }) })",
            "Content-Length: 16\r\nX-A: 1\r\n\r\n{\"a\":7,\"b\":\"ü\"}",
            "X-A: 1\r\ncontent-length: 16\r\n\r\n{\"a\":7,\"b\":\"ü\"}".to_owned(),
        ),
        (
            "bodies: 'request', onRequest: ({ request }) => ({ body: body(request).bytes().subarray(0, 2) })",
            "Content-Length: 2\r\nX-A: 1\r\n\r\n{\"",
            "X-A: 1\r\ncontent-length: 2\r\n\r\n{\"".to_owned(),
        ),
        (
            "onRequest: () => ({ body: null })",
            "Content-Length: 0\r\nX-A: 1\r\n\r\n",
            "X-A: 1\r\ncontent-length: 0\r\n\r\n".to_owned(),
        ),
        // Nobody has to read it to put another one there.
        (
            "onRequest: () => ({ body: 'other' })",
            "Content-Length: 5\r\nX-A: 1\r\n\r\nother",
            "X-A: 1\r\ncontent-length: 5\r\n\r\nother".to_owned(),
        ),
        (
            "bodies: 'request', around: async (context, next) => next({ body: body(context.request).text() + '!' })",
            "Content-Length: 10\r\nX-A: 1\r\n\r\n{\"a\": 7 }!",
            "X-A: 1\r\ncontent-length: 10\r\n\r\n{\"a\": 7 }!".to_owned(),
        ),
        (
            "bodies: 'request', async onRequest({ request }) { await null; return { body: body(request).text() + '.' }; }",
            "Content-Length: 10\r\nX-A: 1\r\n\r\n{\"a\": 7 }.",
            "X-A: 1\r\ncontent-length: 10\r\n\r\n{\"a\": 7 }.".to_owned(),
        ),
    ] {
        for (is_chunked, rest) in [(false, known), (true, chunked.as_str())] {
            let wanted = format!("POST / HTTP/1.1\r\nHost: h\r\n{rest}");
            // Twice on one connection: both are in order afterwards.
            let peer = Peer::listen([Script::new().expect(wanted.clone()).send(OK).expect(wanted).send(OK)]);
            let leat = gateway(&url(&peer), hooks, "");
            let mut client = leat.connect();
            for _ in 0..2 {
                let response = client.send(post(JSON, is_chunked)).response();
                assert_eq!(response.text(), "ok", "{hooks}, chunked: {is_chunked}");
            }
            drop((client, leat));
            assert_eq!(peer.finish().len(), 1, "{hooks}, chunked: {is_chunked}");
        }
    }
}

#[test]
fn a_plugin_reads_and_changes_the_body_of_a_response() {
    const READ: &str = "bodies: 'response', onResponse: ({ response }) => ";
    for (hooks, known, chunked) in [
        (
            format!("{READ}({{ headers: {{ 'x-length': String(body(response).text().length) }} }})"),
            "Content-Length: 5|X-A: 1|x-length: 5|hello",
            "X-A: 1|x-length: 5|transfer-encoding: chunked|hello|x-t: 1",
        ),
        (format!("{READ}undefined"), "Content-Length: 5|X-A: 1|hello", "X-A: 1|transfer-encoding: chunked|hello|x-t: 1"),
        (
            format!("{READ}({{ body: body(response).text().toUpperCase() + '!' }})"),
            "X-A: 1|content-length: 6|HELLO!",
            "X-A: 1|content-length: 6|HELLO!",
        ),
        (
            format!("{READ}({{ status: 203, body: body(response).bytes().subarray(1) }})"),
            "X-A: 1|content-length: 4|ello",
            "X-A: 1|content-length: 4|ello",
        ),
        (
            "bodies: 'response', async around(context, next) { const response = await next(); await null; return patchResponse(response, { body: body(response).text() + '?' }); }".to_owned(),
            "X-A: 1|content-length: 6|hello?",
            "X-A: 1|content-length: 6|hello?",
        ),
        (
            "bodies: 'response', async onResponse({ response }) { await new Promise((done) => setTimeout(done, 5)); return { body: body(response).text() + '?' }; }".to_owned(),
            "X-A: 1|content-length: 6|hello?",
            "X-A: 1|content-length: 6|hello?",
        ),
    ] {
        for (is_chunked, wanted) in [(false, known), (true, chunked)] {
            let reply = match is_chunked {
                false => "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\n\r\nhello",
                true => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\nx-t: 1\r\n\r\n",
            };
            let peer = Peer::listen([answers(reply, 2)]);
            let leat = gateway(&url(&peer), &hooks, "");
            let mut client = leat.connect();
            for _ in 0..2 {
                let response = client.get("/").response();
                let fields = response.fields.iter().filter(|(name, _)| name != "date");
                let mut got: Vec<String> =
                    fields.map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value))).collect();
                got.push(response.text().to_owned());
                got.extend(response.trailers.iter().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value))));
                assert_eq!(got.join("|"), wanted, "{hooks}, chunked: {is_chunked}");
            }
            assert_eq!(peer.connections(), 1, "{hooks}: the upstream's connection is used again");
        }
    }
}

#[test]
fn what_has_no_body_has_an_empty_one() {
    let hooks = "bodies: ['request', 'response'], onRequest: ({ request }) => ({ headers: { 'x-sent': String(body(request).bytes().length) } }), onResponse: ({ response }) => ({ headers: { 'x-got': String(body(response).text().length) } })";
    for (method, reply, length, got) in [
        ("GET", "200 OK\r\ncontent-length: 2\r\n\r\nok", Some("2"), "2"),
        ("HEAD", "200 OK\r\ncontent-length: 2\r\n\r\n", Some("2"), "0"),
        ("HEAD", "200 OK\r\n\r\n", None, "0"),
        ("GET", "204 No Content\r\n\r\n", None, "0"),
        ("GET", "304 Not Modified\r\ncontent-length: 2\r\n\r\n", Some("2"), "0"),
        ("GET", "200 OK\r\ncontent-length: 0\r\n\r\n", Some("0"), "0"),
    ] {
        let peer = Peer::listen([answers(&format!("HTTP/1.1 {reply}"), 2)]);
        let leat = gateway(&url(&peer), hooks, "");
        let mut client = leat.connect();
        for _ in 0..2 {
            let response = client.send(format!("{method} / HTTP/1.1\r\nhost: h\r\n\r\n")).response_to(method);
            assert_eq!(
                (response.field("content-length"), response.field("x-got")),
                (length, Some(got)),
                "{method} {reply}"
            );
        }
        drop((client, leat));
        let received = peer.finish();
        assert_eq!(received.len(), 1, "{method} {reply}");
        assert!(String::from_utf8_lossy(&received[0]).contains("x-sent: 0\r\n"), "{method} {reply}");
    }
}

#[test]
fn what_is_made_of_a_body_that_does_not_come_says_no_length() {
    let hooks = "bodies: 'response', onResponse: ({ response }) => ({ body: body(response).text() + '!' })";
    for (method, reply) in [
        ("HEAD", "200 OK\r\ncontent-length: 2\r\n\r\n"),
        ("GET", "304 Not Modified\r\ncontent-length: 2\r\n\r\n"),
        ("GET", "204 No Content\r\n\r\n"),
    ] {
        let peer = Peer::listen([answers(&format!("HTTP/1.1 {reply}"), 2)]);
        let leat = gateway(&url(&peer), hooks, "");
        let mut client = leat.connect();
        for _ in 0..2 {
            let response = client.send(format!("{method} / HTTP/1.1\r\nhost: h\r\n\r\n")).response_to(method);
            assert_eq!(response.field("content-length"), None, "{method} {reply}");
        }
    }
}

#[test]
fn bodies_that_are_too_long_are_refused_or_pass() {
    let read = "bodies: ['request', 'response'], onRequest: ({ request }) => ({ headers: { 'x-read': String(body(request) !== undefined) } }), onResponse: ({ response }) => ({ headers: { 'x-read': String(body(response) !== undefined) } })";
    let limits = |more: &str| format!("plugin_limits: {{ body_bytes_max: 8B{more} }}");
    let long = "123456789";
    for is_chunked in [false, true] {
        // A request.
        let peer = Peer::listen([answers(OK, 1)]);
        let leat = gateway(&url(&peer), read, &limits(""));
        is_problem(&leat.connect().send(post(long, is_chunked)).response(), 413, "plugin.request_body");
        assert_eq!(leat.connect().send(post("12345678", is_chunked)).response().text(), "ok", "as long as may be");
        drop(leat);
        let rest = match is_chunked {
            false => "Content-Length: 9\r\nX-A: 1\r\nx-read: false\r\n\r\n123456789",
            true => {
                "X-A: 1\r\nTrailer: x-t\r\nx-read: false\r\ntransfer-encoding: chunked\r\n\r\n4\r\n1234\r\n5\r\n56789\r\n0\r\nx-t: 1\r\n\r\n"
            }
        };
        let peer = Peer::listen([Script::new().expect(format!("POST / HTTP/1.1\r\nHost: h\r\n{rest}")).send(OK)]);
        let leat = gateway(&url(&peer), read, &limits(", long_bodies: pass"));
        assert_eq!(leat.connect().send(post(long, is_chunked)).response().text(), "ok");
        drop(leat);
        peer.finish();
        // A response.
        let reply = match is_chunked {
            false => "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123456789",
            true => {
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n1234\r\n5\r\n56789\r\n0\r\nx-t: 1\r\n\r\n"
            }
        };
        let peer = Peer::listen([answers(reply, 1), answers(OK, 1)]);
        let mut leat = gateway(&url(&peer), read, &limits(""));
        let mut client = leat.connect();
        is_problem(&client.get("/").response(), 502, "plugin.response_body");
        assert_eq!(client.get("/").response().text(), "ok", "the client's connection goes on");
        leat.wait_log("the access record", |line| line.contains("\"reason\":\"plugin.response_body\""));
        let peer = Peer::listen([answers(reply, 2)]);
        let leat = gateway(&url(&peer), read, &limits(", long_bodies: pass"));
        let mut client = leat.connect();
        for _ in 0..2 {
            let response = client.get("/").response();
            assert_eq!((response.text(), response.field("x-read")), (long, Some("false")), "chunked: {is_chunked}");
            assert_eq!(response.trailers.len(), usize::from(is_chunked));
        }
    }
}

#[test]
fn a_long_body_passes_whole_beside_plugins() {
    // Far more than any buffer, in both directions.
    let bytes = 3_000_000;
    let hooks = "bodies: ['request', 'response'], onRequest() {}, onResponse() {}";
    let head = format!("content-length: {bytes}\r\n\r\n");
    let peer = Peer::listen([Script::new()
        .expect_head()
        .expect_bytes(bytes)
        .send(format!("HTTP/1.1 200 OK\r\n{head}"))
        .send_bytes(bytes)]);
    let leat = gateway(&url(&peer), hooks, "plugin_limits: { long_bodies: pass }");
    let mut client = leat.connect();
    client.send(format!("POST / HTTP/1.1\r\nhost: h\r\n{head}")).send_bytes(bytes);
    client.until("\r\n\r\n");
    client.discard(bytes);
    drop((client, leat));
    peer.finish();
}

#[test]
fn a_text_in_place_of_a_coded_body_is_not_coded() {
    let coded = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nok";
    for (hooks, coding) in [
        ("bodies: 'response', onResponse: ({ response }) => ({ body: body(response).bytes() })", Some("gzip")),
        ("onResponse: () => ({ body: 'plain' })", None),
        ("onResponse: () => ({ body: 'said', headers: { 'content-encoding': 'br' } })", Some("br")),
        ("onResponse() {}", Some("gzip")),
    ] {
        let peer = Peer::listen([answers(coded, 1)]);
        let leat = gateway(&url(&peer), hooks, "");
        assert_eq!(leat.connect().get("/").response().field("content-encoding"), coding, "{hooks}");
    }
    let peer =
        Peer::listen([Script::new().expect("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nplain").send(OK)]);
    let leat = gateway(&url(&peer), "onRequest: () => ({ body: 'plain' })", "");
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(leat.connect().send(head).response().text(), "ok");
    drop(leat);
    peer.finish();
}

#[test]
fn an_outer_plugin_may_answer_before_the_body_is_read() {
    // The client never sends it.
    let hooks = "onRequest: ({ request }) => request.headers['x-key'] ? undefined : { respond: { status: 401, headers: {}, body: 'no' } } }), middleware({ name: 'reads', scope: 'call', bodies: 'request', onRequest: ({ request }) => ({ headers: { 'x-key': body(request).text() } })";
    let folder = leat_testkit::Folder::new();
    let text = crate::plugins::module("it", hooks).replace("default middleware(", "default [middleware(");
    folder.write("it.mjs", text.trim_end().trim_end_matches(';').to_owned() + "];");
    let peer = Peer::listen([answers(OK, 1)]);
    let root = format!("{}\nplugins: {{ it: it.mjs }}", crate::support::BARE);
    let config = crate::support::config(url(&peer), &root, "", "plugins: it", "");
    let leat = leat_testkit::Leat::gateway_in(folder, &config, 1);
    let head = "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n";
    assert_eq!(leat.connect().send(format!("{head}\r\n")).response().status, 401);
    assert_eq!(leat.connect().send(format!("{head}x-key: 1\r\n\r\nhello")).response().text(), "ok");
    drop(leat);
    assert!(String::from_utf8_lossy(&peer.finish()[0]).contains("x-key: hello"));
}

#[test]
fn a_client_that_waits_for_100_is_asked_for_the_body_that_a_plugin_reads() {
    let hooks = "bodies: 'request', onRequest: ({ request }) => ({ headers: { 'x-body': body(request).text() } })";
    let peer = Peer::listen([Script::new().expect_until("\r\n\r\nhello").send(OK)]);
    let leat = gateway(&url(&peer), hooks, "");
    let mut client = leat.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n");
    client.until("HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(client.send("hello").response().text(), "ok");
}

#[test]
fn a_stream_that_no_plugin_reads_is_not_held_up() {
    let gate = Gate::new();
    let script =
        Script::new().expect_head().send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    let peer = Peer::listen([script.wait(&gate).send("4\r\nlast\r\n0\r\n\r\n")]);
    let leat = gateway(&url(&peer), "bodies: 'request', onRequest() {}, onResponse() {}", "");
    let mut client = leat.connect();
    client.get("/").until("first\r\n");
    gate.open();
    client.until("0\r\n\r\n");
}

#[test]
fn what_goes_wrong_with_a_body_is_answered_with_its_reason() {
    for (hooks, limits, status, code, told) in [
        (
            "bodies: 'request', onRequest: ({ request }) => body(request).json()",
            "",
            500,
            "plugin.failed",
            "SyntaxError",
        ),
        (
            "bodies: 'response', onResponse() { throw new TypeError('late'); }",
            "",
            500,
            "plugin.failed",
            "TypeError: late",
        ),
        ("onRequest: ({ request }) => ({ body: request.body })", "", 500, "plugin.failed", "was not read"),
        ("onRequest: () => ({ body: { a: 1 } })", "", 500, "plugin.failed", "JSON.stringify"),
        ("bodies: 'request', onRequest() { for (;;); }", "turn_time: 50ms", 503, "plugin.turn_time", "ran for more"),
        ("async onRequest() { await null; for (;;); }", "turn_time: 50ms", 503, "plugin.turn_time", "ran for more"),
        ("bodies: 'response', onResponse() { for (;;); }", "turn_time: 50ms", 503, "plugin.turn_time", "ran for more"),
        (
            "bodies: 'request', onRequest: () => new Promise(() => {})",
            "wait_time: 50ms",
            504,
            "plugin.wait_time",
            "waited for more",
        ),
        (
            "bodies: 'response', onResponse: () => new Promise(() => {})",
            "wait_time: 50ms",
            504,
            "plugin.wait_time",
            "waited for more",
        ),
        (
            "kept: [], bodies: 'response', onResponse() { for (;;) this.kept.push(new Uint8Array(100_000)); }",
            "memory: 16MB",
            503,
            "plugin.lost",
            "out of memory",
        ),
        ("bodies: 'request', onRequest() { process.exit(3); }", "", 503, "plugin.lost", "ended the process"),
        (
            "bodies: 'request', onRequest: ({ request }) => ({ body: 'x'.repeat(9_000_000) })",
            "",
            500,
            "plugin.failed",
            "at most 8 MiB",
        ),
    ] {
        let peer = Peer::listen([answers(OK, 2), answers(OK, 2), answers(OK, 2)]);
        let mut leat = gateway(&url(&peer), hooks, &format!("plugin_limits: {{ {limits} }}"));
        for _ in 0..2 {
            is_problem(&leat.connect().send(post("not json", false)).response(), status, code);
        }
        let line = leat.wait_log("the reason", |line| line.contains("\"event\":\"plugin_failed\""));
        assert!(line.contains(told) && line.contains(code), "{hooks}: {line}");
    }
}

#[test]
fn bodies_take_a_part_of_the_memory_and_no_more() {
    // A quarter of 16 MB is room for 61 bodies of 64 KiB, each of which waits.
    let hooks = "bodies: 'request', onRequest: ({ request }) => request.headers['x-stay'] ? new Promise(() => {}) : { respond: { status: 200, headers: {}, body: 'room' } }";
    let leat = gateway("http://127.0.0.1:1", hooks, "plugin_limits: { memory: 16MB }");
    let body = "x".repeat(64 * 1024);
    let head = format!("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: {}\r\n", body.len());
    let ask = || leat.connect().send(format!("{head}\r\n{body}")).response();
    let mut waiting = Vec::new();
    for _ in 0..61 {
        assert_eq!(ask().text(), "room");
        waiting.push(leat.connect());
        waiting.last_mut().unwrap().send(format!("{head}x-stay: 1\r\n\r\n{body}"));
    }
    let refused = eventually("the refusal", || Some(ask()).filter(|response| response.status == 503));
    is_problem(&refused, 503, "plugin.busy");
    drop(waiting);
    eventually("room", || Some(ask()).filter(|response| response.text() == "room"));
}

#[test]
fn bodies_are_read_on_http2_too() {
    run(async {
        let peer = Peer::listen([Script::new()
            .expect("POST /x HTTP/1.1\r\nhost: leat.test\r\ncontent-length: 6\r\n\r\nhello!")
            .send(
                "HTTP/1.1 200 OK\r\nserver: up\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n",
            )]);
        let hooks = "bodies: ['request', 'response'], onRequest: ({ request }) => ({ body: body(request).text() + '!' }), onResponse: ({ response }) => ({ headers: { 'x-got': body(response).text() } })";
        let leat = gateway(&url(&peer), hooks, "");
        let mut client = connect(leat.address(0)).await;
        let (answer, mut out) = client.send_request(request("POST", "http://leat.test/x", &[]), false).unwrap();
        out.send_data("hello".into(), true).unwrap();
        let answer = answer.await.unwrap();
        let got = listed(answer.headers());
        assert!(answer.status() == 200 && got.contains(&"x-got: ok".to_owned()), "{got:?}");
        assert_eq!(rest(&mut answer.into_body()).await, (b"ok".to_vec(), vec!["x-sum: 1".to_owned()]));
        spawn_blocking(|| peer.finish()).await.unwrap();
    });
}

#[test]
fn the_same_file_reads_bodies_here_and_in_the_transport() {
    let folder = leat_testkit::Folder::new();
    // `same_file.test.mjs` beside it is the other half.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packages/leat/test/gateway/orders.mjs");
    folder.write("it.mjs", std::fs::read(file).unwrap());
    let peer = Peer::listen([Script::new()
        .expect("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 27\r\nX-A: 1\r\n\r\n{\"amount\":5,\"checked\":true}")
        .send("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{\"a\":1}")]);
    let root = format!("{}\nadmin: 127.0.0.1:0\nplugins: {{ it: it.mjs }}", crate::support::BARE);
    let config = crate::support::config(url(&peer), &root, "", "plugins: it", "");
    let mut leat = leat_testkit::Leat::gateway_in(folder, &config, 1);
    let answer = leat.connect().send(post("{\"amount\":5}", false)).response();
    assert_eq!(answer.text(), "{\"a\":1,\"seen\":true}");
    let admin = leat.admin();
    let page = leat_testkit::Client::connect(admin).get("/metrics").response().text().to_owned();
    assert!(page.contains("leat_plugin_checked_total{size=\"small\"} 1\n"), "{page}");
}
