//! The schema of a live server, as its reflection tells it.

use std::future::poll_fn;
use std::time::Duration;

use bytes::Bytes;
use leat_dial::{Pools, Resolver, ResolverSettings};
use leat_rpc_wire::{Code, Metadata, Status};
use tokio::task::LocalSet;

use crate::client::{Backend, Client};
use crate::reflection::{Collector, PATH, PATH_V1ALPHA};

/// How long a server may take to tell everything.
const TIME: Duration = Duration::from_secs(30);

/// Asks a server for its schema: a set of descriptors. Blocks the calling thread, which must have no runtime.
///
/// # Errors
/// Why it could not be had, in words for a person.
pub(super) fn fetch(server: &Backend) -> Result<Bytes, String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let asked = LocalSet::new().block_on(&runtime, async {
        tokio::task::spawn_local(leat_stream::clock::run());
        let client = Client::new(server, Pools::new(Resolver::new(ResolverSettings::default())));
        tokio::time::timeout(TIME, ask(&client)).await
    });
    let authority = server.authority();
    match asked {
        Ok(Ok(told)) => Ok(told),
        Ok(Err(status)) => {
            Err(format!("{authority} does not tell its schema: {}: {}", status.code.name(), status.message))
        }
        Err(_) => Err(format!("{authority} did not tell its schema within {} s", TIME.as_secs())),
    }
}

async fn ask(client: &Client) -> Result<Bytes, Status> {
    match ask_at(client, PATH).await {
        // Servers from before 2023 know the older one alone.
        Err(status) if status.code == Code::Unimplemented => ask_at(client, PATH_V1ALPHA).await,
        told => told,
    }
}

async fn ask_at(client: &Client, path: &str) -> Result<Bytes, Status> {
    let wrong = |message: String| Status::new(Code::Internal, message);
    let mut collector = Collector::new();
    let mut call = client.call(path, &Metadata::new(), None).await?;
    while let Some(request) = collector.request() {
        call.send(&request);
        match poll_fn(|cx| call.poll_receive(cx)).await? {
            Some(answer) => collector.answer(&answer).map_err(|error| wrong(error.to_string()))?,
            None if call.status().is_ok() => return Err(wrong("it ended before it had told everything".to_owned())),
            None => return Err(call.status()),
        }
    }
    Ok(collector.finish())
}
