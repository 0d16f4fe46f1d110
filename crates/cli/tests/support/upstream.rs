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
}

impl Upstream {
    /// Listens on a free port; serves until the test ends.
    pub fn start(name: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                count.fetch_add(1, Relaxed);
                std::thread::spawn(move || serve(connection, name));
            }
        });
        Self { address, connections }
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
