use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::reply;

/// After so many refusals the server is full, and the rest is not tried.
const REFUSED_MAX: usize = 20;

#[derive(Args)]
pub(crate) struct Options {
    address: SocketAddr,
    #[arg(long, default_value_t = 10_000)]
    connections: usize,
    #[arg(long, default_value = "/")]
    path: String,
}

/// Opens the connections one by one, asks once on each, prints one line, and holds them until standard input ends.
/// The descriptor limit is raised as far as it goes.
pub(crate) fn run(options: &Options) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    let request = reply::request(&options.address.to_string(), &options.path);
    let mut buffer = Vec::new();
    let mut held = Vec::with_capacity(options.connections);
    let mut refused = 0;
    while held.len() < options.connections && refused < REFUSED_MAX {
        match open(options.address, &request, &mut buffer) {
            Ok(socket) => held.push(socket),
            Err(_) => refused += 1,
        }
    }
    println!("{}", json!({ "held": held.len(), "refused": refused }));
    io::stdin().read_to_end(&mut buffer)?;
    let still = held.iter().filter(|socket| alive(socket)).count();
    println!("{}", json!({ "alive": still }));
    Ok(())
}

fn open(address: SocketAddr, request: &[u8], buffer: &mut Vec<u8>) -> io::Result<TcpStream> {
    let mut socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(Duration::from_secs(2)))?;
    if reply::ask(&mut socket, request, buffer)? { Ok(socket) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// A connection that the server closed reads as ended; one that is merely silent would block.
fn alive(socket: &TcpStream) -> bool {
    let silent = socket.set_nonblocking(true).and_then(|()| socket.peek(&mut [0]));
    matches!(silent, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}
