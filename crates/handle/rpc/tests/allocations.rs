//! Heap allocations of a unary call on the core's thread, over real sockets, behind calls that were served before.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use leat_message::{Address, Limits, Peer, Profile, Scheme, Step};
use leat_rpc::serve::{Rpc, Settings};
use leat_rpc::{Answer, Call, Conversation, Message, Outcome, Prepared, Service};
use leat_rpc_wire::envelope;
use leat_schema::{Method, Schema, Sources};
use leat_serve::{OnError, Protocol, Site, serve};
use leat_testkit::Counting;
use tokio::task::{LocalSet, spawn_local};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CALLS: u64 = 200;

/// Answers with the same message, and takes a reading of the counter where it is asked to.
struct Fixed {
    schema: Arc<Schema>,
    answer: Prepared,
    readings: Arc<Mutex<Vec<u64>>>,
}

impl Service for Fixed {
    type Plan = ();

    fn method(&self, path: &str) -> Option<&Method> {
        self.schema.method(path)
    }

    fn whole<A: Answer>(&self, call: &Call<'_>, _request: Message<'_>, answer: &mut A) -> Step<()> {
        match call.method.name() {
            "Read" => self.readings.lock().unwrap().push(Counting::of_thread().count),
            "Later" => return Step::Exchange(()),
            _ => {}
        }
        answer.prepared(&self.answer);
        Step::Done
    }

    async fn converse<C: Conversation>(&self, _plan: Option<()>, conversation: &mut C) -> Outcome {
        conversation.send_prepared(&self.answer);
        Outcome::OK
    }
}

fn start() -> (SocketAddr, Arc<Mutex<Vec<u64>>>) {
    let (send, receive) = channel();
    let readings = Arc::new(Mutex::new(Vec::with_capacity(1000)));
    let of_service = Arc::clone(&readings);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        LocalSet::new().block_on(&runtime, async move {
            spawn_local(leat_stream::clock::run());
            let mut sources = Sources::new();
            let methods = "rpc Call(M) returns (M); rpc Read(M) returns (M); rpc Later(M) returns (M);";
            sources
                .proto("t.proto", &format!("syntax = \"proto3\"; package t; message M {{}} service S {{ {methods} }}"));
            let answer =
                Prepared { binary: (&b"\x0a\x05hello"[..]).into(), json: (&b"{\"text\":\"hello\"}"[..]).into() };
            let service = Fixed { schema: sources.build().unwrap(), answer, readings: of_service };
            let service = leat_serve::Service::new(Site {
                handler: Rpc::new(service, Settings::default()),
                limits: Limits::default(),
                profile: Profile::Compatible,
                on_error: OnError::Close,
                drain_grace_ms: 500,
            });
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let local = listener.local_addr().unwrap();
            send.send(local).unwrap();
            loop {
                let (stream, remote) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                let (remote, local) = (Address::Ip(remote), Address::Ip(local));
                let peer = Rc::new(Peer { remote, local, scheme: Scheme::Http, tls: None });
                spawn_local(serve(stream.into(), Vec::new(), Protocol::Sniff, peer, Rc::clone(&service)));
            }
        });
    });
    (receive.recv().unwrap(), readings)
}

/// A client that asks and reads to the end of the reply.
trait Client {
    fn call(&mut self, method: &str);
}

struct Http1 {
    stream: TcpStream,
    kind: &'static str,
    body: Vec<u8>,
}

impl Client for Http1 {
    fn call(&mut self, method: &str) {
        let (kind, length) = (self.kind, self.body.len());
        let head = format!(
            "POST /t.S/{method} HTTP/1.1\r\nhost: t\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
        );
        self.stream.write_all(&[head.as_bytes(), &self.body].concat()).unwrap();
        let (mut reply, mut block) = (Vec::new(), [0; 4096]);
        loop {
            let count = self.stream.read(&mut block).unwrap();
            assert!(count > 0, "{}", String::from_utf8_lossy(&reply));
            reply.extend_from_slice(&block[..count]);
            let text = String::from_utf8_lossy(&reply);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            // Replies of gRPC-Web have bytes that are no text, which become longer.
            if body.len() >= length.parse().unwrap() {
                return;
            }
        }
    }
}

/// As much of HTTP/2 as one gRPC call after the other needs.
struct Http2 {
    stream: TcpStream,
    next_id: u32,
}

impl Http2 {
    fn connect(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
        Self { stream, next_id: 1 }
    }
}

fn frame(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, flags]);
    frame.extend_from_slice(&id.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

impl Client for Http2 {
    fn call(&mut self, method: &str) {
        let id = self.next_id;
        self.next_id += 2;
        let path = format!("/t.S/{method}");
        // Indexed: POST, http; literal without indexing: path, authority, content-type, te.
        let mut block = vec![0x83, 0x86, 0x04, path.len() as u8];
        block.extend_from_slice(path.as_bytes());
        block.extend_from_slice(b"\x01\x01t\x0f\x10\x10application/grpc\x00\x02te\x08trailers");
        let (head, body) = (frame(1, 4, id, &block), frame(0, 1, id, b"\0\0\0\0\0"));
        // In one write, as clients do.
        self.stream.write_all(&[head, body].concat()).unwrap();
        loop {
            let mut head = [0; 9];
            self.stream.read_exact(&mut head).unwrap();
            let [a, b, c, kind, flags, of @ ..] = head;
            let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
            self.stream.read_exact(&mut payload).unwrap();
            match kind {
                4 if flags & 1 == 0 => self.stream.write_all(&frame(4, 1, 0, &[])).unwrap(),
                6 if flags & 1 == 0 => self.stream.write_all(&frame(6, 1, 0, &payload)).unwrap(),
                3 | 7 => panic!("frame {kind}: {payload:?}"),
                1 if flags & 1 == 1 && u32::from_be_bytes(of) == id => return,
                _ => {}
            }
        }
    }
}

/// The figures of docs/design/rpc.md. A change that makes one grow is to be explained there.
#[test]
fn calls_allocate_what_the_table_says() {
    let (address, readings) = start();
    let http1 = |kind, body: &[u8]| Http1 { stream: TcpStream::connect(address).unwrap(), kind, body: body.to_vec() };
    let mut web = Vec::new();
    envelope::write(0, b"", &mut web);
    let clients: [(&str, &str, u64, Box<dyn Client>); 6] = [
        ("Connect, binary, HTTP/1", "Call", 0, Box::new(http1("application/proto", b"\x12\0"))),
        ("Connect, JSON, HTTP/1", "Call", 0, Box::new(http1("application/json", b"{}"))),
        ("gRPC-Web, HTTP/1", "Call", 0, Box::new(http1("application/grpc-web+proto", &web))),
        ("Connect, a conversation, HTTP/1", "Later", 8, Box::new(http1("application/json", b"{}"))),
        ("gRPC, HTTP/2", "Call", 0, Box::new(Http2::connect(address))),
        ("gRPC, a conversation, HTTP/2", "Later", 8, Box::new(Http2::connect(address))),
    ];
    let mut wrong = Vec::new();
    for (name, method, expected, mut client) in clients {
        (0..100).for_each(|_| client.call(method));
        client.call("Read");
        (0..CALLS).for_each(|_| client.call(method));
        client.call("Read");
        let readings = readings.lock().unwrap();
        let [.., before, after] = readings[..] else { panic!("two readings") };
        // Rounded down: what grows now and then (a table of the timer wheel, say) belongs to no call.
        let count = (after - before) / (CALLS + 1);
        if count != expected {
            wrong.push(format!("{name}: {count} allocations a call, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
