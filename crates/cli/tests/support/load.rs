use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;

use leat_testkit::{DEADLINE, eventually};

/// Requests of one thread, at most: no loop here is without an end.
const REQUESTS_MAX: u64 = 200_000;

/// How a thread of load uses connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// One after the other, on one connection for as long as the server lets it.
    KeepAlive,
    /// A connection for every request.
    Fresh,
}

/// Requests without a pause, one at a time a thread. A request counts as failed unless its reply arrives whole, with
/// status 200; `connection: close` is honoured.
pub struct Load {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
    threads: Vec<JoinHandle<Outcome>>,
}

/// What became of the requests.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Replies that arrived whole.
    pub answered: u64,
    /// Connections that were not taken: refused, or reset before a byte came back on a connection's first request.
    pub refused: u64,
    /// What went wrong with the others.
    pub failures: Vec<String>,
}

impl Load {
    /// Starts a thread for each of `manners`. Each asks for `paths` in turn and ends when [`Load::finish`] is called, or
    /// when a connection is not taken.
    pub fn start(address: SocketAddr, manners: &[Manner], paths: &[&str]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let answered = Arc::new(AtomicU64::new(0));
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let threads = manners.iter().map(|&manner| {
            let runner = Runner {
                address,
                manner,
                paths: paths.clone(),
                stop: Arc::clone(&stop),
                answered: Arc::clone(&answered),
            };
            std::thread::spawn(move || runner.run())
        });
        let threads = threads.collect();
        Self { stop, answered, threads }
    }

    /// Replies so far.
    pub fn answered(&self) -> u64 {
        self.answered.load(Relaxed)
    }

    /// Waits for `more` further replies.
    pub fn wait_answered(&self, more: u64) {
        let before = self.answered();
        eventually(&format!("{more} more replies"), || (self.answered() >= before + more).then_some(()));
    }

    /// Ends the load after the requests under way.
    pub fn finish(self) -> Outcome {
        self.stop.store(true, Relaxed);
        self.join()
    }

    /// Waits until every thread has found that connections are not taken any more.
    pub fn join(self) -> Outcome {
        let mut all = Outcome::default();
        for thread in self.threads {
            let one = thread.join().expect("a load thread does not panic");
            all.answered += one.answered;
            all.refused += one.refused;
            all.failures.extend(one.failures);
        }
        all
    }
}

struct Runner {
    address: SocketAddr,
    manner: Manner,
    paths: Vec<String>,
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
}

/// How one request ended, if not well.
enum Failure {
    /// Nothing came back.
    Silent(String),
    /// Something else.
    Other(String),
}

impl Runner {
    fn run(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let mut sent = 0;
        while !self.stop.load(Relaxed) && sent < REQUESTS_MAX && outcome.failures.is_empty() {
            let mut connection = match TcpStream::connect_timeout(&self.address, DEADLINE) {
                Ok(connection) => connection,
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    outcome.refused += 1;
                    return outcome;
                }
                Err(error) => {
                    outcome.failures.push(format!("connecting: {error}"));
                    return outcome;
                }
            };
            connection.set_nodelay(true).unwrap();
            connection.set_read_timeout(Some(DEADLINE)).unwrap();
            let mut received = Vec::new();
            for number in 0.. {
                let path = &self.paths[usize::try_from(sent).unwrap() % self.paths.len()];
                sent += 1;
                match exchange(&mut connection, &mut received, path, self.manner) {
                    Ok(keeps) => {
                        outcome.answered += 1;
                        self.answered.fetch_add(1, Relaxed);
                        if !keeps {
                            break;
                        }
                    }
                    Err(Failure::Silent(_)) if number == 0 => {
                        outcome.refused += 1;
                        return outcome;
                    }
                    Err(Failure::Silent(why) | Failure::Other(why)) => {
                        outcome.failures.push(format!("request {number} of a connection, {path}: {why}"));
                        return outcome;
                    }
                }
                if self.stop.load(Relaxed) || sent >= REQUESTS_MAX {
                    break;
                }
            }
        }
        outcome
    }
}

/// One request and its reply; says whether the connection can be used again.
fn exchange(connection: &mut TcpStream, received: &mut Vec<u8>, path: &str, manner: Manner) -> Result<bool, Failure> {
    let close = if manner == Manner::Fresh { "connection: close\r\n" } else { "" };
    let request = format!("GET {path} HTTP/1.1\r\nhost: leat.test\r\n{close}\r\n");
    connection.write_all(request.as_bytes()).map_err(|error| Failure::Silent(format!("sending: {error}")))?;
    received.clear();
    let mut block = [0; 4096];
    let mut wanted = usize::MAX;
    while received.len() < wanted {
        let why = match connection.read(&mut block) {
            Ok(0) => "the end".to_owned(),
            Ok(count) => {
                received.extend_from_slice(&block[..count]);
                if wanted == usize::MAX
                    && let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n")
                {
                    wanted = end + 4 + length(&received[..end]).map_err(Failure::Other)?;
                }
                continue;
            }
            Err(error) => error.to_string(),
        };
        if received.is_empty() {
            return Err(Failure::Silent(why));
        }
        return Err(Failure::Other(format!("{why} after \"{}\"", received.escape_ascii())));
    }
    if received.len() > wanted {
        return Err(Failure::Other("more than the reply came".to_owned()));
    }
    Ok(!received.windows(17).any(|window| window == b"connection: close"))
}

/// The Content-Length of a reply with status 200.
fn length(head: &[u8]) -> Result<usize, String> {
    let text = str::from_utf8(head).map_err(|_| "the head is not text")?;
    if !text.starts_with("HTTP/1.1 200 ") {
        return Err(format!("not a 200: {text}"));
    }
    let value = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    value.and_then(|value| value.parse().ok()).ok_or_else(|| format!("no length: {text}"))
}
