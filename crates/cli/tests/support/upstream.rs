use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// A server that answers every request without a body with 200 and its name, on as many connections as come. A path that
/// ends in `/slow` takes 30 ms.
pub struct Upstream {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

impl Upstream {
    /// Listens on a free port; serves until the test ends.
    pub fn start(name: &'static str) -> Self {
        Self::serve(move |connection| serve(connection, name))
    }

    /// A server that answers with bytes for as long as anybody takes them, up to a gigabyte.
    pub fn flood() -> Self {
        Self::serve(flood)
    }

    fn serve(each: impl Fn(TcpStream) + Clone + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let [connections, ended] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let server = Self { address, connections: Arc::clone(&connections), ended: Arc::clone(&ended) };
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                connections.fetch_add(1, Relaxed);
                let (each, ended) = (each.clone(), Arc::clone(&ended));
                std::thread::spawn(move || {
                    each(connection);
                    ended.fetch_add(1, Relaxed);
                });
            }
        });
        server
    }

    /// Connections that have ended.
    pub fn ended(&self) -> usize {
        self.ended.load(Relaxed)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Relaxed)
    }
}

fn serve(mut connection: TcpStream, name: &str) {
    let _ = connection.set_nodelay(true);
    let reply = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{name}", name.len());
    let mut received = Vec::new();
    let mut block = [0; 4096];
    loop {
        let end = received.windows(4).position(|window| window == b"\r\n\r\n");
        let Some(end) = end else {
            match connection.read(&mut block) {
                Ok(count) if count > 0 => received.extend_from_slice(&block[..count]),
                _ => return,
            }
            continue;
        };
        let line = received.split(|&byte| byte == b'\r').next().unwrap_or_default();
        if line.windows(6).any(|window| window == b"/slow ") {
            std::thread::sleep(Duration::from_millis(30));
        }
        received.drain(..end + 4);
        if connection.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

fn flood(mut connection: TcpStream) {
    const BLOCKS: usize = 16 * 1024;
    let block = vec![b'x'; 64 * 1024];
    let _ = connection.read(&mut [0; 4096]);
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", BLOCKS * block.len());
    let mut sent = connection.write_all(head.as_bytes());
    for _ in 0..BLOCKS {
        if sent.is_err() {
            return;
        }
        sent = connection.write_all(&block);
    }
}
