//! The smallest server on Leat's engine: a raw handler that answers every request with one fixed reply.
//!
//! `cargo run --release -p leat-serve --example plain -- 127.0.0.1:8080`

use std::net::SocketAddr;
use std::rc::Rc;

use leat_message::{
    Address, Exchange, Fault, Fixed, Handler, Head, Limits, Peer, Profile, Reason, Reply, Scheme, Step,
};
use leat_serve::{OnError, Protocol, Service, Site, serve};
use tokio::net::TcpListener;
use tokio::task::{LocalSet, spawn_local};

struct Hello(Fixed);

impl Handler for Hello {
    type Plan = ();

    fn raw<R: Reply>(&self, _request: Head<'_>, _peer: &Peer, reply: &mut R) -> Step<()> {
        reply.fixed(&self.0);
        Step::Done
    }

    async fn exchange<X: Exchange>(&self, (): (), _exchange: &mut X) -> Result<(), Fault> {
        Err(Reason::HandlerFailed.into())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address: SocketAddr = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into()).parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async move {
        spawn_local(leat_stream::clock::run());
        let fields = vec![("content-type".to_owned(), "text/plain".to_owned())];
        let service = Service::new(Site {
            handler: Hello(Fixed::new(200, fields, b"Hello, World!".to_vec())),
            limits: Limits::default(),
            profile: Profile::Compatible,
            on_error: OnError::Close,
            drain_grace_ms: 500,
        });
        let listener = TcpListener::bind(address).await?;
        eprintln!("listening on {}", listener.local_addr()?);
        loop {
            let (stream, remote) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let local = stream.local_addr()?;
            let peer = Peer { remote: Address::Ip(remote), local: Address::Ip(local), scheme: Scheme::Http, tls: None };
            spawn_local(serve(stream.into(), Vec::new(), Protocol::Sniff, Rc::new(peer), Rc::clone(&service)));
        }
    })
}
