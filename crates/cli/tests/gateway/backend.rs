//! A server whose manners the test changes while it runs, and that can go and come back.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a backend does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Manner {
    /// Answers with the status, further field lines (each with its line end), and its name and the request's body.
    Answer(u16, &'static str),
    /// Answers with 200 after this time.
    Slow(Duration),
    /// Answers with 200 after this time, one request at a time over all connections.
    InTurn(Duration),
    /// Closes the connection without a byte.
    Close,
}

/// Answers with 200.
pub(crate) const WELL: Manner = Manner::Answer(200, "");
/// Answers with 503.
pub(crate) const ILL: Manner = Manner::Answer(503, "");

/// A running server. It ends with the test.
#[derive(Debug)]
pub(crate) struct Backend {
    name: &'static str,
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    manner: Mutex<Manner>,
    requests: AtomicUsize,
    /// Requests that are being answered, and the most that ever were.
    at_once: AtomicUsize,
    most: AtomicUsize,
    turn: Mutex<()>,
    /// The heads that arrived.
    heads: Mutex<Vec<String>>,
    gone: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Backend {
    pub(crate) fn start(name: &'static str, manner: Manner) -> Self {
        Self::listen(name, manner, TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn listen(name: &'static str, manner: Manner, listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            manner: Mutex::new(manner),
            requests: AtomicUsize::new(0),
            at_once: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            turn: Mutex::default(),
            heads: Mutex::default(),
            gone: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                if accepting.gone.load(SeqCst) {
                    return;
                }
                let _ = connection.set_nodelay(true);
                accepting.open.lock().unwrap().extend(connection.try_clone());
                let shared = Arc::clone(&accepting);
                std::thread::spawn(move || shared.serve(connection, name));
            }
        });
        Self { name, address, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Requests that arrived so far.
    pub(crate) fn requests(&self) -> usize {
        self.shared.requests.load(SeqCst)
    }

    /// The most requests that it was given at once.
    pub(crate) fn most(&self) -> usize {
        self.shared.most.load(SeqCst)
    }

    /// The heads that arrived so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.shared.heads.lock().unwrap().clone()
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.shared.manner.lock().unwrap() = manner;
    }

    /// Ends every connection and listens no more, as a process that was killed.
    pub(crate) fn kill(&self) {
        self.shared.gone.store(true, SeqCst);
        // Wakes the accept loop, whose end closes the listener.
        let _ = TcpStream::connect(self.address);
        for connection in self.shared.open.lock().unwrap().drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        leat_testkit::eventually("the listener's end", || TcpStream::connect(self.address).is_err().then_some(()));
    }

    /// Comes back at the same address, well.
    pub(crate) fn restart(&self) -> Self {
        Self::listen(self.name, WELL, TcpListener::bind(self.address).unwrap())
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        if !self.shared.gone.swap(true, SeqCst) {
            let _ = TcpStream::connect(self.address);
        }
    }
}

impl Shared {
    fn serve(&self, mut connection: TcpStream, name: &str) {
        let mut received = Vec::new();
        let mut block = [0; 16 * 1024];
        loop {
            let Some(end) = whole(&received) else {
                match connection.read(&mut block) {
                    Ok(count) if count > 0 => received.extend_from_slice(&block[..count]),
                    _ => return,
                }
                continue;
            };
            let head = received.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
            self.heads.lock().unwrap().push(String::from_utf8_lossy(&received[..head]).into_owned());
            let body = String::from_utf8_lossy(&received[head..end]).into_owned();
            received.drain(..end);
            self.requests.fetch_add(1, SeqCst);
            self.most.fetch_max(self.at_once.fetch_add(1, SeqCst) + 1, SeqCst);
            let manner = self.manner.lock().unwrap().clone();
            let (status, fields) = match manner {
                Manner::Answer(status, fields) => (status, fields),
                Manner::Slow(time) => {
                    std::thread::sleep(time);
                    (200, "")
                }
                Manner::InTurn(time) => {
                    let _turn = self.turn.lock().unwrap();
                    std::thread::sleep(time);
                    (200, "")
                }
                Manner::Close => {
                    self.at_once.fetch_sub(1, SeqCst);
                    let _ = connection.shutdown(Shutdown::Both);
                    return;
                }
            };
            self.at_once.fetch_sub(1, SeqCst);
            let length = name.len() + body.len();
            let reply = format!("HTTP/1.1 {status} X\r\n{fields}content-length: {length}\r\n\r\n{name}{body}");
            if connection.write_all(reply.as_bytes()).is_err() {
                return;
            }
        }
    }
}

/// Where the first request ends, once it is there: a head, and a body of known length.
fn whole(received: &[u8]) -> Option<usize> {
    let head = received.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&received[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
    let end = head + length.unwrap_or(0_usize);
    (received.len() >= end).then_some(end)
}

/// A configuration with one route to `backends`, and `keys` of the upstream in flow style.
pub(crate) fn config(backends: &[&Backend], root: &str, keys: &str) -> String {
    let endpoints: Vec<String> = backends.iter().map(|backend| format!("\"{}\"", backend.url())).collect();
    upstream(&endpoints.join(", "), root, keys)
}

/// The same with the list of endpoints as it stands in the file.
pub(crate) fn upstream(endpoints: &str, root: &str, keys: &str) -> String {
    let workers = if root.contains("workers") { "" } else { "workers: 1" };
    format!(
        "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
{workers}
{root}
routes: [{{ name: all, proxy: up }}]
upstreams:
  up: {{ endpoints: [{endpoints}], {keys} }}
"
    )
}
