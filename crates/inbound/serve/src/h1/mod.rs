//! HTTP/1.x connections.

mod body;
mod closing;
mod connection;
mod exchange;
mod refused;
mod reply;
mod transport;
mod verbatim;

use std::rc::Rc;

use leat_message::{Handler, Peer};
use leat_stream::Socket;

use crate::Service;

/// Serves one HTTP/1.x connection until it ends. `first_bytes` were read from the socket already.
///
/// Cost per keep-alive request through a raw handler: no allocation, one read, one write; a pipelined batch shares both.
pub async fn serve_h1<H: Handler>(socket: Socket, first_bytes: Vec<u8>, peer: Rc<Peer>, service: Rc<Service<H>>) {
    let mut connection = connection::Connection::new(socket, &first_bytes, peer, service);
    // Bytes that are copied need not be kept for as long as the connection.
    drop(first_bytes);
    connection.run().await;
}
