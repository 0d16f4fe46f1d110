//! HTTP/2 connections.

mod closing;
mod connection;
mod exchange;
mod field;
mod head;
mod link;
mod reply;
mod verbatim;

use std::rc::Rc;

use leat_message::{Handler, Peer};
use leat_stream::Socket;

use crate::Service;

/// The first bytes of every HTTP/2 connection with prior knowledge (RFC 9113 section 3.4).
pub(crate) use leat_h2::PREFACE;

/// Serves one HTTP/2 connection until it ends. `first_bytes` were read from the socket already.
///
/// A raw handler is answered without a task of its own; an exchange costs one task. Each request's head is copied once,
/// into the one-buffer form that HTTP/1 has, and judged by the same parser.
pub async fn serve_h2<H: Handler>(socket: Socket, first_bytes: Vec<u8>, peer: Rc<Peer>, service: Rc<Service<H>>) {
    connection::Connection::serve(socket, first_bytes, peer, service).await;
}
