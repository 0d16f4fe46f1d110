//! Worlds that serve: what a start loads, and what is left of a world that is lost with requests under way.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use rquickjs::function::Func;
use rquickjs::{Ctx, Result, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use super::World;
use crate::builtins;
use crate::host::{Host, Life, OnError};
use crate::options::Options;
use crate::process::{Process, Seat};

/// What the smallest app of Express loads, from the start of its world to its first reply. A module that comes to these is read and run at
/// each start of each app: is there no way to load it at its first use (`LATE` in `js/script.mjs`, or a `require` in a function)?
const LOADED: [&str; 34] = [
    "leat:boot",
    "leat:buffer_native",
    "leat:errors",
    "leat:express",
    "leat:http",
    "leat:ip",
    "leat:lifecycle",
    "leat:path_posix",
    "leat:stack",
    "leat:stream/add-abort-signal",
    "leat:stream/buffer_list",
    "leat:stream/destroy",
    "leat:stream/duplex",
    "leat:stream/end-of-stream",
    "leat:stream/from",
    "leat:stream/legacy",
    "leat:stream/ours/primordials",
    "leat:stream/readable",
    "leat:stream/state",
    "leat:stream/utils",
    "leat:stream/writable",
    "leat:stream_base",
    "leat:traced",
    "leat:turn",
    "leat:validate",
    "node:buffer",
    "node:diagnostics_channel",
    "node:events",
    "node:http",
    "node:path",
    "node:process",
    "node:querystring",
    "node:stream",
    "node:string_decoder",
];

/// Bytecode of all of them. A byte is 24 instructions of the start for reading alone.
const BYTES_MAX: usize = 330_000;

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A world that listens with `handler`, and the connections that asked it.
struct Served {
    world: Rc<World>,
    connections: Vec<TcpStream>,
}

/// Asks a world for each of `requests`, on connections of their own, and waits for a reply or, where none comes, for `asked` of them to
/// have come to JavaScript.
async fn serve(code: &str, requests: &[&str], replies: bool) -> Served {
    let process = Process::new(Options::new(PathBuf::from("app.js")));
    let host = Host::new(vec!["app.js".to_owned()], OnError::Exit, Seat::new(&process, 0));
    let world = World::new(host).unwrap();
    world.enter(|ctx| {
        ctx.globals().set("load", Func::from(load))?;
        ctx.eval::<(), _>(format!("globalThis.asked = 0; globalThis.server = {code}.listen(0, '127.0.0.1')"))
    });
    let port = world.enter(|ctx| ctx.eval::<u16, _>("server.address().port"));
    let mut connections = Vec::new();
    for request in requests {
        let mut connection = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        connection.write_all(request.as_bytes()).await.unwrap();
        if replies {
            let mut reply = [0; 1024];
            let count = connection.read(&mut reply).await.unwrap();
            assert!(reply[..count].starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&reply[..count]));
        }
        connections.push(connection);
    }
    while !replies && world.enter(|ctx| ctx.globals().get::<_, usize>("asked")) < requests.len() {
        tokio::task::yield_now().await;
    }
    Served { world, connections }
}

fn load<'js>(ctx: Ctx<'js>, name: String) -> Result<Value<'js>> {
    builtins::require(&ctx, &name)
}

fn block_on<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tasks = LocalSet::new();
    tasks.block_on(&runtime, async {
        tokio::task::spawn_local(leat_stream::clock::run());
        tokio::time::timeout(PATIENCE, run).await.expect("in time")
    })
}

#[test]
fn a_hello_loads_what_it_needs() {
    let loaded: BTreeMap<String, usize> = block_on(async {
        let hello = "load('leat:express')().get('/', (req, res) => { res.json({ hello: 'world' }); })";
        let served = serve(hello, &["GET / HTTP/1.1\r\nHost: a\r\n\r\n"], true).await;
        served.world.look(|ctx| builtins::loaded_bytes(ctx).unwrap())
    });
    let names: Vec<&str> = loaded.keys().map(String::as_str).collect();
    assert_eq!(names, LOADED);
    let bytes: usize = loaded.values().sum();
    println!("{bytes} bytes of bytecode");
    assert!(bytes <= BYTES_MAX, "{bytes} bytes of bytecode are loaded: {loaded:?}");
    assert!(bytes > BYTES_MAX - 20_000, "{bytes}: BYTES_MAX may be less");
}

/// Handlers that leave an exchange at a point where something of it is held outside of its world.
const UNDER_WAY: [(&str, &str); 9] = [
    ("nothing was said", "(req, res) => { asked++; }"),
    ("the program holds both", "(req, res) => { asked++; globalThis.kept = [req, res]; }"),
    ("a reply has begun", "(req, res) => { asked++; res.write('a'); }"),
    (
        "more was written than the peer takes",
        "(req, res) => { asked++; for (let i = 0; i < 64; i++) res.write(Buffer.alloc(65536)); }",
    ),
    ("a body is waited for", "(req, res) => { asked++; req.on('data', () => {}).on('end', () => res.end()); }"),
    ("a body is taken", "async (req, res) => { asked++; for await (const piece of req); res.end(); }"),
    (
        "a socket is listened to",
        "(req, res) => { asked++; req.socket.on('close', () => { globalThis.closed = res; }); }",
    ),
    (
        "a timer is waited for",
        "async (req, res) => { asked++; await new Promise((done) => setTimeout(done, 1_000_000)); res.end('late'); }",
    ),
    (
        "a context is run in",
        "(req, res) => { new (load('node:async_hooks').AsyncLocalStorage)().run({ res }, async () => { asked++; await new Promise(() => {}); }); }",
    ),
];

const REQUESTS: [&str; 2] =
    ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"];

#[test]
fn a_world_that_is_lost_with_requests_under_way_leaves_nothing() {
    let mut left = Vec::new();
    for (name, handler) in UNDER_WAY {
        for server in ["load('node:http').createServer", "load('leat:express')().use"] {
            let bytes = left_by(&format!("{server}({handler})"));
            if bytes > 0 {
                left.push(format!("{name}, {server}: {bytes} bytes"));
            }
        }
    }
    assert!(left.is_empty(), "{}", left.join("\n"));
}

/// Bytes that are still taken when a world is lost with its requests under way, as `worker.rs` does it.
fn left_by(code: &str) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tasks = LocalSet::new();
    let served = tasks.block_on(&runtime, async {
        tokio::task::spawn_local(leat_stream::clock::run());
        let served = tokio::time::timeout(PATIENCE, serve(code, &REQUESTS, false)).await.expect("in time");
        let host = Rc::clone(served.world.host());
        host.turn_to(Life::Lost);
        let _ = tokio::time::timeout(Duration::from_secs(1), host.idle()).await;
        served
    });
    let Served { world, connections } = served;
    drop(tasks);
    let heap = Rc::clone(&world.heap);
    assert!(heap.used() > 100_000, "a world that holds so little is none");
    drop(world);
    drop(connections);
    heap.used()
}
