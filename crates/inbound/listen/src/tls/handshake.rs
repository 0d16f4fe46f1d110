use std::rc::Rc;

use leat_message::Reason;
use leat_stream::{Plain, Socket};
use tokio_rustls::TlsStream;

use super::TlsSettings;
use crate::Protocol;

/// What a handshake led to.
pub(crate) struct Shaken {
    pub(crate) socket: Socket,
    pub(crate) protocol: Protocol,
    /// In lower case.
    pub(crate) server_name: Option<Rc<str>>,
}

/// Shakes hands as the server. The caller limits the time.
pub(crate) async fn handshake(socket: Plain, settings: &TlsSettings) -> Result<Shaken, Reason> {
    let stream = settings.acceptor().accept(socket).await.map_err(|_| Reason::TlsHandshake)?;
    let (_, connection) = stream.get_ref();
    let protocol = match connection.alpn_protocol() {
        Some(b"h2") => Protocol::Http2,
        _ => Protocol::Http1,
    };
    let server_name = connection.server_name().map(|name| Rc::from(name.to_ascii_lowercase()));
    Ok(Shaken { socket: Socket::from(TlsStream::from(stream)), protocol, server_name })
}
