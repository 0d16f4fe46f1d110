use std::future::Future;
use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

/// The reply of every rival in the `reply` role; nginx, HAProxy and Leat are configured with the same text.
pub const PLAIN: &str = "Hello, World!";

/// Listens on `address` and runs `connection` as one task per accepted socket (with `TCP_NODELAY`), until killed.
///
/// # Errors
/// The runtime or the listener could not be made.
pub fn serve<F, C>(address: SocketAddr, connection: F) -> io::Result<()>
where
    F: Fn(TcpStream) -> C,
    C: Future<Output = ()> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        loop {
            let Ok((socket, _)) = listener.accept().await else { continue };
            if socket.set_nodelay(true).is_ok() {
                tokio::spawn(connection(socket));
            }
        }
    })
}
