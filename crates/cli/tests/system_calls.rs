//! How often the core's thread calls the kernel for a request, counted by strace on the real binary: figures that no
//! other load on the machine can move.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use leat_testkit::{Client, Folder, Leat, Peer, Script, eventually, skip};
use rustix::process::{Pid, Signal, kill_process};

/// Requests, or batches, that are counted.
const COUNTED: u64 = 200;
/// Requests before counting begins: connections are open and buffers are there then.
const WARM_UP: u64 = 20;
/// Calls that belong to no request, in a run: the sweep of the pools, counters that are published.
const STRAY_MAX: u64 = 20;
/// The core's clock wakes up so often.
const TICK_MS: u64 = 20;

struct Case {
    name: &'static str,
    request: String,
    replies: usize,
    /// Calls that read from a socket, for each time the request is sent.
    reads: u64,
    /// Calls that write to one.
    writes: u64,
    /// Waits for events, at most.
    waits_max: u64,
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: leat.test\r\n\r\n")
}

fn cases() -> Vec<Case> {
    let post = "POST /proxy HTTP/1.1\r\nhost: leat.test\r\ncontent-length: 5\r\n\r\nhello";
    vec![
        Case { name: "respond", request: get("/raw"), replies: 1, reads: 1, writes: 1, waits_max: 1 },
        Case {
            name: "respond, 16 pipelined",
            request: get("/raw").repeat(16),
            replies: 16,
            reads: 1,
            writes: 1,
            waits_max: 1,
        },
        Case { name: "not found", request: get("/nothing"), replies: 1, reads: 1, writes: 1, waits_max: 1 },
        Case { name: "proxy", request: get("/proxy"), replies: 1, reads: 2, writes: 2, waits_max: 2 },
        Case { name: "proxy, POST", request: post.into(), replies: 1, reads: 2, writes: 2, waits_max: 2 },
    ]
}

#[test]
fn a_request_costs_one_read_and_one_write_on_each_side() {
    if let Err(reason) = traceable() {
        skip("system_calls", &reason);
        return;
    }
    // As many exchanges on one connection as all cases make.
    let reply = "HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\nHello world!\n";
    let small = Script::new().expect_until("\r\n\r\n").send(reply);
    let with_body = Script::new().expect_until("\r\n\r\nhello").send(reply);
    let exchanges = usize::try_from(WARM_UP + COUNTED).unwrap();
    let peers = [&small, &with_body].map(|exchange| Peer::listen([exchange.repeated(exchanges)]));
    let leat = Leat::gateway(
        &format!(
            "listeners: [127.0.0.1:0]\nworkers: 1\naccess_log: off\nroutes:\n\
             \x20 - match: {{ path: /raw }}\n    respond: {{ body: \"Hello world!\\n\" }}\n\
             \x20 - match: {{ path: /proxy, method: GET }}\n    proxy: http://{}\n\
             \x20 - match: {{ path: /proxy, method: POST }}\n    proxy: http://{}\n",
            peers[0].address(),
            peers[1].address()
        ),
        1,
    );
    let core = thread_named(leat.pid(), "leat-0");
    for case in cases() {
        check(&case, leat.connect(), core);
    }
}

fn check(case: &Case, mut client: Client, core: u32) {
    let mut ask = |times| {
        for _ in 0..times {
            client.send(&case.request);
            for _ in 0..case.replies {
                client.response();
            }
        }
    };
    ask(WARM_UP);
    let started = Instant::now();
    let calls = traced(core, || ask(COUNTED));
    let ticks = u64::try_from(started.elapsed().as_millis()).unwrap() / TICK_MS;
    println!("{}: {calls:?}", case.name);
    let sum = |names: &[&str]| names.iter().filter_map(|name| calls.get(*name)).sum::<u64>();
    let reads = sum(&["read", "readv", "recvfrom", "recvmsg"]);
    let writes = sum(&["write", "writev", "sendto", "sendmsg"]);
    let waits = sum(&["epoll_wait", "epoll_pwait", "epoll_pwait2"]);
    let others = calls.values().sum::<u64>() - reads - writes - waits;
    // A tick is one wait, and one write: the runtime wakes itself.
    let strays = STRAY_MAX + 2 * ticks;
    let few = |counted: u64, each: u64| (each * COUNTED..=each * COUNTED + strays).contains(&counted);
    assert!(few(reads, case.reads), "{}: {reads} reads in {COUNTED}: {calls:?}", case.name);
    assert!(few(writes, case.writes), "{}: {writes} writes in {COUNTED}: {calls:?}", case.name);
    assert!(waits <= case.waits_max * COUNTED + strays, "{}: {waits} waits in {COUNTED}: {calls:?}", case.name);
    assert!(others <= strays, "{}: other calls: {calls:?}", case.name);
}

/// Whether strace is there and may trace.
fn traceable() -> Result<(), String> {
    let output = Command::new("strace").args(["-e", "trace=none", "true"]).output();
    let output = output.map_err(|error| format!("strace can't be started ({error}); apt-get install strace"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("strace may not trace: {}", said.trim())) }
}

/// The calls that thread `core` makes while `run` runs, by name.
fn traced(core: u32, run: impl FnOnce()) -> BTreeMap<String, u64> {
    let folder = Folder::new();
    let out = folder.path().join("strace");
    let mut strace = Strace(
        Command::new("strace")
            .args(["-p", &core.to_string(), "-o"])
            .arg(&out)
            .stderr(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let mut said = BufReader::new(strace.0.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("attached") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "strace ended before it was attached");
    }
    run();
    // On an interrupt strace detaches, and writes what it has.
    let pid = i32::try_from(strace.0.id()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    eventually("the end of strace", || strace.0.try_wait().unwrap());
    let mut calls = BTreeMap::new();
    for line in std::fs::read_to_string(&out).unwrap().lines() {
        if let Some((name, _)) = line.split_once('(')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            *calls.entry(name.to_owned()).or_default() += 1;
        }
    }
    calls
}

struct Strace(Child);

impl Drop for Strace {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn thread_named(pid: u32, name: &str) -> u32 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let mut tasks = tasks.map(|task| task.unwrap().path());
    let found = tasks.find(|task| std::fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim() == name));
    let found = found.unwrap_or_else(|| panic!("there is no thread {name}"));
    found.file_name().unwrap().to_str().unwrap().parse().unwrap()
}
