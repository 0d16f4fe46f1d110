//! Runs a reply on a fake clock, and tells what it did as lines of text.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use leat_config::table::{Open, Reader};
use leat_config::yaml;
use leat_rpc_wire::Metadata;
use leat_schema::{Method, Schema, Sources};

use crate::call::{Form, Outcome};
use crate::mock::reply::{Action, Facts, REPLY, Replies, Sent, Steps, Target, WallTime};
use crate::mock::state::Draws;

const PROTO: &str = r#"
syntax = "proto3";
package shop.v1;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

enum Kind { KIND_UNSPECIFIED = 0; KIND_NEW = 1; KIND_USED = 2; }

message Item { string sku = 1; uint32 count = 2; }
message Header { string name = 1; repeated string value = 2; }

message Order {
  int64 id = 1;
  string customer_name = 2;
  Kind kind = 3;
  bytes token = 4;
  repeated Item items = 5;
  map<string, int32> stock = 6;
  double price = 7;
  bool paid = 8;
  google.protobuf.Timestamp at = 9;
  google.protobuf.Duration wait = 10;
  google.protobuf.Struct extra = 11;
  google.protobuf.Any any = 12;
  google.protobuf.StringValue note = 13;
  google.protobuf.FieldMask mask = 14;
  repeated string tags = 15;
  oneof way { string post = 16; Order again = 17; }
  uint32 small = 18;
  repeated google.protobuf.Any anys = 19;
  google.protobuf.Value value = 20;
  repeated Header headers = 21;
  optional string maybe = 22;
  int32 code = 23;
  float ratio = 24;
  repeated Kind kinds = 25;
  map<int64, Item> by_id = 26;
}

message Other { string name = 1; }

service Orders {
  rpc Get(Order) returns (Order);
  rpc Find(Order) returns (Other);
  rpc Watch(Order) returns (stream Order);
  rpc Collect(stream Order) returns (Order);
  rpc Chat(stream Order) returns (stream Order);
}
"#;

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let mut sources = Sources::new();
    sources.proto("shop.proto", PROTO);
    sources.build().unwrap()
});

/// A method of the schema above.
pub(super) fn method(name: &str) -> &'static Method {
    SCHEMA.method(&format!("/shop.v1.Orders/{name}")).unwrap()
}

/// What is wrong with a reply: `line:column: message; help`.
pub(super) fn problems(name: &str, text: &str) -> Vec<String> {
    match compile(name, text) {
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    }
}

fn compile(name: &str, text: &str) -> Result<Replies, Vec<String>> {
    let reader = Reader::new("rule.yaml", Path::new("."));
    let node = yaml::read(text, &reader).unwrap_or_else(|| panic!("{text} is not YAML"));
    let replies = {
        let open = Open::new(&reader, &REPLY, &node);
        Replies::compile(&open, &Target::new(method(name)))
    };
    let (problems, _) = reader.finish();
    let line = |problem: &leat_config::Problem| {
        let place = problem.place().map_or(String::new(), |place| place.to_string());
        format!("{place}: {}; {}", problem.message(), problem.help().unwrap_or_default())
    };
    assert!(replies.is_some() || !problems.is_empty(), "{text}");
    let problems: Vec<String> = problems.iter().map(line).collect();
    replies.filter(|_| problems.is_empty()).ok_or(problems)
}

/// Compiles a reply that is right.
pub(super) fn replies(name: &str, text: &str) -> Replies {
    compile(name, text).unwrap_or_else(|problems| panic!("{text}\n{}", problems.join("\n")))
}

/// A call to a reply.
pub(super) struct Caller<'c> {
    pub(super) method: &'c str,
    pub(super) requests: &'c [&'c str],
    pub(super) metadata: &'c [(&'c str, &'c str)],
    pub(super) call: u64,
    pub(super) seed: u64,
    pub(super) form: Form,
    pub(super) state: &'c str,
    pub(super) actions_max: usize,
}

impl<'c> Caller<'c> {
    pub(super) fn new(method: &'c str) -> Self {
        Self {
            method,
            requests: &["{}"],
            metadata: &[],
            call: 1,
            seed: 1,
            form: Form::Json,
            state: "",
            actions_max: 1000,
        }
    }

    /// One line for each thing that the reply did. Time stands still but for what it waits.
    pub(super) fn run(&self, replies: &Replies) -> Vec<String> {
        let method = method(self.method);
        let mut draws = Draws::new(self.seed, &[self.call]);
        let reply = replies.pick(self.call, &mut draws);
        let facts = Facts {
            method: method.full_name(),
            metadata: &self.metadata,
            peer: "127.0.0.1:4000",
            timeout_ms: Some(1500),
            session: "tab-7",
            state: self.state,
            call: self.call,
        };
        let mut requests = self.requests.iter().map(|json| {
            let mut binary = Vec::new();
            method.input().to_binary(json.as_bytes(), &mut binary).unwrap();
            binary
        });
        let first = requests.next();
        let kept = first.as_deref().filter(|_| reply.reads_requests());
        let mut steps = Steps::new(reply, self.form, draws, usize::from(first.is_some()), kept);
        // 2026-11-22T09:30:00Z
        let mut now = WallTime { seconds: 1_795_339_800, nanos: 0 };
        let mut lines = Vec::new();
        while lines.len() < self.actions_max {
            match steps.next(&facts, now) {
                Action::Headers(headers) => lines.push(format!("headers {}", fields(headers))),
                Action::SendHeaders => lines.push("flush".to_owned()),
                Action::Send(Sent::Echo) => lines.push("echo".to_owned()),
                Action::Send(Sent::Prepared(prepared)) => {
                    lines.push(format!("fixed {}", String::from_utf8_lossy(&prepared.json)));
                }
                Action::Send(Sent::Made(message)) => {
                    let json = match message.form {
                        Form::Json => message.bytes.to_vec(),
                        Form::Binary => {
                            let mut json = Vec::new();
                            method.output().to_json(message.bytes, &mut json).unwrap();
                            json
                        }
                    };
                    lines.push(format!("made {}", String::from_utf8_lossy(&json)));
                }
                Action::Wait(ms) => {
                    now.nanos += (ms % 1000 * 1_000_000) as u32;
                    now.seconds += (ms / 1000) as i64 + i64::from(now.nanos / 1_000_000_000);
                    now.nanos %= 1_000_000_000;
                    lines.push(format!("wait {ms}"));
                }
                Action::Receive => match requests.next() {
                    Some(request) => {
                        lines.push("receive".to_owned());
                        steps.received(reply.reads_requests().then_some(&request)).unwrap();
                    }
                    None => {
                        lines.push("half closed".to_owned());
                        steps.half_closed();
                    }
                },
                Action::Fault(fault) => lines.push(format!("fault {fault:?}")),
                Action::Finish(Outcome { status, trailers }) => {
                    let mut line = status.code.snake().to_owned();
                    if !status.message.is_empty() {
                        line = format!("{line}: {}", status.message);
                    }
                    for detail in &status.details {
                        let kind = SCHEMA.message(&detail.type_name).unwrap();
                        let mut json = Vec::new();
                        kind.to_json(&detail.value, &mut json).unwrap();
                        line = format!("{line} {}{}", detail.type_name, String::from_utf8_lossy(&json));
                    }
                    if !trailers.is_empty() {
                        line = format!("{line} trailers {}", fields(&trailers));
                    }
                    lines.push(line);
                    return lines;
                }
            }
        }
        lines
    }
}

fn fields(metadata: &Metadata) -> String {
    let field = |(name, value): (&str, &[u8])| format!("{name}={}", value.escape_ascii());
    metadata.iter().map(field).collect::<Vec<_>>().join(" ")
}

/// What one unary call to this reply of `Get` brings, as JSON; `request` is the request as JSON.
pub(super) fn unary(reply: &str, request: &str) -> String {
    let lines = Caller { requests: &[request], ..Caller::new("Get") }.run(&replies("Get", reply));
    lines.join("\n")
}
