//! Exchanges over HTTP/2, with the h2 crate's client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason as Code, RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use leat_message::{Limits, Profile, Reason};
use leat_serve::{OnError, Protocol};
use leat_stream::memory;
use leat_testkit::eventually;
use support::{Options, Server, pattern};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// One at a time, those that look at the memory of the process.
static ALONE: Mutex<()> = Mutex::const_new(());

type Client = SendRequest<Bytes>;
type Connection = JoinHandle<Result<(), h2::Error>>;

async fn connect_with(server: &Server, builder: &h2::client::Builder) -> (Client, Connection) {
    let stream = TcpStream::connect(server.address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (client, connection) = builder.handshake(stream).await.unwrap();
    (client, tokio::spawn(connection))
}

async fn connect(server: &Server) -> (Client, Connection) {
    connect_with(server, &h2::client::Builder::new()).await
}

fn request(method: &str, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(format!("http://leat.test{path}"))
}

async fn open(client: &Client, request: http::request::Builder, end: bool) -> (ResponseFuture, SendStream<Bytes>) {
    let mut ready = client.clone().ready().await.unwrap();
    ready.send_request(request.body(()).unwrap(), end).unwrap()
}

/// Sends all of a body as the window allows.
async fn send(stream: &mut SendStream<Bytes>, mut body: Bytes, end: bool) -> Result<(), h2::Error> {
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let capacity = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await;
        let capacity = capacity.ok_or(Code::STREAM_CLOSED)??;
        let piece = body.split_to(capacity.min(body.len()));
        stream.send_data(piece, end && body.is_empty())?;
    }
    Ok(())
}

async fn collect(mut body: RecvStream) -> Result<(Vec<u8>, Option<HeaderMap>), h2::Error> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        body.flow_control().release_capacity(piece.len())?;
        bytes.extend_from_slice(&piece);
    }
    Ok((bytes, body.trailers().await?))
}

/// Waits for something on the server while the client goes on.
async fn aside<T: Send + 'static>(server: &Arc<Server>, look: impl FnOnce(&Server) -> T + Send + 'static) -> T {
    let server = Arc::clone(server);
    tokio::task::spawn_blocking(move || look(&server)).await.unwrap()
}

struct Whole {
    status: u16,
    fields: HeaderMap,
    body: Vec<u8>,
    trailers: Option<HeaderMap>,
}

impl Whole {
    fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(|value| value.to_str().unwrap())
    }
}

async fn whole(response: Response<RecvStream>) -> Result<Whole, h2::Error> {
    let (parts, body) = response.into_parts();
    let (body, trailers) = collect(body).await?;
    Ok(Whole { status: parts.status.as_u16(), fields: parts.headers, body, trailers })
}

async fn get(client: &Client, method: &str, path: &str) -> Whole {
    let (response, _) = open(client, request(method, path), true).await;
    whole(response.await.unwrap()).await.unwrap()
}

async fn post(client: &Client, path: &str, body: impl Into<Bytes>) -> Result<Whole, h2::Error> {
    let (response, mut stream) = open(client, request("POST", path), false).await;
    let body = body.into();
    // A body that is sent back is to be read meanwhile.
    tokio::join!(send(&mut stream, body, true), async { whole(response.await?).await }).1
}

#[tokio::test]
async fn each_reply_has_its_fields_and_its_body() {
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    // Method, path, status, content-length, body.
    for (method, path, status, length, body) in [
        ("GET", "/fixed", 200, Some("5"), "hello"),
        ("GET", "/raw?3", 200, Some("3"), "rrr"),
        ("GET", "/raw?0", 200, Some("0"), ""),
        ("GET", "/raw/none", 200, None, ""),
        ("GET", "/raw/stream", 200, None, "streamed"),
        ("GET", "/raw/until-close", 200, None, "until close"),
        ("GET", "/raw/204", 204, None, ""),
        ("GET", "/raw/304", 304, Some("17"), ""),
        ("HEAD", "/fixed", 200, Some("5"), ""),
        ("HEAD", "/raw?1000", 200, Some("1000"), ""),
        ("HEAD", "/raw/stream", 200, None, ""),
        ("HEAD", "/known?100000", 200, Some("100000"), ""),
        ("HEAD", "/stream?100000", 200, None, ""),
        ("GET", "/stream?0", 200, None, ""),
        ("GET", "/no-end/known", 200, Some("4"), "four"),
    ] {
        let reply = get(&client, method, path).await;
        assert_eq!((reply.status, reply.text()), (status, body), "{method} {path}");
        assert_eq!(reply.field("content-length"), length, "{method} {path}");
        assert_eq!(reply.field("date").map(str::len), Some(29), "{method} {path}");
        assert_eq!((reply.field("connection"), reply.field("transfer-encoding")), (None, None), "{method} {path}");
    }
}

#[tokio::test]
async fn large_bodies_go_both_ways_byte_for_byte() {
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    for path in ["/stream?3000000,500", "/stream?3000000,300000", "/known?3000000,70000", "/raw?300000"] {
        let reply = get(&client, "GET", path).await;
        let count = if path.starts_with("/raw") { 300_000 } else { 3_000_000 };
        assert_eq!(reply.body.len(), count, "{path}");
        let wrong = reply.body.iter().zip(0..).find(|&(&byte, at)| count > 300_000 && byte != pattern(at));
        assert_eq!(wrong, None, "{path}");
    }
    let body: Bytes = (0..5_000_000).map(pattern).collect();
    for path in ["/pipe", "/pipe/both", "/echo"] {
        let reply = post(&client, path, body.clone()).await.unwrap();
        assert!(reply.body == body, "{path}: {} bytes", reply.body.len());
    }
    // All at once, on one connection.
    let mut set = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let (client, body) = (client.clone(), body.slice(..500_000));
        set.spawn(async move { post(&client, "/pipe", body.clone()).await.unwrap().body == body });
    }
    assert!(set.join_all().await.into_iter().all(|same| same));
}

#[tokio::test]
async fn trailers_go_both_ways_and_forbidden_ones_are_refused() {
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    let reply = get(&client, "GET", "/trailers").await;
    assert_eq!((reply.text(), reply.trailers.as_ref().unwrap()["x-sum"].as_bytes()), ("body", &b"42"[..]));
    for (name, status) in [("x-sum", 200), ("content-length", 400), ("host", 400)] {
        let (response, mut stream) = open(&client, request("POST", "/count"), false).await;
        stream.send_data(Bytes::from_static(b"body"), false).unwrap();
        let mut trailers = HeaderMap::new();
        trailers.insert(name, "1".parse().unwrap());
        stream.send_trailers(trailers).unwrap();
        let reply = whole(response.await.unwrap()).await.unwrap();
        assert_eq!(reply.status, status, "{name} {}", reply.text());
        assert!(status != 200 || reply.text() == "4 x-sum: 1");
    }
}

#[tokio::test]
async fn fields_that_are_none_in_http_2_stay_behind() {
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    for (name, value, sent) in [
        ("x-a", "b", true),
        ("connection", "close", false),
        ("Transfer-Encoding", "chunked", false),
        ("upgrade", "h2c", false),
        ("x-a", "b|x-c: d", false),
    ] {
        let script = format!("hint {name} {value};field {name} {value};end");
        let (mut response, _) = open(&client, request("GET", "/script").header("x-script", script), true).await;
        let hint = std::future::poll_fn(|cx| response.poll_informational(cx)).await.unwrap().unwrap();
        assert_eq!((hint.status().as_u16(), hint.headers().len()), (103, usize::from(sent)), "{name}");
        let reply = whole(response.await.unwrap()).await.unwrap();
        assert_eq!(reply.fields.len(), 2 + usize::from(sent), "{name}: {:?}", reply.fields);
        let script = format!("engine 0;trailers {name} {value}");
        let (response, _) = open(&client, request("GET", "/script").header("x-script", script), true).await;
        let reply = whole(response.await.unwrap()).await.unwrap();
        assert_eq!(reply.trailers.map(|fields| fields.len()), sent.then_some(1), "{name}");
    }
}

#[tokio::test]
async fn heads_take_the_form_of_http_1_and_are_judged_by_its_rules() {
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    let fields = request("GET", "/raw/fields").header("cookie", "a=1").header("x-y", "z").header("cookie", "b=2");
    let (response, _) = open(&client, fields, true).await;
    let reply = whole(response.await.unwrap()).await.unwrap();
    assert_eq!(reply.text(), "host: leat.test\nx-y: z\ncookie: a=1; b=2");
    // Fields, status.
    let cases: [(&[(&str, &str)], u16); 7] = [
        (&[("host", "leat.test")], 200),
        (&[("host", "LEAT.test")], 200),
        (&[("host", "other.test")], 400),
        (&[("host", "leat.test"), ("host", "other.test")], 400),
        (&[("content-length", "5")], 400),
        (&[("expect", "more")], 417),
        (&[("content-length", "x")], 400),
    ];
    for (fields, status) in cases {
        let mut head = request("GET", "/fixed");
        for (name, value) in fields {
            head = head.header(*name, *value);
        }
        let (response, _) = open(&client, head, true).await;
        match response.await {
            Ok(response) => assert_eq!(response.status().as_u16(), status, "{fields:?}"),
            // Some are malformed for the h2 crate already.
            Err(error) => assert!(status == 400 && error.is_reset(), "{fields:?} {error}"),
        }
    }
    let (response, _stream) = open(&client, request("TRACE", "/fixed"), false).await;
    assert_eq!(response.await.unwrap().status(), 400);
}

#[tokio::test]
async fn a_strict_server_takes_no_body_that_means_nothing() {
    for (profile, refused) in [(Profile::Strict, 400), (Profile::Compatible, 200)] {
        let server = Arc::new(Server::with(Options { profile, ..Options::default() }));
        let (client, _connection) = connect(&server).await;
        for (method, end, status) in
            [("GET", false, refused), ("DELETE", false, refused), ("GET", true, 200), ("POST", false, 200)]
        {
            let (response, mut stream) = open(&client, request(method, "/fixed"), end).await;
            if !end {
                let _ = send(&mut stream, Bytes::from_static(b"body"), true).await;
            }
            assert_eq!(response.await.unwrap().status(), status, "{profile:?} {method}");
        }
    }
}

#[tokio::test]
async fn bodies_have_their_limits() {
    let server = Arc::new(Server::limited(|limits| {
        limits.body_bytes_max = 10;
        limits.body_time_ms = Some(100);
    }));
    let (client, _connection) = connect(&server).await;
    assert_eq!(post(&client, "/count", "0123456789").await.unwrap().text(), "10 ");
    assert_eq!(post(&client, "/count", "0123456789a").await.unwrap().status, 413);
    assert_eq!(post(&client, "/limited?20", "0123456789a").await.unwrap().text(), "11 ");
    // Announced: refused before a byte of it came.
    let head = request("POST", "/count").header("content-length", "11");
    let (response, _stream) = open(&client, head, false).await;
    assert_eq!(response.await.unwrap().status(), 413);
    // Too late as a whole, and a stream that may pause.
    let (response, _stream) = open(&client, request("POST", "/count"), false).await;
    let reply = whole(response.await.unwrap()).await.unwrap();
    assert!(reply.status == 408 && reply.text().contains("time.body"), "{}", reply.text());
    let (response, mut stream) = open(&client, request("POST", "/limited?10"), false).await;
    tokio::time::sleep(Duration::from_millis(250)).await;
    stream.send_data(Bytes::from_static(b"late"), true).unwrap();
    assert_eq!(whole(response.await.unwrap()).await.unwrap().text(), "4 ");
}

#[tokio::test]
async fn a_content_length_that_the_body_does_not_have_resets_the_stream() {
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    for body in ["abc", "abcdefgh"] {
        let head = request("POST", "/count").header("content-length", "5");
        let (response, mut stream) = open(&client, head, false).await;
        stream.send_data(body.into(), true).unwrap();
        let error = response.await.unwrap_err();
        assert_eq!(error.reason(), Some(Code::PROTOCOL_ERROR), "{body}");
    }
    assert_eq!(get(&client, "GET", "/fixed").await.text(), "hello");
}

#[tokio::test]
async fn a_client_that_waits_for_100_gets_it() {
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    let head = request("POST", "/echo").header("expect", "100-continue");
    let (mut response, mut stream) = open(&client, head, false).await;
    let interim = std::future::poll_fn(|cx| response.poll_informational(cx)).await;
    assert_eq!(interim.unwrap().unwrap().status(), 100);
    stream.send_data(Bytes::from_static(b"body"), true).unwrap();
    assert_eq!(whole(response.await.unwrap()).await.unwrap().text(), "body");
    let (mut response, _) = open(&client, request("GET", "/interim"), true).await;
    let interim = std::future::poll_fn(|cx| response.poll_informational(cx)).await.unwrap().unwrap();
    assert_eq!((interim.status().as_u16(), interim.headers().len()), (103, 1));
    server.release();
    assert_eq!(whole(response.await.unwrap()).await.unwrap().text(), "after the hint");
}

#[tokio::test]
async fn a_connect_becomes_a_tunnel() {
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    let head = Request::builder().method("CONNECT").uri("leat.test:443");
    let (response, mut stream) = open(&client, head, false).await;
    let (parts, mut body) = response.await.unwrap().into_parts();
    assert_eq!((parts.status.as_u16(), parts.headers.get("content-length")), (200, None));
    for word in ["early", "late"] {
        stream.send_data(Bytes::from_static(word.as_bytes()), false).unwrap();
        let shouted = body.data().await.unwrap().unwrap();
        assert_eq!(shouted, word.to_ascii_uppercase().as_bytes());
    }
    stream.send_data(Bytes::new(), true).unwrap();
    assert_eq!(collect(body).await.unwrap().0, b"GOODBYE");
}

#[tokio::test]
async fn interim_responses_without_end_are_left_out() {
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    assert_eq!(get(&client, "GET", "/hints?10000").await.text(), "after the hints");
    let (mut response, _) = open(&client, request("GET", "/hints?10000"), true).await;
    let mut hints = 0;
    while let Some(hint) = std::future::poll_fn(|cx| response.poll_informational(cx)).await {
        hints += u32::from(hint.unwrap().status() == 103);
    }
    assert!((10..1_000).contains(&hints), "{hints}");
}

#[tokio::test]
async fn a_reset_is_heard_by_the_exchange_and_by_no_other() {
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    let (waiting, _) = open(&client, request("GET", "/wait"), true).await;
    let (response, mut stream) = open(&client, request("GET", "/gone"), true).await;
    aside(&server, |server| server.begun("/gone")).await;
    stream.send_reset(Code::CANCEL);
    assert_eq!(aside(&server, Server::gone).await, Reason::PeerCancelled);
    assert_eq!(aside(&server, |server| server.ended(Some("/gone"))).await, (0, Some(Reason::PeerCancelled)));
    drop(response);
    server.release();
    assert_eq!(whole(waiting.await.unwrap()).await.unwrap().text(), "waited");
}

#[tokio::test]
async fn an_exchange_hears_of_a_connection_that_ends() {
    let server = Arc::new(Server::start());
    let (client, connection) = connect(&server).await;
    let (_response, _) = open(&client, request("GET", "/gone"), true).await;
    aside(&server, |server| server.begun("/gone")).await;
    connection.abort();
    assert_eq!(aside(&server, Server::gone).await, Reason::PeerReset);
}

#[tokio::test]
async fn handlers_that_break_their_word_are_isolated_and_the_client_can_tell() {
    // Path, status (0: the stream is reset).
    let cases = [
        ("/raw/less", 500),
        ("/raw/more", 500),
        ("/raw/twice", 500),
        ("/raw/nothing", 500),
        ("/raw/panic", 500),
        ("/raw/panic-late", 500),
        ("/panic", 500),
        ("/less", 500),
        ("/more", 500),
        ("/no-end", 500),
        ("/fail", 502),
        ("/fail-head", 502),
        ("/nowhere", 404),
        ("/panic-late", 0),
        ("/fail-late", 0),
    ];
    for on_error in [OnError::Close, OnError::Continue] {
        let server = Arc::new(Server::with(Options { on_error, ..Options::default() }));
        let (client, _connection) = connect(&server).await;
        let (waiting, _) = open(&client, request("GET", "/wait"), true).await;
        for (path, status) in cases {
            let (response, _) = open(&client, request("GET", path), true).await;
            let reply = match response.await {
                Ok(response) => whole(response).await,
                Err(error) => Err(error),
            };
            match reply {
                Ok(reply) => {
                    assert_eq!(reply.status, status, "{path}");
                    assert_eq!(reply.field("content-type"), Some("application/problem+json"), "{path}");
                    assert_eq!(reply.field("x-test"), None, "{path}");
                }
                Err(error) => assert_eq!((status, error.reason()), (0, Some(Code::INTERNAL_ERROR)), "{path}"),
            }
            let (ended, reason) = aside(&server, move |server| server.ended(Some(path))).await;
            assert!(reason.is_some() && (status == 0 || ended == status), "{path} {ended} {reason:?}");
        }
        server.release();
        assert_eq!(whole(waiting.await.unwrap()).await.unwrap().text(), "waited");
    }
}

#[tokio::test]
async fn a_body_that_nobody_reads_does_not_hold_the_others_up() {
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    for path in ["/ignore", "/fixed", "/part"] {
        for _ in 0..10 {
            // More than a stream's window: together more than the connection's.
            let reply = post(&client, path, vec![b'x'; 400_000]).await;
            match reply {
                Ok(reply) => assert_eq!(reply.status, 200, "{path}"),
                Err(error) => assert_eq!(error.reason(), Some(Code::NO_ERROR), "{path}"),
            }
        }
    }
    assert_eq!(post(&client, "/echo", vec![b'x'; 400_000]).await.unwrap().body.len(), 400_000);
}

#[tokio::test]
async fn an_unread_body_stops_its_sender_and_takes_little_memory() {
    let _alone = ALONE.lock().await;
    let server = Arc::new(Server::start());
    let (client, _connection) = connect(&server).await;
    let (response, mut stream) = open(&client, request("POST", "/limited-held?50000000"), false).await;
    let sent = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let sender = tokio::spawn({
        let sent = Arc::clone(&sent);
        async move {
            for part in 0..500 {
                send(&mut stream, vec![b'x'; 100_000].into(), part == 499).await.unwrap();
                sent.fetch_add(100_000, std::sync::atomic::Ordering::Relaxed);
            }
        }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let taken = sent.load(std::sync::atomic::Ordering::Relaxed);
    assert!(taken <= 1_000_000, "{taken} bytes were taken though nobody reads them");
    server.release();
    assert_eq!(whole(response.await.unwrap()).await.unwrap().text(), "50000000 ");
    sender.await.unwrap();
}

#[tokio::test]
async fn replies_that_are_not_read_are_counted_bounded_and_ended() {
    let _alone = ALONE.lock().await;
    let server = Arc::new(Server::limited(|limits| limits.throughput_grace_ms = 400));
    let before = memory::in_use();
    let mut builder = h2::client::Builder::new();
    let (client, _connection) = connect_with(&server, builder.initial_window_size(0)).await;
    // Each larger than what is given to a stream without a look at its window: a raw reply, an exchange that has ended,
    // one that goes on.
    let mut replies = Vec::new();
    for number in 0..90 {
        let path = ["/raw?10000", "/known?10000", "/stream?100000000"][number % 3];
        replies.push(open(&client, request("GET", path), true).await.0.await.unwrap());
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let held = memory::in_use().saturating_sub(before);
    assert!((90 * 10_000..90 * 150_000).contains(&held), "{held}");
    for path in ["/raw", "/known", "/stream"] {
        let ended = aside(&server, move |server| server.ended(Some(path))).await;
        assert_eq!(ended, (200, Some(Reason::SlowReader)), "{path}");
    }
    for reply in replies {
        let error = collect(reply.into_body()).await.unwrap_err();
        assert_eq!(error.reason(), Some(Code::CANCEL));
    }
    eventually("the memory to be given back", || (memory::in_use() <= before + 600_000).then_some(()));
}

#[tokio::test]
async fn a_drain_says_goaway_and_lets_streams_end() {
    let server = Arc::new(Server::with(Options { drain_grace_ms: 200, ..Options::default() }));
    let (idle, idle_connection) = connect(&server).await;
    assert_eq!(get(&idle, "GET", "/fixed").await.text(), "hello");
    let (client, connection) = connect(&server).await;
    let (waiting, _) = open(&client, request("GET", "/wait"), true).await;
    aside(&server, |server| server.begun("/wait")).await;
    server.drain();
    idle_connection.await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let refused = client
        .clone()
        .ready()
        .await
        .and_then(|mut ready| ready.send_request(request("GET", "/fixed").body(()).unwrap(), true).map(|_| ()));
    assert!(refused.is_err(), "a stream was opened behind a GOAWAY");
    server.release();
    assert_eq!(whole(waiting.await.unwrap()).await.unwrap().text(), "waited");
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_closing_connection_waits_for_its_stream_without_spinning() {
    // The stream runs on for longer than every time that a connection at rest has.
    let server = Arc::new(Server::limited(|limits| {
        limits.requests_per_connection_max = 1;
        limits.idle_time_ms = 60;
        limits.drain_time_ms = 60;
    }));
    let (client, connection) = connect(&server).await;
    let (waiting, _) = open(&client, request("GET", "/wait"), true).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    aside(&server, Server::answers).await;
    server.release();
    assert_eq!(whole(waiting.await.unwrap()).await.unwrap().text(), "waited");
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_last_request_of_a_connection_is_followed_by_goaway() {
    let server = Arc::new(Server::limited(|limits| limits.requests_per_connection_max = 3));
    let (client, connection) = connect(&server).await;
    for _ in 0..3 {
        assert_eq!(get(&client, "GET", "/fixed").await.text(), "hello");
    }
    drop(client);
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_one_with_a_stream_is_not() {
    let server = Arc::new(Server::limited(|limits| {
        limits.idle_time_ms = 150;
        limits.drain_time_ms = 50;
    }));
    let (_idle, idle_connection) = connect(&server).await;
    let (client, connection) = connect(&server).await;
    let (waiting, _) = open(&client, request("GET", "/wait"), true).await;
    idle_connection.await.unwrap().unwrap();
    server.release();
    assert_eq!(whole(waiting.await.unwrap()).await.unwrap().text(), "waited");
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn streams_above_the_limit_wait_or_are_refused() {
    let server = Arc::new(Server::limited(|limits: &mut Limits| limits.h2_streams_max = 2));
    let (client, _connection) = connect(&server).await;
    assert_eq!(get(&client, "GET", "/fixed").await.text(), "hello");
    let first = open(&client, request("GET", "/wait"), true).await.0;
    let second = open(&client, request("GET", "/wait"), true).await.0;
    let mut third = open(&client, request("GET", "/fixed"), true).await.0;
    let early = tokio::time::timeout(Duration::from_millis(100), &mut third).await;
    assert!(early.is_err(), "a third stream was let in");
    server.release();
    server.release();
    assert_eq!(first.await.unwrap().status(), 200);
    assert_eq!(second.await.unwrap().status(), 200);
    assert_eq!(third.await.unwrap().status(), 200);
}

#[tokio::test]
async fn hosts_and_memory_are_minded_as_in_http_1() {
    let server =
        Arc::new(Server::with(Options { host: Some("leat.test"), protocol: Protocol::Http2, ..Options::default() }));
    let (client, _connection) = connect(&server).await;
    assert_eq!(get(&client, "GET", "/fixed").await.text(), "hello");
    let other = Request::builder().uri("http://other.test/fixed");
    let (response, _) = open(&client, other, true).await;
    assert_eq!(response.await.unwrap().status(), 421);
    assert_eq!(aside(&server, |server| server.ended(None)).await, (421, Some(Reason::HostMisdirected)));

    let _alone = ALONE.lock().await;
    let server = Arc::new(Server::limited(|limits| limits.memory_bytes_max = 0));
    memory::add(memory::SETTLE_BYTES);
    let (client, _connection) = connect(&server).await;
    assert_eq!(get(&client, "GET", "/fixed").await.status, 503);
    memory::add(-memory::SETTLE_BYTES);
}
