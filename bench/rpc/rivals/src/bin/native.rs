//! What a rule is measured against: the echo service on Leat's own handler, without rules.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use clap::Parser;
use leat_listen::{Gate, Inherited, ListenAddress, ListenerSet, ServeOptions};
use leat_message::{Limits, Profile, Step};
use leat_rpc::serve::{Rpc, Settings};
use leat_rpc::{Answer, Call, Conversation, Message, Outcome, Service as Calls};
use leat_schema::{Method, Schema, Sources};
use leat_serve::{OnError, Protocol, Service, Site};
use tokio::task::{LocalSet, spawn_local};

#[derive(Parser)]
struct Options {
    #[arg(long)]
    listen: SocketAddr,
    /// The file that describes the service.
    #[arg(long)]
    proto: PathBuf,
}

struct Same(Arc<Schema>);

impl Calls for Same {
    type Plan = ();

    fn method(&self, path: &str) -> Option<&Method> {
        self.0.method(path)
    }

    fn whole<A: Answer>(&self, _: &Call<'_>, request: Message<'_>, answer: &mut A) -> Step<()> {
        answer.message(request);
        Step::Done
    }

    async fn converse<C: Conversation>(&self, _: Option<()>, conversation: &mut C) -> Outcome {
        let mut room = Vec::new();
        loop {
            match conversation.receive().await {
                Ok(true) => {}
                Ok(false) => return Outcome::OK,
                Err(status) => return status.into(),
            }
            let Message { form, bytes } = conversation.message();
            room.clear();
            room.extend_from_slice(bytes);
            if let Err(status) = conversation.send(Message { form, bytes: &room }) {
                return status.into();
            }
        }
    }
}

fn main() -> io::Result<()> {
    let options = Options::parse();
    let mut sources = Sources::new();
    sources.path(&options.proto);
    let schema = sources.build().map_err(|problems| io::Error::other(format!("{problems:?}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        spawn_local(leat_stream::clock::run());
        let sockets =
            ListenerSet::bind(&[ListenAddress::Tcp(options.listen)], 1, Inherited::none()).map_err(io::Error::other)?;
        let listener = sockets.endpoints().first().ok_or(io::ErrorKind::NotFound)?.listener(0)?;
        let limits = Limits::default();
        let gate = Gate::new(&limits);
        let service = Service::new(Site {
            handler: Rpc::new(Same(schema), Settings::default()),
            limits,
            profile: Profile::Strict,
            on_error: OnError::Close,
            drain_grace_ms: 0,
        });
        let serve_options = ServeOptions { http2_plain: true, ..ServeOptions::default() };
        let serving = leat_listen::serve(listener, gate, serve_options, move |accepted| {
            let protocol = match accepted.protocol {
                leat_listen::Protocol::Http1 => Protocol::Http1,
                leat_listen::Protocol::Http2 => Protocol::Http2,
                leat_listen::Protocol::Sniff => Protocol::Sniff,
            };
            let serving = leat_serve::serve(accepted.socket, Vec::new(), protocol, accepted.peer, Rc::clone(&service));
            let permit = accepted.permit;
            spawn_local(async move {
                serving.await;
                drop(permit);
            });
        });
        serving.await.map_err(io::Error::other)
    })
}
