//! Replies over HTTP/2 whose heads the handler formatted as HTTP/1 text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason as Code, SendStream};
use http::{HeaderMap, Request};
use leat_message::Reason;
use support::{Options, Server};
use tokio::net::TcpStream;

const OK: &str = "HTTP/1.1 200 Fine|X-Case: Kept|Content-Length: 4||";
const PLAIN: &str = "HTTP/1.1 200 OK|X-Case: Kept||";

type Client = SendRequest<Bytes>;

async fn connect(server: &Server) -> Client {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn open(client: &Client, method: &str, steps: &str, ends: bool) -> (ResponseFuture, SendStream<Bytes>) {
    let request = Request::builder().method(method).uri("http://leat.test/script").header("x-script", steps);
    let mut ready = client.clone().ready().await.unwrap();
    ready.send_request(request.body(()).unwrap(), ends).unwrap()
}

struct Whole {
    status: u16,
    fields: HeaderMap,
    body: Vec<u8>,
    trailers: Option<HeaderMap>,
}

impl Whole {
    /// Every field but those of the engine's own heads, as text.
    fn lines(&self) -> String {
        self.fields.iter().map(|(name, value)| format!("{name}: {}|", value.to_str().unwrap())).collect()
    }
}

async fn whole(response: ResponseFuture) -> Result<Whole, h2::Error> {
    let (parts, mut stream) = response.await?.into_parts();
    let mut body = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece?;
        stream.flow_control().release_capacity(piece.len())?;
        body.extend_from_slice(&piece);
    }
    let trailers = stream.trailers().await?;
    Ok(Whole { status: parts.status.as_u16(), fields: parts.headers, body, trailers })
}

async fn ask(client: &Client, method: &str, steps: &str) -> Result<Whole, h2::Error> {
    whole(open(client, method, steps, true).await.0).await
}

#[tokio::test]
async fn heads_are_brought_over_without_what_belongs_to_a_connection() {
    let server = Server::start();
    let client = connect(&server).await;
    let hops = "Connection: keep-alive, X-Hop|Keep-Alive: timeout=5|X-Hop: 1|Transfer-Encoding: chunked|X-Stays: 1";
    // Method, script, status, fields, body.
    for (method, steps, status, fields, body) in [
        ("GET", format!("head {OK};send four;end"), 200, "x-case: Kept|content-length: 4|", "four"),
        ("GET", format!("head {PLAIN};send fo;flush;send ur;end"), 200, "x-case: Kept|", "four"),
        ("GET", format!("head {PLAIN};end"), 200, "x-case: Kept|", ""),
        ("GET", format!("head HTTP/1.1 200 OK|{hops}||;send four;end"), 200, "x-stays: 1|", "four"),
        ("GET", "head HTTP/1.1 404 Not Found|A: 1|B: 2|A: 3||;end".to_owned(), 404, "a: 1|a: 3|b: 2|", ""),
        ("GET", "head HTTP/1.1 204 Empty||;send left out;end".to_owned(), 204, "", ""),
        ("GET", "head HTTP/1.1 304 Old|Content-Length: 17||;end".to_owned(), 304, "content-length: 17|", ""),
        ("HEAD", format!("head {OK};end"), 200, "x-case: Kept|content-length: 4|", ""),
        ("HEAD", format!("head {OK};send four;end"), 200, "x-case: Kept|content-length: 4|", ""),
        ("GET", format!("keep false;head {OK};send four;end"), 200, "x-case: Kept|content-length: 4|", "four"),
        ("GET", format!("head {OK};send four;keep false;end"), 200, "x-case: Kept|content-length: 4|", "four"),
        // Nothing to take over: the exchange goes on as it was.
        ("GET", format!("take;head {OK};send four;end"), 200, "x-case: Kept|content-length: 4|", "four"),
        // A second head is out of place.
        (
            "GET",
            format!("head {OK};head HTTP/1.1 500 No||;send four;end"),
            200,
            "x-case: Kept|content-length: 4|",
            "four",
        ),
    ] {
        let reply = ask(&client, method, &steps).await.unwrap();
        assert_eq!((reply.status, str::from_utf8(&reply.body).unwrap()), (status, body), "{method} {steps}");
        assert_eq!(reply.lines(), fields, "{method} {steps}");
        assert!(reply.trailers.is_none(), "{method} {steps}");
    }
    // None of them has ended the connection.
    assert_eq!(ask(&client, "GET", &format!("head {OK};send four;end")).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_large_body_and_trailers_arrive_whole() {
    let server = Server::start();
    let client = connect(&server).await;
    for step in ["bytes", "pieces"] {
        for bytes in [20_000, 1_000_000] {
            let head = format!("HTTP/1.1 200 OK|Content-Length: {bytes}||");
            let reply = ask(&client, "GET", &format!("head {head};{step} {bytes};end")).await.unwrap();
            assert!(reply.body.iter().copied().eq((0..bytes).map(support::pattern)), "{step} {bytes}");
        }
    }
    let reply = ask(&client, "GET", &format!("head {PLAIN};send four;trailers x-sum 42")).await.unwrap();
    assert_eq!((reply.body.as_slice(), reply.trailers.unwrap()["x-sum"].as_bytes()), (&b"four"[..], &b"42"[..]));
}

#[tokio::test]
async fn what_is_no_head_is_the_handlers_failure() {
    let server = Server::start();
    let client = connect(&server).await;
    for head in [
        "",
        "four",
        "HTTP/1.1 200 OK|Content-Length: 4|",
        "HTTP/1.1 200 OK|Content-Length: 4||more",
        "HTTP/1.1 200 OK|Content-Length: four||",
        "HTTP/1.1 200 OK|Content-Length: 4|Content-Length: 5||",
        "HTTP/1.1 200 OK|X Y: 4||",
        "HTTP/1.1 200|X: 4||",
        "HTTP/1.1 20 OK||",
        "HTTP/1.1 103 Early Hints||",
        "HTTP/1.1 101 Switching Protocols|Upgrade: x|Connection: upgrade||",
    ] {
        // "HTTP/1.1 200" without a phrase is one.
        let expected = if head == "HTTP/1.1 200|X: 4||" { 200 } else { 500 };
        for send in ["", "send four;"] {
            let reply = ask(&client, "GET", &format!("head {head};{send}end")).await.unwrap();
            assert_eq!(reply.status, expected, "{head} {send}");
        }
    }
    assert!(server.events().iter().any(|event| format!("{event:?}").contains("HandlerFailed")));
}

#[tokio::test]
async fn a_reply_that_was_not_ended_is_an_error_or_visibly_incomplete() {
    let server = Server::start();
    let client = connect(&server).await;
    // Script, status of the reply; `None`: its stream is reset.
    for (steps, status) in [
        (format!("head {OK};send four"), Some(500)),
        (format!("head {OK}"), Some(500)),
        ("head HTTP/1.1 204 Empty||".to_owned(), Some(500)),
        (format!("head {OK};send four;panic"), Some(500)),
        (format!("head {OK};send four;flush"), None),
        (format!("head {PLAIN};send four;flush;fail upstream.reset"), None),
        // A length is held against the body.
        (format!("head {OK};send too much;end"), Some(500)),
        (format!("head {OK};send fo;end"), Some(500)),
        (format!("head {OK};flush;send too much;end"), None),
        (format!("head {OK};send fo;flush;end"), None),
    ] {
        let reply = ask(&client, "GET", &steps).await;
        match status {
            Some(status) => assert_eq!(reply.unwrap().status, status, "{steps}"),
            None => assert_eq!(reply.map(|_| ()).unwrap_err().reason(), Some(Code::INTERNAL_ERROR), "{steps}"),
        }
    }
}

#[tokio::test]
async fn interim_heads_are_brought_over() {
    let server = Server::start();
    let client = connect(&server).await;
    let hint = "HTTP/1.1 103 Early Hints|Link: </a.css>|Connection: close||";
    let wrong = "interim nonsense;interim HTTP/1.1 200 OK||;interim HTTP/1.1 101 Switching Protocols||";
    let (mut response, _) =
        open(&client, "GET", &format!("{wrong};interim {hint};head {OK};send four;end"), true).await;
    let interim = std::future::poll_fn(|cx| response.poll_informational(cx)).await.unwrap().unwrap();
    assert_eq!((interim.status().as_u16(), interim.headers().len()), (103, 1));
    assert_eq!(interim.headers()["link"], "</a.css>");
    assert!(std::future::poll_fn(|cx| response.poll_informational(cx)).await.is_none());
    assert_eq!(whole(response).await.unwrap().body, b"four");
}

#[tokio::test]
async fn a_handler_that_waives_it_decides_about_100() {
    let server = Server::start();
    let client = connect(&server).await;
    let reply = "read;head HTTP/1.1 200 OK||;sent-back;end";
    // Script, whether 100 is sent.
    for (steps, asked) in [
        (reply.to_owned(), true),
        (format!("waive;{reply}"), false),
        (format!("waive;interim HTTP/1.1 100 Continue||;{reply}"), true),
        (format!("interim HTTP/1.1 100 Continue||;{reply}"), true),
    ] {
        let request = Request::builder().method("POST").uri("http://leat.test/script");
        let request = request.header("x-script", &steps).header("expect", "100-continue");
        let mut ready = client.clone().ready().await.unwrap();
        let (mut response, mut stream) = ready.send_request(request.body(()).unwrap(), false).unwrap();
        if asked {
            let interim = std::future::poll_fn(|cx| response.poll_informational(cx)).await.unwrap().unwrap();
            assert_eq!(interim.status(), 100, "{steps}");
        }
        stream.send_data(Bytes::from_static(b"body"), true).unwrap();
        assert!(std::future::poll_fn(|cx| response.poll_informational(cx)).await.is_none(), "{steps}");
        assert_eq!(whole(response).await.unwrap().body, b"body", "{steps}");
    }
}

#[tokio::test]
async fn a_refused_head_of_http2_is_the_engines_to_answer() {
    let server = Server::with(Options { refused: Some("send mine;end"), ..Options::default() });
    let client = connect(&server).await;
    let request = Request::builder().method("GET").uri("http://leat.test/script").header("host", "other.test");
    let response = client.clone().ready().await.unwrap().send_request(request.body(()).unwrap(), true).unwrap().0;
    let reply = whole(response).await.unwrap();
    assert_eq!((reply.status, reply.fields["content-type"].as_bytes()), (400, &b"application/problem+json"[..]));
    let ended = tokio::task::spawn_blocking(move || server.ended(None)).await.unwrap();
    assert_eq!(ended, (400, Some(Reason::HostConflict)));
}
