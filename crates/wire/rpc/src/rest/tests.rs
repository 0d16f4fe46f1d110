//! Bindings over a schema: requests to messages and back, by what the JSON form of the message then says.

use std::sync::Arc;

use leat_schema::{Schema, Sources};

use super::{Bindings, Bound, Unknown, status};
use crate::{Code, Detail, Status};

const PROTO: &str = r#"
syntax = "proto3";
package t;
import "google/api/annotations.proto";
import "google/api/httpbody.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

enum Colour { NONE = 0; RED = 1; BLUE = 2; }
message Inner { string text = 1; Inner deeper = 2; repeated int32 numbers = 3; }
message All {
  string name = 1;
  int32 i32 = 2; int64 i64 = 3; uint32 u32 = 4; uint64 u64 = 5; sint32 s32 = 6; sint64 s64 = 7;
  fixed32 f32 = 8; fixed64 f64 = 9; sfixed32 sf32 = 10; sfixed64 sf64 = 11;
  float single = 12; double twice = 13; bool flag = 14; bytes data = 15;
  Colour colour = 16; repeated Colour colours = 17; repeated string tags = 18; repeated int64 many = 19;
  Inner inner = 20; repeated Inner inners = 21; map<string, int32> counts = 22;
  google.protobuf.Timestamp at = 23; google.protobuf.Duration took = 24; google.protobuf.FieldMask mask = 25;
  google.protobuf.Int64Value wrapped = 26; google.protobuf.StringValue text = 27; google.protobuf.Struct free = 28;
  oneof choice { string one = 29; int32 two = 30; }
  optional string maybe = 31; string two_words = 32;
}
message Upload { string name = 1; google.api.HttpBody file = 2; }
service Things {
  rpc Get(All) returns (All) { option (google.api.http) = { get: "/v1/{name=things/*}" additional_bindings { get: "/v1/{inner.text}/x" } }; }
  rpc Create(All) returns (All) { option (google.api.http) = { post: "/v1/things" body: "*" }; }
  rpc Update(All) returns (All) { option (google.api.http) = { patch: "/v1/{name=things/*}" body: "inner" response_body: "inner" }; }
  rpc Tag(All) returns (All) { option (google.api.http) = { put: "/v1/{name=things/*}/tags" body: "tags" response_body: "many" }; }
  rpc Raw(google.api.HttpBody) returns (google.api.HttpBody) { option (google.api.http) = { post: "/raw" body: "*" }; }
  rpc Save(Upload) returns (Upload) { option (google.api.http) = { post: "/files/{name}" body: "file" response_body: "file" }; }
  rpc Plain(All) returns (All);
}
"#;

fn schema(text: &str) -> Arc<Schema> {
    let mut sources = Sources::new();
    sources.proto("t.proto", text);
    sources.build().unwrap_or_else(|problems| panic!("{}", problems.iter().map(|p| p.to_string()).collect::<String>()))
}

fn bindings(schema: &Schema) -> Bindings {
    Bindings::compile(schema).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The request's message in JSON, or what is wrong with it.
fn request(method: &str, target: &str, body: &str) -> String {
    request_with(method, target, body, Unknown::Refuse)
}

fn request_with(method: &str, target: &str, body: &str, unknown: Unknown) -> String {
    let schema = schema(PROTO);
    let bindings = bindings(&schema);
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let Bound::Found(binding) = bindings.find(method.as_bytes(), path.as_bytes()) else { return "unbound".to_owned() };
    let mut parameters = Vec::new();
    let mut message = Vec::new();
    let read = binding
        .parameters(path.as_bytes(), query.map(str::as_bytes), unknown, &mut parameters)
        .and_then(|()| binding.request(body.as_bytes(), unknown, &parameters, &mut message));
    match read {
        Err(status) => format!("! {}", status.message),
        Ok(()) => {
            let mut json = Vec::new();
            binding.method().input().to_json(&message, &mut json).unwrap_or_else(|error| panic!("{error}"));
            String::from_utf8_lossy(&json).into_owned()
        }
    }
}

/// JSON as a value: fields stand in the order of the wire, which is the order in which a request names them.
fn in_any_order(text: &str) -> Result<serde_json::Value, &str> {
    serde_json::from_str(text).map_err(|_| text)
}

#[test]
fn paths_queries_and_bodies_become_fields() {
    for (method, target, body, expected) in [
        ("GET", "/v1/things/a%20b", "", r#"{"name":"things/a b"}"#),
        ("GET", "/v1/deep/x", "", r#"{"inner":{"text":"deep"}}"#),
        (
            "GET",
            "/v1/things/a?i32=-1&i64=-9007199254740993&u32=4294967295&u64=18446744073709551615",
            "",
            r#"{"name":"things/a","i32":-1,"i64":"-9007199254740993","u32":4294967295,"u64":"18446744073709551615"}"#,
        ),
        (
            "GET",
            "/v1/things/a?s32=-2&s64=-3&f32=4&f64=5&sf32=-6&sf64=-7",
            "",
            r#"{"name":"things/a","s32":-2,"s64":"-3","f32":4,"f64":"5","sf32":-6,"sf64":"-7"}"#,
        ),
        (
            "GET",
            "/v1/things/a?single=1.5&twice=-Infinity&flag=true&data=_-8%3D",
            "",
            r#"{"name":"things/a","single":1.5,"twice":"-Infinity","flag":true,"data":"/+8="}"#,
        ),
        (
            "GET",
            "/v1/things/a?colour=RED&colours=BLUE&colours=1&tags=a+b&tags=&many=1&many=-2",
            "",
            r#"{"name":"things/a","colour":"RED","colours":["BLUE","RED"],"tags":["a b",""],"many":["1","-2"]}"#,
        ),
        (
            "GET",
            "/v1/things/a?inner.text=x&inner.deeper.numbers=1&inner.deeper.numbers=2",
            "",
            r#"{"name":"things/a","inner":{"text":"x","deeper":{"numbers":[1,2]}}}"#,
        ),
        (
            "GET",
            "/v1/things/a?at=2026-01-02T03:04:05Z&took=1.5s&mask=a.b,c&wrapped=0&text=",
            "",
            r#"{"name":"things/a","at":"2026-01-02T03:04:05Z","took":"1.500s","mask":"a.b,c","wrapped":"0","text":""}"#,
        ),
        ("GET", "/v1/things/a?counts[x]=1&counts%5By%5D=2", "", r#"{"name":"things/a","counts":{"x":1,"y":2}}"#),
        (
            "GET",
            "/v1/things/a?one=x&two=3&maybe=&twoWords=z",
            "",
            r#"{"name":"things/a","two":3,"maybe":"","twoWords":"z"}"#,
        ),
        ("GET", "/v1/things/a?two_words=z&", "", r#"{"name":"things/a","twoWords":"z"}"#),
        ("POST", "/v1/things", r#"{"name":"n","inner":{"numbers":[1]}}"#, r#"{"name":"n","inner":{"numbers":[1]}}"#),
        ("POST", "/v1/things", " ", "{}"),
        // The path has the last word.
        ("PATCH", "/v1/things/a", r#"{"text":"x"}"#, r#"{"name":"things/a","inner":{"text":"x"}}"#),
        ("PATCH", "/v1/things/a?i32=4", "", r#"{"name":"things/a","i32":4}"#),
        ("PUT", "/v1/things/a/tags", r#"["x","y"]"#, r#"{"name":"things/a","tags":["x","y"]}"#),
    ] {
        assert_eq!(in_any_order(&request(method, target, body)), in_any_order(expected), "{method} {target} {body}");
    }
}

#[test]
fn what_fits_no_field_is_refused_by_name() {
    for (method, target, body, expected) in [
        ("GET", "/v1/things/a?nope=1", "", "! the parameter `nope` of the query: there is no such field"),
        ("GET", "/v1/things/a?inner.nope=1", "", "! the parameter `inner.nope` of the query: there is no such field"),
        ("GET", "/v1/things/a?i32=x", "", "! the parameter `i32` of the query: the value is no int32"),
        ("GET", "/v1/things/a?i32=+1", "", "! the parameter `i32` of the query: the value is no int32"),
        ("GET", "/v1/things/a?i32=2147483648", "", "! the parameter `i32` of the query: the value is no int32"),
        ("GET", "/v1/things/a?flag=yes", "", "! the parameter `flag` of the query: the value is no bool"),
        ("GET", "/v1/things/a?twice=inf", "", "! the parameter `twice` of the query: the value is no double"),
        ("GET", "/v1/things/a?twice=1e999", "", "! the parameter `twice` of the query: the value is no double"),
        ("GET", "/v1/things/a?data=*", "", "! the parameter `data` of the query: the value is no Base64"),
        (
            "GET",
            "/v1/things/a?colour=PINK",
            "",
            "! the parameter `colour` of the query: the value is no value of the enum",
        ),
        ("GET", "/v1/things/a?at=now", "", "! the parameter `at` of the query: the value is no Timestamp"),
        ("GET", "/v1/things/a?inner=1", "", "! the parameter `inner` of the query: a message can't be given here"),
        ("GET", "/v1/things/a?free=1", "", "! the parameter `free` of the query: a message can't be given here"),
        (
            "GET",
            "/v1/things/a?inners.text=1",
            "",
            "! the parameter `inners.text` of the query: a field of a repeated message can't be given here",
        ),
        (
            "GET",
            "/v1/things/a?counts=1",
            "",
            "! the parameter `counts` of the query: a map without a key can't be given here",
        ),
        ("GET", "/v1/things/a?counts[x]=y", "", "! the parameter `counts[x]` of the query: the value is no int32"),
        (
            "GET",
            "/v1/things/a?tags[0]=y",
            "",
            "! the parameter `tags[0]` of the query: a key of what is no map can't be given here",
        ),
        ("GET", "/v1/things/a?name=%FF", "", "! the query is not UTF-8"),
        ("GET", "/v1/things/%FF", "", "! the variable `name` of the path: the value is no UTF-8"),
        ("GET", "/v1/things/a", "{}", "! this method takes no body"),
        (
            "POST",
            "/v1/things?name=x",
            "{}",
            "! the parameter `name` of the query: the body gives the whole message, and the query nothing",
        ),
        (
            "PATCH",
            "/v1/things/a?inner.text=x",
            "{}",
            "! the parameter `inner.text` of the query: what the body gives can't be given here",
        ),
        ("DELETE", "/v1/things/a", "", "unbound"),
    ] {
        assert_eq!(request(method, target, body), expected, "{method} {target} {body}");
    }
    for (method, target, body) in [
        ("POST", "/v1/things", "{"),
        ("POST", "/v1/things", r#"{"i32":"x"}"#),
        ("POST", "/v1/things", r#"{"nope":1}"#),
        ("PATCH", "/v1/things/a", r#"{"nope":1}"#),
        ("PATCH", "/v1/things/a", "[]"),
        // Text that would end the field that it is put into.
        ("PUT", "/v1/things/a/tags", r#"[],"name":"other""#),
    ] {
        assert!(request(method, target, body).starts_with("! the body: "), "{method} {target} {body}");
    }
    for (method, target, body, expected) in [
        ("GET", "/v1/things/a?nope=1&inner.nope=2", "", r#"{"name":"things/a"}"#),
        ("PATCH", "/v1/things/a", r#"{"text":"x","nope":1}"#, r#"{"name":"things/a","inner":{"text":"x"}}"#),
    ] {
        let found = request_with(method, target, body, Unknown::Ignore);
        assert_eq!(in_any_order(&found), in_any_order(expected), "{method} {target}");
    }
    let many = format!("/v1/things/a?{}", "tags=a&".repeat(1_001));
    assert_eq!(request("GET", &many, ""), "! the query has more than 1000 parameters");
}

#[test]
fn replies_are_messages_or_what_response_body_names() {
    let schema = schema(PROTO);
    let bindings = bindings(&schema);
    for (method, path, message, expected) in [
        ("GET", "/v1/things/a", r#"{"name":"n","twoWords":"z"}"#, r#"{"name":"n","twoWords":"z"}"#),
        (
            "PATCH",
            "/v1/things/a",
            r#"{"name":"n","inner":{"text":"x","numbers":[1]}}"#,
            r#"{"text":"x","numbers":[1]}"#,
        ),
        ("PATCH", "/v1/things/a", r#"{"name":"n"}"#, "{}"),
        ("PUT", "/v1/things/a/tags", r#"{"name":"n","many":[3,4]}"#, r#"["3","4"]"#),
        ("PUT", "/v1/things/a/tags", r#"{"name":"n"}"#, "[]"),
    ] {
        let Bound::Found(binding) = bindings.find(method.as_bytes(), path.as_bytes()) else { panic!("{path}") };
        let (mut binary, mut out) = (Vec::new(), Vec::new());
        binding.method().output().to_binary(message.as_bytes(), &mut binary).unwrap_or_else(|error| panic!("{error}"));
        binding.reply(&binary, &mut out).unwrap_or_else(|status| panic!("{}", status.message));
        assert_eq!(String::from_utf8_lossy(&out), expected, "{method} {path} {message}");
        let broken = binding.reply(b"\x0a\xff", &mut Vec::new());
        assert_eq!(broken.map_err(|status| status.code), Err(Code::Internal), "{method} {path}");
    }
}

#[test]
fn bytes_pass_as_they_are() {
    let schema = schema(PROTO);
    let bindings = bindings(&schema);
    for (path, is_field) in [("/raw", false), ("/files/x", true)] {
        let Bound::Found(binding) = bindings.find(b"POST", path.as_bytes()) else { panic!("{path}") };
        assert!(binding.takes_bytes() && binding.gives_bytes());
        let (mut parameters, mut message, mut json) = (Vec::new(), Vec::new(), Vec::new());
        assert_eq!(binding.parameters(path.as_bytes(), None, Unknown::Refuse, &mut parameters), Ok(()));
        binding.request_bytes(b"image/png", b"\x89PNG", &parameters, &mut message);
        binding.method().input().to_json(&message, &mut json).unwrap_or_else(|error| panic!("{error}"));
        let body = r#"{"contentType":"image/png","data":"iVBORw=="}"#;
        let expected = if is_field { format!(r#"{{"name":"x","file":{body}}}"#) } else { body.to_owned() };
        assert_eq!(in_any_order(&String::from_utf8_lossy(&json)), in_any_order(&expected));
        let reply = binding.reply_bytes(&message).unwrap_or_else(|status| panic!("{}", status.message));
        assert_eq!((reply.content_type, reply.data), (&b"image/png"[..], &b"\x89PNG"[..]));
        assert!(binding.reply_bytes(b"\x0a\xff").is_err());
    }
}

#[test]
fn options_that_can_not_be_used_are_told_with_their_method() {
    for (options, expected) in [
        (
            r#"get: "v1""#,
            "google.api.http of t.S/A: the path `v1` is no template: a template starts with `/` (at byte 0)",
        ),
        (r#"get: "/{nope}""#, "google.api.http of t.S/A: the variable `nope` of the path: there is no such field"),
        (r#"get: "/{list}""#, "google.api.http of t.S/A: the variable `list` of the path is a repeated field"),
        (r#"get: "/{m}""#, "google.api.http of t.S/A: the variable `m` of the path: a message can't be given here"),
        (r#"post: "/" body: "nope""#, "google.api.http of t.S/A: `body` names `nope`, and there is no such field"),
        (
            r#"get: "/" response_body: "x""#,
            "google.api.http of t.S/A: `response_body` names `x`, and there is no such field",
        ),
        (r#"get: "/b/{name}""#, "google.api.http of t.S/B: `GET /b/*` is bound to t.S/A already"),
    ] {
        let text = format!(
            r#"syntax = "proto3"; package t; import "google/api/annotations.proto";
            message M {{ string name = 1; repeated string list = 2; M m = 3; }}
            service S {{
              rpc A(M) returns (M) {{ option (google.api.http) = {{ {options} }}; }}
              rpc B(M) returns (M) {{ option (google.api.http) = {{ get: "/b/{{name}}" }}; }}
            }}"#
        );
        let problems = Bindings::compile(&schema(&text)).err().unwrap_or_default();
        let shown: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(shown, [expected], "{options}");
    }
}

#[test]
fn errors_have_their_details_written_out_where_the_type_is_known() {
    let schema = schema(PROTO);
    let detail =
        |type_name: &str, value: &[u8]| Detail { type_name: type_name.to_owned(), value: value.to_vec().into() };
    let mut failed = Status::new(Code::NotFound, "no \"x\"");
    failed.details = vec![
        detail("google.rpc.ErrorInfo", b"\x0a\x03WHY"),
        detail("t.Inner", b""),
        detail("google.protobuf.Duration", b"\x08\x01"),
        detail("t.Nothing", b"\x01"),
        detail("t.Inner", b"\xff"),
    ];
    let mut out = Vec::new();
    status::write(&failed, &schema, &mut out);
    let expected = concat!(
        r#"{"code":5,"message":"no \"x\"","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"WHY"},"#,
        r#"{"@type":"type.googleapis.com/t.Inner"},{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1s"},"#,
        r#"{"@type":"type.googleapis.com/t.Nothing","value":"AQ=="},{"@type":"type.googleapis.com/t.Inner","value":"/w=="}]}"#,
    );
    assert_eq!(String::from_utf8_lossy(&out), expected);
}
