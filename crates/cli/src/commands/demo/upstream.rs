use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::task::{Poll, ready};

use leat_message::{
    Address, Exchange, Fault, Handler, Head, Length, Limits, Peer, Piece, Profile, Reason, Reply, Scheme, Step,
};
use leat_serve::{OnError, Protocol, Service, Site, serve};
use leat_stream::clock;
use tokio::task::{LocalSet, spawn_local};

/// Pause between two events.
const EVENT_EVERY_MS: u64 = 1_000;
/// Events of one reply; then it ends.
const EVENTS_MAX: u32 = 60;

/// Starts the upstream on a free port of the loopback, on a thread of its own that ends with the process.
pub(super) fn start() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("demo-upstream".into()).spawn(move || {
        LocalSet::new().block_on(&runtime, async move {
            // Without it the demo goes on, and the gateway answers 502: there is nobody else to tell.
            let _ = accept(listener).await;
        });
    })?;
    Ok(address)
}

async fn accept(listener: TcpListener) -> io::Result<()> {
    spawn_local(clock::run());
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let service = Service::new(Site {
        handler: Upstream,
        limits: Limits::default(),
        profile: Profile::Compatible,
        on_error: OnError::Close,
        drain_grace_ms: 0,
    });
    loop {
        let (stream, remote) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let local = Address::Ip(stream.local_addr()?);
        let peer = Rc::new(Peer { remote: Address::Ip(remote), local, scheme: Scheme::Http, tls: None });
        spawn_local(serve(stream.into(), Vec::new(), Protocol::Sniff, peer, Rc::clone(&service)));
    }
}

/// Says what it saw, echoes bodies, and sends events.
struct Upstream;

enum Plan {
    Echo,
    Events,
}

impl Handler for Upstream {
    type Plan = Plan;

    fn raw<R: Reply>(&self, request: Head<'_>, _peer: &Peer, reply: &mut R) -> Step<Plan> {
        match request.path() {
            b"/echo" => return Step::Exchange(Plan::Echo),
            b"/events" => return Step::Exchange(Plan::Events),
            _ => {}
        }
        let body = format!("{}\n", seen(request));
        reply.status(200);
        reply.field(b"content-type", b"application/json");
        reply.length(Length::Known(body.len() as u64));
        reply.body(body.as_bytes());
        Step::Done
    }

    async fn exchange<X: Exchange>(&self, plan: Plan, x: &mut X) -> Result<(), Fault> {
        match plan {
            Plan::Echo => echo(x).await,
            Plan::Events => events(x).await,
        }
    }
}

/// The request as JSON.
fn seen(request: Head<'_>) -> serde_json::Value {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let fields: Vec<_> = request.fields().iter().map(|(_, name, value)| [text(name), text(value)]).collect();
    serde_json::json!({
        "method": text(request.method_bytes()),
        "target": text(request.target()),
        "fields": fields,
    })
}

/// Sends the request's body back, piece by piece.
async fn echo<X: Exchange>(x: &mut X) -> Result<(), Fault> {
    let length = match x.request().length() {
        Length::Known(count) => Length::Known(count),
        Length::None => Length::Known(0),
        _ => Length::Stream,
    };
    // Before the head: a client that waits for 100 (Continue) would take the head for the end of that wait.
    poll_fn(|cx| x.poll_body(cx).map_ok(|_| ())).await?;
    x.status(200);
    x.field(b"content-type", b"application/octet-stream");
    x.length(length);
    let mut held = Vec::new();
    loop {
        let piece = poll_fn(|cx| match ready!(x.poll_body(cx))? {
            Piece::Data(bytes) => {
                held.clear();
                held.extend_from_slice(bytes);
                Poll::Ready(Ok::<_, Reason>(bytes.len()))
            }
            Piece::End => Poll::Ready(Ok(0)),
        })
        .await?;
        if piece == 0 {
            break;
        }
        x.consume(piece);
        send(x, &held).await?;
    }
    x.end(None);
    Ok(())
}

/// Sends the time, once a second.
async fn events<X: Exchange>(x: &mut X) -> Result<(), Fault> {
    x.status(200);
    x.field(b"content-type", b"text/event-stream");
    x.field(b"cache-control", b"no-store");
    x.length(Length::Stream);
    for number in 0..EVENTS_MAX {
        let event = format!("id: {number}\ndata: {}\n\n", String::from_utf8_lossy(&clock::date()));
        send(x, event.as_bytes()).await?;
        poll_fn(|cx| x.poll_flush(cx)).await?;
        let mut timer = leat_stream::Timer::default();
        timer.set_after(EVENT_EVERY_MS);
        poll_fn(|cx| match x.poll_gone(cx) {
            Poll::Ready(reason) => Poll::Ready(Err(reason)),
            Poll::Pending => timer.poll_due(cx).map(Ok),
        })
        .await?;
    }
    x.end(None);
    Ok(())
}

async fn send<X: Exchange>(x: &mut X, mut bytes: &[u8]) -> Result<(), Reason> {
    while !bytes.is_empty() {
        let count = poll_fn(|cx| x.poll_send(cx, bytes)).await?;
        bytes = bytes.get(count..).unwrap_or_default();
    }
    Ok(())
}
