use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use leat_rpc_wire::{Code, Metadata, Status};
use leat_schema::Schema;

use super::taken::Taken;
use super::{Answered, Recorded, Recorder};
use crate::call::{Conversation, Message, Outcome};
use crate::client::Client;
use crate::mock::journal::Way;
use crate::mock::secret::is_secret;

/// Bytes of requests that wait for the backend; then the client waits.
const WAITING_BYTES_MAX: usize = 256 * 1024;

/// Passes calls on to a backend, and records what they come to.
pub struct Forward {
    client: Client,
    recorder: Arc<Recorder>,
    schema: Arc<Schema>,
    redact: Vec<String>,
}

/// Who is told of messages that pass, and says whether they may.
pub type Seen<'s> = &'s dyn Fn(Way, Message<'_>) -> Result<(), Status>;

enum Event {
    /// The client has sent a message, or all.
    Asked(bool),
    /// The backend has, or has ended.
    Answered(Option<Vec<u8>>),
}

impl Forward {
    /// `redact` are names of metadata that are left out of what is recorded, beside those that sound secret.
    pub fn new(client: Client, recorder: Arc<Recorder>, schema: Arc<Schema>, redact: Vec<String>) -> Self {
        Self { client, recorder, schema, redact }
    }

    /// Answers with what the backend answers. A call that the client gives up is not recorded.
    ///
    /// `first` is the first message, where it was taken already; `seen` is told of the others, both ways.
    pub async fn converse<C: Conversation>(
        &self,
        first: Option<&[u8]>,
        conversation: &mut C,
        seen: Seen<'_>,
    ) -> Outcome {
        match self.pass(first, conversation, seen).await {
            Ok((outcome, None)) => outcome,
            Ok((outcome, Some(recorded))) => match self.recorder.note(Arc::clone(&self.schema), recorded).await {
                Ok(()) => outcome,
                // A recording with holes in it would be found out much later.
                Err(message) => Status::new(Code::Internal, message).into(),
            },
            Err(status) => status.into(),
        }
    }

    async fn pass<C: Conversation>(
        &self,
        first: Option<&[u8]>,
        conversation: &mut C,
        seen: Seen<'_>,
    ) -> Result<(Outcome, Option<Recorded>), Status> {
        let asked = conversation.call();
        let (method, metadata, time) = (asked.method.clone(), asked.metadata.to_owned(), asked.timeout);
        let mut call = self.client.call(method.path(), &metadata, time).await?;
        let mut taken = Taken::default();
        if let Some(first) = first {
            call.send(first);
            taken.asked(first);
        }
        let (mut is_whole, mut has_headers) = (false, false);
        let mut room = Vec::new();
        let mut last = Instant::now();
        loop {
            let event = poll_fn(|cx| {
                if !is_whole
                    && call.waiting_bytes() < WAITING_BYTES_MAX
                    && let Poll::Ready(received) = conversation.poll_receive(cx)
                {
                    return Poll::Ready(received.map(Event::Asked));
                }
                call.poll_receive(cx).map_ok(Event::Answered)
            })
            .await?;
            if call.has_headers() && !std::mem::replace(&mut has_headers, call.has_headers()) {
                call.headers().iter().for_each(|(name, value)| conversation.header(name, value));
            }
            match event {
                Event::Asked(true) => {
                    let message = conversation.message();
                    seen(Way::In, message)?;
                    let bytes = message.request_binary(&method, &mut room)?;
                    call.send(bytes);
                    taken.asked(bytes);
                    last = Instant::now();
                }
                Event::Asked(false) => {
                    is_whole = true;
                    call.end();
                }
                Event::Answered(Some(message)) => {
                    let after_ms = waited_ms(&mut last);
                    seen(Way::Out, Message::binary(&message))?;
                    conversation.send(Message::binary(&message))?;
                    taken.answered(message, after_ms);
                    conversation.room().await?;
                }
                Event::Answered(None) => break,
            }
        }
        let (status, trailers) = (call.status(), call.trailers());
        let recorded = taken.all().map(|(requests, messages)| Recorded {
            method: method.full_name().to_owned(),
            metadata: self.open(&metadata),
            requests,
            answer: Answered {
                headers: self.open(call.headers()),
                messages,
                status: status.clone(),
                end_ms: waited_ms(&mut last),
                trailers: self.open(&trailers),
            },
        });
        Ok((Outcome { status, trailers }, recorded))
    }

    /// Metadata of the application, without its secrets.
    fn open(&self, metadata: &Metadata) -> Metadata {
        let mut open = Metadata::new();
        for (name, value) in metadata.iter().filter(|(name, _)| crate::client::is_passed_on(name)) {
            if !is_secret(name, &self.redact) {
                open.push(name, value);
            }
        }
        open
    }
}

fn waited_ms(last: &mut Instant) -> u64 {
    let now = Instant::now();
    let waited = now.duration_since(std::mem::replace(last, now));
    u64::try_from(waited.as_millis()).unwrap_or(u64::MAX)
}
