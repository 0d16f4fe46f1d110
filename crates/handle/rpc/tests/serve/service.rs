//! A service with a method of each kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use leat_message::Step;
use leat_rpc::{Answer, Call, Conversation, Fault, Message, Outcome, Prepared, Service};
use leat_rpc_wire::{Code, Detail, Metadata, Status};
use leat_schema::wire::{Reader, put_varint};
use leat_schema::{Method, Schema, Sources};

const PROTO: &str = r#"
    syntax = "proto3";
    package test;
    import "google/api/annotations.proto";
    message Text { string text = 1; }
    service Texts {
        rpc Echo(Text) returns (Text);
        rpc Get(Text) returns (Text) {
            option idempotency_level = NO_SIDE_EFFECTS;
            option (google.api.http) = { get: "/v1/texts/{text}" };
        }
        rpc Ready(Text) returns (Text);
        rpc Fail(Text) returns (Text) { option (google.api.http) = { post: "/v1/fail" body: "*" }; }
        rpc Wait(Text) returns (Text);
        rpc Break(Text) returns (Text);
        rpc Count(Text) returns (stream Text);
        rpc Flood(Text) returns (stream Text);
        rpc Join(stream Text) returns (Text);
        rpc Chat(stream Text) returns (stream Text);
    }
"#;

pub(crate) fn schema() -> Arc<Schema> {
    let mut sources = Sources::new();
    sources.proto("test.proto", PROTO);
    sources.build().unwrap()
}

/// What a test sees of the calls.
#[derive(Default)]
pub(crate) struct Seen {
    /// Calls whose future was dropped before its end.
    pub(crate) dropped: AtomicUsize,
    /// Messages of `Flood` that were sent.
    pub(crate) sent: AtomicUsize,
}

pub(crate) struct Texts {
    schema: Arc<Schema>,
    ready: Prepared,
    seen: Arc<Seen>,
}

impl Texts {
    pub(crate) fn new(schema: Arc<Schema>, seen: Arc<Seen>) -> Self {
        let ready = Prepared { binary: text("ready").into(), json: (&br#"{"text":"ready"}"#[..]).into() };
        Self { schema, ready, seen }
    }
}

/// A `Text` in binary form.
pub(crate) fn text(value: &str) -> Vec<u8> {
    let mut out = vec![1 << 3 | 2];
    put_varint(&mut out, value.len() as u64);
    out.extend_from_slice(value.as_bytes());
    out
}

/// The text of a message.
pub(crate) fn read(message: &[u8]) -> String {
    let mut reader = Reader::new(message);
    let found = reader.tag().and_then(|_| reader.length_delimited()).unwrap_or_default();
    String::from_utf8(found.to_vec()).unwrap()
}

fn value(call: &Call<'_>, message: Message<'_>) -> Result<String, Status> {
    let mut room = Vec::new();
    message.request_binary(call.method, &mut room).map(read)
}

/// Notices that a future is dropped.
struct Guard(Option<Arc<Seen>>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(seen) = &self.0 {
            seen.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Service for Texts {
    type Plan = ();

    fn method(&self, path: &str) -> Option<&Method> {
        self.schema.method(path)
    }

    fn whole<A: Answer>(&self, call: &Call<'_>, request: Message<'_>, answer: &mut A) -> Step<()> {
        match call.method.name() {
            "Wait" | "Break" => return Step::Exchange(()),
            "Ready" => answer.prepared(&self.ready),
            "Fail" => {
                answer.header("x-head", b"1");
                answer.trailer("x-trail", b"2");
                let details = vec![Detail { type_name: "test.Text".into(), value: text("why").into() }];
                answer.fail(&Status { code: Code::NotFound, message: "no ☺".into(), details });
            }
            _ => match value(call, request) {
                Ok(found) => {
                    for value in call.metadata.binary("x-in-bin") {
                        answer.header("x-out-bin", &value);
                        answer.trailer("x-trail-bin", &value);
                    }
                    answer.message(Message::binary(&text(&found)));
                }
                Err(status) => answer.fail(&status),
            },
        }
        Step::Done
    }

    async fn converse<C: Conversation>(&self, _plan: Option<()>, conversation: &mut C) -> Outcome {
        let mut guard = Guard(Some(Arc::clone(&self.seen)));
        let outcome = self.run(conversation).await;
        guard.0 = None;
        outcome.unwrap_or_else(Outcome::from)
    }
}

impl Texts {
    async fn run<C: Conversation>(&self, conversation: &mut C) -> Result<Outcome, Status> {
        let name = conversation.call().method.name().to_owned();
        let mut all = Vec::new();
        while conversation.receive().await? {
            let found = value(&conversation.call(), conversation.message())?;
            match &*name {
                "Chat" => conversation.send(Message::binary(&text(&format!("{found}!"))))?,
                _ => all.push(found),
            }
        }
        let request = all.join("+");
        match &*name {
            "Wait" => std::future::pending().await,
            "Break" => self.break_it(conversation, &request)?,
            "Join" => conversation.send(Message::binary(&text(&request)))?,
            "Count" => {
                conversation.header("x-head", b"1");
                for number in 0..request.parse().unwrap_or(0) {
                    conversation.send(Message::json(format!(r#"{{"text":"{number}"}}"#).as_bytes()))?;
                }
                let mut trailers = Metadata::new();
                trailers.push("x-trail", b"2");
                return Ok(Outcome { status: Status::OK, trailers });
            }
            "Flood" => loop {
                conversation.room().await?;
                conversation.send(Message::binary(&text(&"x".repeat(1000))))?;
                self.seen.sent.fetch_add(1, Ordering::SeqCst);
            },
            _ => {}
        }
        Ok(Outcome::OK)
    }

    /// The request says how: a message before the break or none, and the fault.
    fn break_it<C: Conversation>(&self, conversation: &mut C, request: &str) -> Result<(), Status> {
        let (fault, sends) = match request {
            "reset" => (Fault::Reset { code: 7 }, false),
            "late reset" => (Fault::Reset { code: 11 }, true),
            "goaway" => (Fault::GoAway { code: 11 }, false),
            "close" => (Fault::Close, false),
            "cut" => (Fault::Cut { after_bytes: 7 }, true),
            "no trailers" => (Fault::NoTrailers, true),
            "bad compression" => (Fault::BadCompression, true),
            "trickle" => (Fault::Trickle { bytes: 4, every_ms: 1 }, true),
            _ => return Err(Status::new(Code::InvalidArgument, "no such fault")),
        };
        conversation.fault(fault);
        if sends { conversation.send(Message::binary(&text("some text"))) } else { Ok(()) }
    }
}
