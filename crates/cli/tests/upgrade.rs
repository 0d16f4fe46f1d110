//! SIGUSR2: a new process takes the sockets over without losing a request; and sockets that others opened for us.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use command_fds::{CommandFdExt, FdMapping};
use leat_testkit::{Client, Folder, Leat, Peer, Script, eventually};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use support::{Load, Manner, Upstream, events};

/// The process that took over. It is nobody's child here: killed when dropped.
struct Successor(Pid);

impl Successor {
    fn of(leat: &mut Leat) -> Self {
        let line = leat.wait_log("the upgrade", |line| line.contains("\"event\":\"upgraded\""));
        let (_, rest) = line.split_once("\"process\":\"").unwrap();
        Self(Pid::from_raw(rest.split('"').next().unwrap().parse().unwrap()).unwrap())
    }

    fn end(&self) {
        kill_process(self.0, Signal::TERM).unwrap();
        let pid = self.0.as_raw_nonzero();
        // Nobody may wait for it, where this process is not its parent: a zombie has ended too.
        eventually("the end of the successor", || {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status"));
            status.map_or(Some(()), |status| status.contains("State:\tZ").then_some(()))
        });
    }
}

impl Drop for Successor {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}

fn config(upstream: SocketAddr, body: &str) -> String {
    format!(
        "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
access_log: off
workers: 2
drain: {{ grace: 300ms, deadline: 8s }}
routes:
  - match: {{ path: /here }}
    respond: {{ body: {body} }}
  - match: {{ prefix: /there }}
    proxy: http://{upstream}
"
    )
}

#[test]
fn a_new_process_takes_over_under_load_and_no_request_fails() {
    let upstream = Upstream::start("upstream");
    let mut leat = Leat::gateway(&config(upstream.address(), "old"), 1);
    let manners = [Manner::KeepAlive, Manner::KeepAlive, Manner::Fresh];
    let load = Load::start(leat.address(0), &manners, &["/here", "/there", "/there/slow"]);
    load.wait_answered(100);
    leat.rewrite(&config(upstream.address(), "new"));
    leat.upgrade();
    let successor = Successor::of(&mut leat);
    assert_eq!(leat.wait().code(), Some(0), "the old process drains and ends");
    load.wait_answered(100);
    let outcome = load.finish();
    assert_eq!(outcome.failures, [""; 0], "after {} replies", outcome.answered);
    assert_eq!(outcome.refused, 0);
    assert_eq!(events(&leat.log(), "drain_cut"), 0);
    assert_eq!(leat.connect().get("/here").response().text(), "new");
    successor.end();
    assert!(std::net::TcpStream::connect(leat.address(0)).is_err(), "nobody holds the port any more");
}

#[test]
fn probes_are_for_the_new_process_while_the_old_one_drains() {
    let upstream = Peer::listen([Script::new().expect_head()]);
    let mut leat = Leat::gateway(&config(upstream.address(), "x"), 1);
    let admin = leat.admin();
    let mut stuck = leat.connect();
    stuck.get("/there");
    upstream.wait_connections(1);
    let mut kept = Client::connect(admin);
    assert_eq!(kept.get("/readyz").response().status, 200);
    leat.upgrade();
    let _successor = Successor::of(&mut leat);
    leat.wait_log("the drain", |line| line.contains("\"event\":\"draining\""));
    kept.expect_end();
    for _ in 0..10 {
        assert_eq!(Client::connect(admin).get("/readyz").response().status, 200);
    }
}

#[test]
fn an_upgrade_that_fails_leaves_the_old_process_as_it_was() {
    let upstream = Upstream::start("upstream");
    let good = config(upstream.address(), "old");
    let mut leat = Leat::gateway(&good, 1);
    let mut client = leat.connect();
    assert_eq!(client.get("/here").response().text(), "old");
    leat.rewrite("listeners: nonsense\n");
    for number in 1..=2 {
        leat.upgrade();
        eventually("the failure", || (events(&leat.log(), "upgrade_failed") >= number).then_some(()));
    }
    assert!(leat.log().iter().any(|line| line.contains("leat.yaml:1:12")), "{:?}", leat.log());
    assert_eq!(client.get("/here").response().field("connection"), None);
    assert_eq!(leat.connect().get("/there").response().text(), "upstream");
    leat.rewrite(&good);
    leat.upgrade();
    let _successor = Successor::of(&mut leat);
    assert_eq!(leat.wait().code(), Some(0));
}

#[test]
fn a_signal_is_heard_while_a_successor_is_starting() {
    let upstream = Upstream::start("upstream");
    let mut leat = Leat::gateway(&config(upstream.address(), "old"), 1);
    // A file that nobody writes: the successor reads it for ever.
    let path = leat.folder().path().join("leat.yaml");
    std::fs::remove_file(&path).unwrap();
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    leat.upgrade();
    let parent = leat.pid();
    let child = eventually("the successor", || {
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
        let all = std::fs::read_dir(format!("/proc/{parent}/task")).ok()?;
        let others = all.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        let found = others.fold(children, |found, more| found + &more);
        Pid::from_raw(found.split_whitespace().next()?.parse().ok()?)
    });
    let child = Successor(child);
    leat.upgrade();
    assert_eq!(leat.connect().get("/here").response().text(), "old");
    leat.terminate();
    assert_eq!(leat.wait().code(), Some(0));
    eventually("the end of the successor", || test_kill_process(child.0).is_err().then_some(()));
    assert_eq!(events(&leat.log(), "upgraded"), 0);
}

/// Starts `leat` as systemd does: the sockets from descriptor 3 on, and variables that tell of them.
fn activated(config: &str, sockets: Vec<OwnedFd>, names: &str) -> Leat {
    let folder = Folder::new();
    let path = folder.write("leat.yaml", config);
    let mut command = Command::new("sh");
    // The process number of `leat` is that of the shell that becomes it.
    command.args(["-c", "LISTEN_PID=$$ exec \"$0\" gateway \"$1\""]);
    command.arg(leat_testkit::binary()).arg(path);
    command.env("LISTEN_FDS", sockets.len().to_string()).env("LISTEN_FDNAMES", names);
    let mappings = sockets.into_iter().zip(3..).map(|(parent_fd, child_fd)| FdMapping { parent_fd, child_fd });
    command.fd_mappings(mappings.collect()).unwrap();
    Leat::spawn_by(folder, command)
}

#[test]
fn sockets_that_systemd_opened_are_listened_on() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp.local_addr().unwrap();
    let named = TcpListener::bind("127.0.0.1:0").unwrap();
    let name_address = named.local_addr().unwrap();
    let folder = Folder::new();
    let path = folder.path().join("leat.sock");
    let unix = UnixListener::bind(&path).unwrap();
    // Connected before the process is there: nothing is lost while a service starts.
    let mut early = Client::connect(name_address);
    early.get("/");
    let config =
        "listeners: ['fd:3', 'systemd:web', 'systemd:local']\nworkers: 2\nroutes: [{ respond: { body: x } }]\n";
    let mut leat = activated(config, vec![tcp.into(), named.into(), unix.into()], "first:web:local");
    assert_eq!(early.response().text(), "x");
    for _ in 0..8 {
        assert_eq!(Client::connect(address).get("/").response().text(), "x");
        assert_eq!(Client::connect(name_address).get("/").response().text(), "x");
    }
    assert_eq!(ask_unix(&path), "x");
    leat.terminate();
    assert_eq!(leat.wait().code(), Some(0));
}

#[test]
fn a_socket_that_was_not_passed_is_named() {
    let config = "listeners: 'systemd:web'\nroutes: [{ respond: { body: x } }]\n";
    let mut leat = activated(config, Vec::new(), "");
    assert_eq!(leat.wait().code(), Some(1));
    leat.wait_log("the reason", |line| line.contains("systemd:web") && line.contains("FileDescriptorName=web"));
}

fn ask_unix(path: &Path) -> String {
    use std::io::{Read, Write};

    let mut stream = std::os::unix::net::UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(leat_testkit::DEADLINE)).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: leat.test\r\nconnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[test]
fn the_service_manager_is_told_of_every_turn() {
    let folder = Folder::new();
    let path = folder.path().join("notify.sock");
    let manager = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(leat_testkit::DEADLINE)).unwrap();
    let hear = || {
        let mut bytes = [0; 256];
        let count = manager.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..count].to_vec()).unwrap()
    };
    let config = folder.write("leat.yaml", "listeners: 127.0.0.1:0\nroutes: [{ respond: { body: x } }]\n");
    let mut command = Command::new(leat_testkit::binary());
    command.arg("gateway").arg(&config).env("NOTIFY_SOCKET", &path);
    let mut leat = Leat::spawn_by(folder, command);
    assert_eq!(hear(), "READY=1");
    leat.reload();
    assert!(hear().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    assert_eq!(hear(), "READY=1");
    leat.upgrade();
    assert_eq!(hear(), "READY=1", "the new process");
    let successor = Successor::of(&mut leat);
    assert_eq!(hear(), format!("MAINPID={}", successor.0.as_raw_nonzero()));
    assert_eq!(leat.wait().code(), Some(0), "the old process does not say that the service stops");
    successor.end();
    assert_eq!(hear(), "STOPPING=1");
}
