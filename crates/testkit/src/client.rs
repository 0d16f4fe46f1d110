use std::net::{SocketAddr, TcpStream};

use crate::connection::Connection;
use crate::response;
use crate::{DEADLINE, Response};

/// A raw HTTP/1 client: sends the bytes it is told to, whether or not they make sense. Panics where an expectation fails.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
}

impl Client {
    /// Connects within the deadline, with TCP_NODELAY.
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect_timeout(&address, DEADLINE)
            .unwrap_or_else(|error| panic!("cannot connect to {address}: {error}"));
        Self { connection: Connection::new(stream) }
    }

    /// Sends bytes in one write.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let sent = self.connection.send(bytes.as_ref());
        self.checked(sent);
        self
    }

    /// Sends pieces, each in a write of its own. The kernel may still join them; tests of parsers split by hand too.
    pub fn send_pieces<P: AsRef<[u8]>>(&mut self, pieces: impl IntoIterator<Item = P>) -> &mut Self {
        for piece in pieces {
            self.send(piece);
        }
        self
    }

    /// Sends `count` bytes `x`.
    pub fn send_bytes(&mut self, count: u64) -> &mut Self {
        let sent = self.connection.send_bytes(count);
        self.checked(sent);
        self
    }

    /// Sends a GET for `path` with a Host.
    pub fn get(&mut self, path: &str) -> &mut Self {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: leat.test\r\n\r\n"))
    }

    /// Reads the next final response to a request whose method has no say in its framing.
    pub fn response(&mut self) -> Response {
        self.response_to("GET")
    }

    /// Reads the next final response to a request with `method`.
    pub fn response_to(&mut self, method: &str) -> Response {
        let response = response::read(&mut self.connection, method);
        self.checked(response)
    }

    /// Reads up to and including `bytes`.
    pub fn until(&mut self, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        let taken = self.connection.until(bytes.as_ref());
        self.checked(taken)
    }

    /// Reads `count` bytes and forgets them.
    pub fn discard(&mut self, count: u64) -> &mut Self {
        let discarded = self.connection.discard(count);
        self.checked(discarded);
        self
    }

    /// Reads everything up to the end of the connection. A reset counts as the end; see [`Client::was_reset`].
    pub fn rest(&mut self) -> Vec<u8> {
        self.was_reset();
        self.connection.take(self.connection.waiting().len())
    }

    /// The connection must be closed by the other end in the ordinary way, without a byte more.
    pub fn expect_end(&mut self) {
        let ended = self.connection.expect_end();
        self.checked(ended);
    }

    /// Reads to the end and says whether that was a reset rather than an ordinary close. Panics if no end comes.
    pub fn was_reset(&mut self) -> bool {
        loop {
            match self.connection.fill() {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) if error.contains("failed") => return true,
                Err(error) => panic!("{error}, and no end either"),
            }
        }
    }

    /// Ends the sending side (FIN).
    pub fn close_write(&mut self) -> &mut Self {
        let closed = self.connection.close_write();
        self.checked(closed);
        self
    }

    /// Resets the connection (RST).
    pub fn reset(mut self) {
        let reset = self.connection.reset();
        self.checked(reset);
    }

    fn checked<T>(&self, result: Result<T, String>) -> T {
        result.unwrap_or_else(|error| panic!("{error}"))
    }
}
