use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// As much of an HTTP/2 client as one request after the other needs (RFC 9113), without a library.
pub(crate) struct H2Client {
    stream: TcpStream,
    next_id: u32,
}

impl H2Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(leat_testkit::DEADLINE)).unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
        let mut client = Self { stream, next_id: 1 };
        client.send(SETTINGS, 0, 0, &[]);
        // Wide enough for every body of a test.
        client.send(WINDOW_UPDATE, 0, 0, &(1u32 << 30).to_be_bytes());
        client
    }

    /// Calls a method of gRPC and reads the response to its end.
    pub(crate) fn call(&mut self, path: &str, body: &[u8]) {
        let id = self.next_id;
        self.next_id += 2;
        // Indexed: `:method: POST`, `:scheme: http`; the rest literal, as in `get`.
        let mut block = vec![0x83, 0x86, 0x04, u8::try_from(path.len()).unwrap()];
        block.extend_from_slice(path.as_bytes());
        block.extend_from_slice(b"\x01\x09leat.test\x0f\x10\x10application/grpc\x00\x02te\x08trailers");
        self.send(HEADERS, END_HEADERS, id, &block);
        self.send(DATA, END_STREAM, id, body);
        self.read_to_end_of(id);
    }

    /// Asks for `path` and reads the response to its end.
    pub(crate) fn get(&mut self, path: &str) {
        let id = self.next_id;
        self.next_id += 2;
        // Indexed: `:method: GET`, `:scheme: http`. Literal, not indexed, without Huffman: `:path`, `:authority`.
        let mut block = vec![0x82, 0x86, 0x04, u8::try_from(path.len()).unwrap()];
        block.extend_from_slice(path.as_bytes());
        block.extend_from_slice(b"\x01\x09leat.test");
        self.send(HEADERS, END_STREAM | END_HEADERS, id, &block);
        self.read_to_end_of(id);
    }

    fn read_to_end_of(&mut self, id: u32) {
        loop {
            let (kind, flags, of, payload) = self.receive();
            match kind {
                SETTINGS if flags & ACK == 0 => self.send(SETTINGS, ACK, 0, &[]),
                PING if flags & ACK == 0 => self.send(PING, ACK, 0, &payload),
                // HEADERS and DATA share the flag.
                DATA | HEADERS if of == id && flags & END_STREAM != 0 => return,
                3 | 7 => panic!("the stream was reset: frame {kind}, {payload:?}"),
                _ => {}
            }
        }
    }

    fn send(&mut self, kind: u8, flags: u8, id: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend_from_slice(&[kind, flags]);
        frame.extend_from_slice(&id.to_be_bytes());
        frame.extend_from_slice(payload);
        self.stream.write_all(&frame).unwrap();
    }

    fn receive(&mut self) -> (u8, u8, u32, Vec<u8>) {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).unwrap();
        let [a, b, c, kind, flags, id @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.stream.read_exact(&mut payload).unwrap();
        (kind, flags, u32::from_be_bytes(id), payload)
    }
}
