use leat_testkit::{Client, Folder, Leat, Response};
use serde_json::Value;

pub(crate) const TOKEN: &str = "correct-horse-battery-staple";

const PROTO: &str = r#"syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
import "google/api/annotations.proto";
service Orders {
  rpc Get(GetRequest) returns (Order) { option (google.api.http) = { get: "/v1/orders/{id}" }; }
  rpc Place(Order) returns (Order);
  rpc Watch(GetRequest) returns (stream Order);
  rpc Total(stream Order) returns (Order);
  rpc Cancel(GetRequest) returns (Order);
}
message GetRequest { string id = 1 [(buf.validate.field).string.max_len = 8]; }
message Order { string id = 1; string customer = 2; int64 total = 3; State state = 4; }
enum State { STATE_UNSPECIFIED = 0; PLACED = 1; SHIPPED = 2; }
"#;

pub(crate) const RULES: &str = r#"rules:
  - name: found
    method: shop.v1.Orders/Get
    match: { message: { id: "7" } }
    reply: { message: { id: "7", customer: Ada, total: 1200, state: PLACED }, headers: { x-a: b }, trailers: { x-t: c } }
  - name: denied
    method: shop.v1.Orders/Get
    match: { message: { id: "8" } }
    reply: { error: { code: permission_denied, message: not yours, details: [{ "@type": google.rpc.ErrorInfo, reason: NOT_YOURS }] } }
  - name: placed
    method: shop.v1.Orders/Place
    reply: { message: { id: "{{ request.id }}-1", customer: "{{ request.customer }}", state: PLACED } }
  - name: watched
    method: shop.v1.Orders/Watch
    reply:
      stream:
        - message: { id: "7", state: PLACED }
        - { message: { id: "7", state: SHIPPED }, delay: 2ms }
  - name: once
    method: shop.v1.Orders/Get
    times: 1
    match: { message: { id: "1" } }
    reply: { message: { id: once } }
"#;

/// A folder with a schema and these rules.
pub(crate) fn folder(rules: &str) -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join("protos/shop/v1")).unwrap();
    std::fs::create_dir_all(folder.path().join("rules")).unwrap();
    folder.write("protos/shop/v1/orders.proto", PROTO);
    folder.write("rules/orders.yaml", rules);
    folder.write("admin.token", format!("{TOKEN}\n"));
    folder
}

/// A mock of that folder on a free port, ready.
pub(crate) fn mock(folder: Folder, more: &[&str]) -> Leat {
    let arguments = ["mock", "--proto", "protos", "--rules", "rules", "--listen", "127.0.0.1:0"];
    Leat::spawn(folder, &[&arguments[..], more].concat()).ready(1)
}

/// The same with an admin address that takes [`TOKEN`].
pub(crate) fn with_admin(folder: Folder, more: &[&str]) -> Leat {
    mock(folder, &[&["--admin", "127.0.0.1:0", "--admin-token-file", "admin.token"][..], more].concat())
}

/// A unary call by Connect, in JSON.
pub(crate) fn call(leat: &Leat, method: &str, fields: &str, body: &str) -> Response {
    post(leat.connect(), &format!("/shop.v1.Orders/{method}"), fields, body)
}

/// The reply's message, which must be one.
pub(crate) fn message(leat: &Leat, method: &str, body: &str) -> Value {
    let reply = call(leat, method, "", body);
    assert_eq!(reply.status, 200, "{}", reply.text());
    serde_json::from_str(reply.text()).unwrap()
}

/// The code and the text of an error.
pub(crate) fn error(response: &Response) -> (String, String) {
    let error: Value = serde_json::from_str(response.text()).unwrap();
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    (text("code"), text("message"))
}

/// What the admin API shows.
pub(crate) fn shown(leat: &mut Leat, path: &str) -> Value {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let response = Client::connect(leat.admin()).send(request).response_to("GET");
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    serde_json::from_str(response.text()).unwrap()
}

/// What the admin API says to a POST with the token.
pub(crate) fn change(leat: &mut Leat, path: &str, body: &str) -> (u16, Value) {
    let fields = format!("authorization: Bearer {TOKEN}\r\n");
    let response = post(Client::connect(leat.admin()), path, &fields, body);
    (response.status, serde_json::from_str(response.text()).unwrap_or_default())
}

/// A POST of JSON.
pub(crate) fn post(mut client: Client, path: &str, fields: &str, body: &str) -> Response {
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{fields}content-length: {length}\r\n\r\n{body}"
    );
    client.send(request).response_to("POST")
}
