//! Sockets passed to another process: this test binary, started again in a role.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use leat_listen::{Inherited, ListenAddress, ListenError, ListenerSet, ServeOptions, hand_over};
use support::{Folder, SOON, bind, gate, on_core, serve};

const ROLE: &str = "LEAT_TEST_ROLE";
const ADDRESSES: &str = "LEAT_TEST_ADDRESSES";
const WORKERS: &str = "LEAT_TEST_WORKERS";

/// This binary in a role: `child_role` does as it says.
fn role(role: &str, addresses: &[&str], workers: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child_role", "--nocapture"])
        .env(ROLE, role)
        .env(ADDRESSES, addresses.join(" "))
        .env(WORKERS, workers.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// What a started process does; nothing in an ordinary test run.
#[test]
fn child_role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let mut inherited = Inherited::take().unwrap();
    let ready = inherited.take_ready_signal();
    match role.as_str() {
        "die" => std::process::exit(3),
        "hang" => std::thread::sleep(SOON),
        // Answers every connection with the number of the process.
        "answer" => {
            let addresses: Vec<ListenAddress> =
                std::env::var(ADDRESSES).unwrap().split(' ').map(|address| address.parse().unwrap()).collect();
            let workers = std::env::var(WORKERS).unwrap().parse().unwrap();
            let set = ListenerSet::bind(&addresses, workers, inherited).unwrap();
            assert_eq!(set.unclaimed(), Vec::<String>::new());
            on_core(|| async move {
                let gate = gate(|_| {});
                let mut all = Vec::new();
                for endpoint in set.endpoints() {
                    for worker in 0..workers {
                        all.push(serve(endpoint.listener(worker).unwrap(), &gate, ServeOptions::default()));
                    }
                }
                if let Some(ready) = ready {
                    ready.send().unwrap();
                }
                for mut connections in all {
                    tokio::task::spawn_local(async move {
                        use tokio::io::AsyncWriteExt;
                        while let Some(mut accepted) = connections.recv().await {
                            let text = std::process::id().to_string();
                            accepted.socket.write_all(text.as_bytes()).await.unwrap();
                            accepted.socket.shutdown().await.unwrap();
                        }
                    });
                }
                tokio::time::sleep(SOON).await;
            });
        }
        role => panic!("no such role: {role}"),
    }
    std::process::exit(0);
}

fn answer(mut stream: impl Read) -> u32 {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.parse().unwrap()
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream
}

struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_successor_accepts_what_waits_in_every_socket() {
    let folder = Folder::new();
    // Fewer, as many and more cores than the old process had; port 0 keeps its port.
    for workers in [1, 3, 4] {
        let path = folder.path(&format!("{workers}.sock"));
        let unix = format!("unix:{}", path.display());
        let addresses = ["127.0.0.1:0", unix.as_str()];
        let set = bind(&addresses, 3);
        let address = set.endpoints()[0].local_addr().unwrap();
        let waiting: Vec<TcpStream> = (0..24).map(|_| connect(address)).collect();
        let waiting_unix = UnixStream::connect(&path).unwrap();

        let mut successor = hand_over(&set, role("answer", &addresses, workers)).unwrap();
        successor.wait_ready(SOON).unwrap();
        drop(set);
        let pid = successor.child().id();
        let late = connect(address);
        for stream in waiting.into_iter().chain([late]) {
            assert_eq!(answer(stream), pid);
        }
        assert_eq!(answer(waiting_unix), pid);
        assert_eq!(answer(UnixStream::connect(&path).unwrap()), pid);
        successor.child().kill().unwrap();
        successor.child().wait().unwrap();
    }
}

#[test]
fn a_successor_that_fails_is_noticed() {
    let set = bind(&["127.0.0.1:0"], 2);
    for (role_name, within, slow) in [("die", SOON, false), ("hang", Duration::from_millis(50), true)] {
        let mut successor = hand_over(&set, role(role_name, &[], 1)).unwrap();
        let error = successor.wait_ready(within).expect_err(role_name);
        assert_eq!(matches!(error, ListenError::SuccessorSlow), slow, "{error}");
        let _ = successor.child().kill();
        successor.child().wait().unwrap();
    }
    assert!(matches!(hand_over(&set, Command::new("/nonexistent/leat")), Err(ListenError::HandOver(_))));
}

/// Starts this binary as systemd would, with these descriptors from 3 on.
fn activated(descriptors: Vec<OwnedFd>, names: Option<&str>, addresses: &[&str]) -> Command {
    let mut command = role("answer", addresses, 2);
    command.env("LISTEN_FDS", descriptors.len().to_string()).env_remove("LISTEN_FDNAMES").stderr(Stdio::piped());
    if let Some(names) = names {
        command.env("LISTEN_FDNAMES", names);
    }
    let mappings = descriptors.into_iter().zip(3..).map(|(parent_fd, child_fd)| FdMapping { parent_fd, child_fd });
    command.fd_mappings(mappings.collect()).unwrap();
    command
}

fn passed_tcp() -> (OwnedFd, SocketAddr) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener.into(), address)
}

#[test]
fn systemds_sockets_are_found_by_address_number_and_name() {
    let folder = Folder::new();
    let path = folder.path("leat.sock");
    let (by_address, first) = passed_tcp();
    let (by_number, second) = passed_tcp();
    let (by_name, third) = passed_tcp();
    let unix: OwnedFd = std::os::unix::net::UnixListener::bind(&path).unwrap().into();
    let waiting = [connect(first), connect(second), connect(third)];
    let waiting_unix = UnixStream::connect(&path).unwrap();
    let addresses = [&first.to_string(), "fd:4", "systemd:web", &format!("unix:{}", path.display())];
    let mut command = activated(vec![by_address, by_number, by_name, unix], Some("a:b:web:c"), &addresses);
    let child = Killed(command.spawn().unwrap());
    drop(command);
    for stream in waiting {
        assert_eq!(answer(stream), child.0.id());
    }
    assert_eq!(answer(waiting_unix), child.0.id());
    for address in [first, second, third] {
        assert_eq!(answer(connect(address)), child.0.id());
    }
}

#[test]
fn what_is_not_a_listening_socket_is_refused_by_number() {
    let (good, _) = passed_tcp();
    let (reader, writer) = UnixStream::pair().unwrap();
    let udp: OwnedFd = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().into();
    let file: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
    for (bad, problem) in [(reader.into(), "not listening"), (udp, "not a TCP"), (file, "not a TCP")] {
        let mut command = activated(vec![good.try_clone().unwrap(), bad], None, &["fd:3"]);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        assert!(text.contains("descriptor: 4") && text.contains(problem), "{text}");
    }
    drop(writer);
}

#[test]
fn sockets_meant_for_another_process_are_left_alone() {
    let (socket, address) = passed_tcp();
    let mut command = activated(vec![socket], None, &[&address.to_string()]);
    command.env("LISTEN_PID", "1");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("Busy"), "{text}");
    std::io::stderr().flush().unwrap();
}
