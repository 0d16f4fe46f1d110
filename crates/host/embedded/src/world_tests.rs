#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::PathBuf;

use super::*;
use crate::host::OnError;
use crate::options::Options;
use crate::process::{Process, Seat};

/// Bytes that are still taken when a world has run `code` and is gone.
fn left_by(code: &str) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tasks = tokio::task::LocalSet::new();
    let heap = tasks.block_on(&runtime, async {
        let process = Process::new(Options::new(PathBuf::from("app.js")));
        let host = Host::new(vec!["app.js".to_owned()], OnError::Exit, Seat::new(&process, 0));
        let world = World::new(host).unwrap();
        world.enter(|ctx| {
            ctx.globals().set("load", Func::from(load))?;
            ctx.eval::<(), _>(code)
        });
        tokio::task::yield_now().await;
        (Rc::clone(&world.heap), world)
    });
    // Tasks hold values of their world.
    drop(tasks);
    let (heap, world) = heap;
    assert!(heap.used() > 100_000, "a world that holds so little is none");
    drop(world);
    heap.used()
}

fn load<'js>(ctx: Ctx<'js>, name: String) -> Result<Value<'js>> {
    crate::builtins::require(&ctx, &name)
}

/// What programs do that holds values outside of their world.
const PROGRAMS: [&str; 13] = [
    "",
    "setTimeout(() => {}, 1_000_000); setInterval(() => {}, 1_000_000); setImmediate(() => {})",
    "globalThis.pending = new Promise(() => {}).then(() => {}); process.nextTick(() => {})",
    "new (load('node:async_hooks').AsyncLocalStorage)().run({}, () => { Promise.resolve().then(() => {}); setTimeout(() => {}, 1_000_000) })",
    "process.on('exit', () => {}); process.on('uncaughtException', () => {}); process.on('SIGUSR2', () => {})",
    "load('node:fs').readFile('/none', () => {}); void load('node:fs/promises').readFile('/none').catch(() => {})",
    "load('node:fs').createReadStream('/dev/null').on('data', () => {})",
    "load('node:http').createServer(() => {}).listen(0)",
    "load('node:net').createServer(() => {}).listen(0)",
    "load('node:net').connect(1, '127.0.0.1').on('error', () => {})",
    "load('leat:express')().get('/', () => {}).listen(0)",
    "void fetch('http://127.0.0.1:1/').catch(() => {})",
    "load('node:zlib').gzip('a', () => {}); load('node:crypto').randomBytes(8, () => {})",
];

#[test]
fn nothing_of_a_world_stays_behind() {
    // It takes connections, and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let waits = [
        format!("void fetch('http://127.0.0.1:{port}/').catch(() => {{}})"),
        format!(
            "void fetch('http://127.0.0.1:{port}/', {{ method: 'POST', duplex: 'half', body: new ReadableStream({{ pull: (c) => c.enqueue(new Uint8Array(9)) }}) }}).catch(() => {{}})"
        ),
        format!("load('node:http').get('http://127.0.0.1:{port}/', () => {{}}).on('error', () => {{}})"),
        format!("load('node:net').connect({port}, '127.0.0.1').on('data', () => {{}}).write('a')"),
        "load('node:zlib').createGzip().on('data', () => {}).write('a')".to_owned(),
        "AbortSignal.timeout(1_000_000).addEventListener('abort', () => {})".to_owned(),
    ];
    let mut left = Vec::new();
    for code in PROGRAMS
        .into_iter()
        .map(str::to_owned)
        .chain(waits)
        .chain(crate::builtins::names().map(|name| format!("void load('{name}')")))
    {
        let bytes = left_by(&code);
        if bytes > 0 {
            left.push(format!("{code}: {bytes} bytes"));
        }
    }
    assert!(left.is_empty(), "{}", left.join("\n"));
}
