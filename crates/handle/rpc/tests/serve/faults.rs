//! Breaks below RPC that a service asks for, as clients see them.

use crate::service::text;
use crate::support::{Server, block_on, call, enveloped, http2, request};

#[test]
fn http2_clients_see_the_fault() {
    let server = Server::start();
    block_on(async {
        let whole = enveloped(0, &text("some text"));
        for fault in ["reset", "late reset", "goaway", "close", "cut", "no trailers", "bad compression", "trickle"] {
            let (mut client, connection) = http2(&server).await;
            let reply = call(&mut client, request("Break", &[]), enveloped(0, &text(fault))).await;
            match (fault, reply) {
                ("reset", Err(error)) => assert_eq!(error.reason(), Some(h2::Reason::REFUSED_STREAM)),
                ("late reset", Ok(reply)) => {
                    assert_eq!((reply.body, reply.error), (whole.clone(), Some(h2::Reason::ENHANCE_YOUR_CALM)));
                }
                ("goaway", Err(_)) => {
                    let ended = connection.await.unwrap().unwrap_err();
                    assert_eq!(ended.reason(), Some(h2::Reason::ENHANCE_YOUR_CALM));
                    assert!(ended.is_go_away());
                }
                ("close", Err(error)) => assert!(error.is_io(), "{error}"),
                ("cut", Ok(reply)) => {
                    assert_eq!((&*reply.body, reply.error), (&whole[..7], Some(h2::Reason::INTERNAL_ERROR)));
                }
                ("no trailers", Ok(reply)) => {
                    assert_eq!((reply.status(), reply.error), (None, None));
                    assert_eq!(reply.body, whole);
                }
                ("bad compression", Ok(reply)) => {
                    assert_eq!(reply.head.get("grpc-encoding").unwrap(), "gzip");
                    assert_eq!(reply.body, enveloped(1, &text("some text")));
                }
                ("trickle", Ok(reply)) => {
                    assert_eq!((reply.status(), &reply.body), (Some("0"), &whole));
                    assert_eq!(reply.pieces, whole.len().div_ceil(4));
                }
                (fault, reply) => panic!("{fault}: {reply:?}"),
            }
        }
    });
}

#[test]
fn http1_clients_see_the_fault() {
    let server = Server::start();
    for (fault, head, body) in [
        ("reset", "", &b""[..]),
        ("goaway", "", b""),
        ("close", "", b""),
        ("cut", "content-length: 20", b"{\"text\""),
        ("bad compression", "content-encoding: gzip", b"{\"text\":\"some text\"}"),
        ("trickle", "content-length: 20", b"{\"text\":\"some text\"}"),
    ] {
        let mut client = server.connect();
        let request = format!("{{\"text\":\"{fault}\"}}");
        let reply = client.ask("POST /test.Texts/Break", "content-type: application/json", request.as_bytes());
        assert_eq!(reply.head.is_empty(), head.is_empty(), "{fault}: {}", reply.head);
        assert!(reply.head.contains(head), "{fault}: {}", reply.head);
        assert_eq!(reply.body, body, "{fault}");
    }
}
