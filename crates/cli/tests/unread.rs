//! A gateway whose standard error nobody reads: a supervisor that hangs, a pager that was paused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};

use leat_testkit::{Client, Folder, eventually};
use rustix::process::{Pid, Signal, kill_process};

/// More lines than a pipe holds (64 KiB).
const LINES: usize = 150;

#[test]
fn nobody_waits_for_a_reader_of_standard_error_who_does_not_read() {
    // An address that nobody else has: a port that is free stays so until the gateway takes it.
    let free = TcpListener::bind("127.53.7.1:0").unwrap();
    let address: SocketAddr = free.local_addr().unwrap();
    drop(free);
    let folder = Folder::new();
    folder.write(
        "it.mjs",
        "import { middleware } from 'leat/middleware';\nexport default middleware({ name: 'it', scope: 'call', onRequest({ request }) { if (request.path === '/bad') throw new Error('it broke'); } });\n",
    );
    let config = format!(
        "listeners: '{address}'\nworkers: 1\nplugins: {{ it: it.mjs }}\nroutes: [{{ plugins: it, respond: {{ body: x }} }}]\n"
    );
    folder.write("leat.yaml", config);
    let mut child = Command::new(env!("CARGO_BIN_EXE_leat"))
        .args(["gateway", "leat.yaml"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    eventually("the gateway", || TcpStream::connect(address).ok());
    let mut client = Client::connect(address);
    let long = format!("/{}", "x".repeat(900));
    for _ in 0..LINES {
        assert_eq!(client.get(&long).response().status, 200);
    }
    // The log's own thread waits for the pipe by now.
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(client.get("/bad").response().status, 500, "an event of a core");
    assert_eq!(client.get("/").response().status, 200);
    kill_process(pid, Signal::HUP).unwrap();
    assert_eq!(Client::connect(address).get("/").response().status, 200);
    kill_process(pid, Signal::TERM).unwrap();
    let status = eventually("the end", || child.try_wait().unwrap());
    assert!(status.success(), "{status}");
}
