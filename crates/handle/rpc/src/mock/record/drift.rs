use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use leat_rpc_wire::{Code, Metadata, Status, binary_value};
use leat_schema::{Method, Schema};
use serde_json::{Value, json};

use super::write::{json as message_json, metadata as metadata_json};
use super::{Answered, Difference, compare};
use crate::call::{Form, Message};
use crate::client::Client;
use crate::mock::Loaded;
use crate::mock::admin::OfSchema;
use crate::mock::answering::Answering;
use crate::mock::journal::show_status;
use crate::mock::noted::wall_time;
use crate::mock::reply::{Action, Facts, RequestFields, Sent, Steps};
use crate::mock::state::Draws;

/// How long a backend may take to answer one request.
const TIME: Duration = Duration::from_secs(30);
/// Messages of one answer that are compared; a reply may be endless.
const MESSAGES_MAX: usize = 10_000;

/// Steps of a rule's reply that are followed; a script may wait forever.
const STEPS_MAX: usize = 100_000;

/// A rule, held against what a backend answers to its request.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The rule's name.
    pub rule: String,
    /// `package.Service/Method`.
    pub method: String,
    /// Where the rule stands: `rules.yaml:3:5`.
    pub place: String,
    /// What is not as the rule has it.
    pub differences: Vec<Difference>,
}

/// What came of all rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drift {
    /// Those that have a request (`sample`), in the order of their files.
    pub compared: Vec<Compared>,
    /// How many have none.
    pub skipped: usize,
}

impl Drift {
    /// Sends the request of every rule that has one to a backend, one after the other, and compares. Times are not compared, and
    /// of headers and trailers those alone that the rule sets. `more` is metadata for every call, such as credentials.
    pub async fn of(loaded: &Loaded, client: &Client, more: &Metadata) -> Self {
        let mut drift = Self::default();
        let set = std::sync::Arc::clone(&loaded.live());
        for info in set.rules() {
            let method = loaded.schema().method_named(info.method());
            let (Some(method), Some(sample)) = (method, info.sample()) else {
                drift.skipped += 1;
                continue;
            };
            let rule = set.rules_of(method).iter().find(|rule| rule.number() == info.number());
            let Some(rule) = rule else { continue };
            let differences = match Sample::read(method, sample, more) {
                Ok(sample) => one(loaded.schema(), method, rule.reply(), &sample, client).await,
                Err(message) => vec![Difference { path: format!("sample: {message}"), was: None, is: None }],
            };
            drift.compared.push(Compared {
                rule: info.name().to_string(),
                method: method.full_name().to_owned(),
                place: format!("{}:{}", info.file(), info.place()),
                differences,
            });
        }
        drift
    }

    /// How many rules differ.
    pub fn changed(&self) -> usize {
        self.compared.iter().filter(|compared| !compared.differences.is_empty()).count()
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let rules = self.compared.iter().map(|compared| {
            let differences = compared.differences.iter();
            let differences: Vec<Value> =
                differences.map(|one| json!({ "path": one.path, "was": one.was, "is": one.is })).collect();
            json!({
                "rule": compared.rule,
                "method": compared.method,
                "place": compared.place,
                "same": differences.is_empty(),
                "differences": differences,
            })
        });
        json!({
            "rules": rules.collect::<Vec<_>>(),
            "compared": self.compared.len(),
            "changed": self.changed(),
            "skipped": self.skipped,
        })
    }
}

/// The request of a rule.
struct Sample {
    metadata: Metadata,
    messages: Vec<Bytes>,
}

impl Sample {
    fn read(method: &Method, sample: &Value, more: &Metadata) -> Result<Self, String> {
        let mut metadata = Metadata::new();
        let given = sample.get("metadata").and_then(Value::as_object);
        for (name, value) in given.into_iter().flatten() {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for text in values.iter().filter_map(Value::as_str) {
                match Metadata::is_binary(name) {
                    true => metadata.push(name, &binary_value::decode(text.as_bytes()).ok_or("a value is no Base64")?),
                    false => metadata.push(name, text.as_bytes()),
                }
            }
        }
        more.iter().for_each(|(name, value)| metadata.push(name, value));
        let mut messages = Vec::new();
        for message in sample.get("messages").and_then(Value::as_array).into_iter().flatten() {
            let mut bytes = Vec::new();
            let made = method.input().to_binary(message.to_string().as_bytes(), &mut bytes);
            made.map_err(|error| error.to_string())?;
            messages.push(bytes.into());
        }
        if messages.is_empty() && !method.client_streams() {
            return Err("it has no message".to_owned());
        }
        Ok(Self { metadata, messages })
    }
}

async fn one(
    schema: &Arc<Schema>,
    method: &Method,
    answering: &Answering,
    sample: &Sample,
    client: &Client,
) -> Vec<Difference> {
    let was = said(answering, method, sample);
    let is = match tokio::time::timeout(TIME, asked(client, method, sample)).await {
        Ok(answer) => answer,
        Err(_) => failed(Status::new(Code::DeadlineExceeded, "no answer within 30 s")),
    };
    let mut told = Vec::new();
    let status = |answer: &Answered| show_status(&answer.status, &OfSchema(schema));
    compare("status", &status(&was), &status(&is), &mut told);
    let messages = |answer: &Answered| {
        let all = answer.messages.iter().map(|(bytes, _)| {
            // What is none of the type differs from all that rules can say.
            message_json(method.output(), bytes).unwrap_or_else(Value::String)
        });
        if method.server_streams() { Value::Array(all.collect()) } else { all.last().unwrap_or_default() }
    };
    let name = if method.server_streams() { "messages" } else { "message" };
    compare(name, &messages(&was), &messages(&is), &mut told);
    for (name, was, is) in [("headers", &was.headers, &is.headers), ("trailers", &was.trailers, &is.trailers)] {
        let (was, mut is) = (metadata_json(was), metadata_json(is));
        is.retain(|name, _| was.contains_key(name));
        compare(name, &Value::Object(was), &Value::Object(is), &mut told);
    }
    told
}

/// What the backend answers.
async fn asked(client: &Client, method: &Method, sample: &Sample) -> Answered {
    let mut call = match client.call(method.path(), &sample.metadata, Some(TIME)).await {
        Ok(call) => call,
        Err(status) => return failed(status),
    };
    sample.messages.iter().for_each(|message| call.send(message));
    call.end();
    let mut messages = Vec::new();
    loop {
        match poll_fn(|cx| call.poll_receive(cx)).await {
            Ok(Some(message)) if messages.len() < MESSAGES_MAX => messages.push((message.into(), 0)),
            Ok(Some(_)) => return failed(Status::new(Code::ResourceExhausted, "the answer does not end")),
            Ok(None) => break,
            Err(status) => return failed(status),
        }
    }
    Answered { headers: call.headers().clone(), messages, status: call.status(), end_ms: 0, trailers: call.trailers() }
}

/// What the rule says, without waiting.
fn said(answering: &Answering, method: &Method, sample: &Sample) -> Answered {
    let mut draws = Draws::new(0, &[]);
    let reply = answering.replies.pick(1, &mut draws);
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let own = Own(sample.metadata.iter().map(|(name, value)| (name.to_owned(), text(value))).collect());
    let facts = Facts {
        method: method.full_name(),
        metadata: &own,
        peer: "",
        timeout_ms: None,
        session: "",
        state: "",
        call: 1,
    };
    let mut requests = sample.messages.iter();
    let first = requests.next();
    let mut steps = Steps::new(reply, Form::Binary, draws, usize::from(first.is_some()), first.map(|bytes| &**bytes));
    let mut last = first;
    let mut answer = failed(Status::OK);
    for _ in 0..STEPS_MAX {
        match steps.next(&facts, wall_time()) {
            Action::Headers(headers) => answer.headers = headers.clone(),
            Action::Send(sent) => {
                let bytes = match sent {
                    Sent::Prepared(message) => message.binary.clone(),
                    Sent::Echo => last.cloned().unwrap_or_default(),
                    Sent::Made(Message { bytes, .. }) => Bytes::copy_from_slice(bytes),
                };
                answer.messages.push((bytes, 0));
                if answer.messages.len() > MESSAGES_MAX {
                    break;
                }
            }
            Action::Receive => match requests.next() {
                Some(request) => {
                    last = Some(request);
                    if let Err(status) = steps.received(Some(request)) {
                        answer.status = status;
                        return answer;
                    }
                }
                None => steps.half_closed(),
            },
            Action::SendHeaders | Action::Wait(_) | Action::Fault(_) => {}
            Action::Finish(outcome) => {
                answer.status = outcome.status;
                answer.trailers = outcome.trailers;
                return answer;
            }
        }
    }
    answer.status = Status::new(Code::ResourceExhausted, "the rule's reply does not end");
    answer
}

fn failed(status: Status) -> Answered {
    Answered { headers: Metadata::new(), messages: Vec::new(), status, end_ms: 0, trailers: Metadata::new() }
}

/// A sample's metadata, as templates look at it.
struct Own(Vec<(String, String)>);

impl RequestFields for Own {
    fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn all(&self) -> Vec<(&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use leat_testkit::Folder;

    use super::*;
    use crate::mock::{Mock, Settings};

    const PROTO: &str = "syntax = \"proto3\"; package a; message M { int64 n = 1; } service S { rpc Chat(stream M) returns (stream M); }";

    #[test]
    fn a_reply_that_does_not_end_is_told() {
        for (script, wanted, messages) in [
            ("[ { repeat: forever, do: [ { wait: 1ms } ] } ]", Code::ResourceExhausted, 0),
            ("[ { repeat: forever, do: [ { send: { n: 1 } } ] } ]", Code::ResourceExhausted, MESSAGES_MAX + 1),
            ("[ { repeat: 9000, do: [ { wait: 1ms }, { send: { n: 1 } } ] } ]", Code::Ok, 9000),
        ] {
            let folder = Folder::new();
            folder.write("a.proto", PROTO);
            folder.write(
                "rules.yaml",
                format!("rules: [ {{ name: r, method: a.S/Chat, reply: {{ script: {script} }} }} ]"),
            );
            let settings = Settings {
                proto: vec![folder.path().join("a.proto")],
                rules: vec![folder.path().join("rules.yaml")],
                ..Settings::default()
            };
            let loaded = Loaded::read(&settings, &Mock::new(&settings), &|text| panic!("{text}"));
            let loaded = loaded.unwrap_or_else(|found| panic!("{found:?}"));
            let method = loaded.schema().method_named("a.S/Chat").unwrap();
            let set = std::sync::Arc::clone(&loaded.live());
            let sample = Sample { metadata: Metadata::new(), messages: Vec::new() };
            let answer = said(set.rules_of(method)[0].reply(), method, &sample);
            assert_eq!((answer.status.code, answer.messages.len()), (wanted, messages), "{script}");
        }
    }
}
