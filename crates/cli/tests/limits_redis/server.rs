use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

use leat_testkit::{Client, Folder, Leat, Response, eventually};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::metric;

/// A server of a test's own, in a folder of its own; it is gone with its owner.
pub(crate) struct Redis {
    folder: Folder,
    pub(crate) address: SocketAddr,
    process: Child,
    arguments: Vec<String>,
}

impl Redis {
    /// `None`, and it was said, where the machine has no `redis-server`.
    pub(crate) fn start(arguments: &[&str]) -> Option<Self> {
        let redis = Self::launch(own_address(), Folder::new(), arguments)?;
        redis.wait_ready();
        Some(redis)
    }

    /// As [`Redis::start`], at this address and in this folder; does not wait.
    pub(crate) fn launch(address: SocketAddr, folder: Folder, arguments: &[&str]) -> Option<Self> {
        let version = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
        if version.is_err() {
            leat_testkit::skip("rate limits in Redis", "redis-server is not installed");
            return None;
        }
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let process = Self::spawn(&folder, address, &arguments);
        Some(Self { folder, address, process, arguments })
    }

    fn spawn(folder: &Folder, address: SocketAddr, arguments: &[String]) -> Child {
        let mut command = Command::new("redis-server");
        let (port, ip) = (address.port().to_string(), address.ip().to_string());
        // A file comes first: sentinels need one.
        let (file, arguments) = match arguments.split_first() {
            Some((first, rest)) if first.starts_with('/') => (Some(first), rest),
            _ => (None, arguments),
        };
        command.args(file).args(["--port", &port, "--bind", &ip, "--dir"]).arg(folder.path());
        if !arguments.iter().any(|argument| argument == "--sentinel") {
            command.args(["--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"]);
        }
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    pub(crate) fn wait_ready(&self) {
        eventually("Redis", || {
            let mut stream = TcpStream::connect(self.address).ok()?;
            stream.write_all(b"PING\r\n").ok()?;
            let mut answer = [0; 5];
            stream.read_exact(&mut answer).ok().filter(|()| answer == *b"+PONG" || answer == *b"-NOAU")
        });
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(crate) fn restart(&mut self) {
        self.process = Self::spawn(&self.folder, self.address, &self.arguments);
        self.wait_ready();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// What the server answers to inline commands.
    pub(crate) fn ask(&self, command: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        // Sentinels know no `QUIT`, so the answer to something else says that all has been answered.
        stream.write_all(format!("{command}\r\nPING\r\n").as_bytes()).unwrap();
        let (mut answer, mut piece) = (Vec::new(), [0; 4_096]);
        while !answer.ends_with(b"+PONG\r\n") {
            match stream.read(&mut piece).unwrap() {
                0 => break,
                count => answer.extend_from_slice(&piece[..count]),
            }
        }
        String::from_utf8(answer).unwrap()
    }

    /// A gateway that asks this server. A test that is not about its deadline has a long one: on a busy machine 100 ms pass.
    pub(crate) fn gateway(&self, server: &str, limits: &str, route: &str) -> Leat {
        let deadline = if server.contains("deadline") { "" } else { ", deadline: 5s" };
        gateway(&format!("{{ url: 'redis://{}'{server}{deadline} }}", self.address), limits, route)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A gateway whose limits are counted by the server `shared`, which is configured so.
pub(crate) fn gateway(shared: &str, limits: &str, route: &str) -> Leat {
    let config = format!(
        "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
workers: 2
redis:
  shared: {shared}
rate_limits:
  {}
routes:
  - {{ rate_limits: {route}, respond: {{ body: a }} }}
",
        limits.replace('\n', "\n  ")
    );
    Leat::gateway(&config, 1)
}

/// A free port of an address that no other server of these tests has: a server that finds its port taken ends, and its test
/// would talk to the other one. Below the ports of outgoing connections, so that a server that was killed finds it free, and a
/// cluster has room for its bus 10,000 above.
pub(crate) fn own_address() -> SocketAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [_, _, high, low] = std::process::id().to_be_bytes();
    let ip = Ipv4Addr::new(127, high, low, NEXT.fetch_add(1, Relaxed));
    let free = |port: &u16| TcpListener::bind((ip, *port)).is_ok();
    SocketAddr::new(ip.into(), (7_000..7_100).find(free).expect("an address of its own has free ports"))
}

pub(crate) fn ask(client: &mut Client, fields: &str) -> Response {
    client.send(format!("GET / HTTP/1.1\r\nhost: leat.test\r\n{fields}\r\n")).response()
}

pub(crate) fn statuses(client: &mut Client, fields: &str, count: usize) -> Vec<u16> {
    (0..count).map(|_| ask(client, fields).status).collect()
}

pub(crate) fn errors(leat: &mut Leat, limit: &str) -> u64 {
    metric(leat.admin(), &format!("leat_rate_limit_store_errors_total{{limit=\"{limit}\"}}"))
}
