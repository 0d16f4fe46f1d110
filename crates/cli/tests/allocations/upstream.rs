use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// An upstream on threads of its own, one a connection: the core's counter never sees it. It ends with the process.
pub(crate) fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || answer(stream.unwrap()));
        }
    });
    address
}

/// Answers one request after the other, for as long as the gateway keeps the connection.
fn answer(mut stream: TcpStream) {
    stream.set_nodelay(true).unwrap();
    let mut held = Vec::new();
    let mut part = [0; 16 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut part) {
        held.extend_from_slice(&part[..count]);
        while let Some((reply, end)) = reply(&held) {
            held.drain(..end);
            if stream.write_all(reply).is_err() {
                return;
            }
        }
    }
}

/// The reply to the first whole request in `held`, and where that request ends.
fn reply(held: &[u8]) -> Option<(&'static [u8], usize)> {
    let head = held.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = str::from_utf8(&held[..head]).unwrap();
    let fields = text.to_ascii_lowercase();
    let body = if fields.contains("transfer-encoding: chunked") {
        held[head..].windows(5).position(|five| five == b"0\r\n\r\n")? + 5
    } else {
        let length = fields.split_once("content-length: ");
        length.map_or(0, |(_, value)| value.split_once('\r').unwrap().0.parse::<usize>().unwrap())
    };
    if held.len() < head + body {
        return None;
    }
    let reply: &[u8] = if text.starts_with("GET /chunked") {
        b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n6\r\nHello \r\n7\r\nworld!\n\r\n0\r\n\r\n"
    } else {
        b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 13\r\n\r\nHello world!\n"
    };
    Some((reply, head + body))
}
