use leat_testkit::{Client, Folder, Leat, Response};
use serde_json::Value;

/// The token of these tests.
pub(crate) const TOKEN: &str = "correct-horse-battery-staple";

/// A gateway whose admin address takes [`TOKEN`]; `config` is the rest of its file.
pub(crate) fn gateway(config: &str) -> Leat {
    let folder = Folder::new();
    folder.write("admin.token", format!("{TOKEN}\n"));
    Leat::gateway_in(folder, &with_admin(config), 1)
}

/// The file of such a gateway.
pub(crate) fn with_admin(config: &str) -> String {
    format!(
        "listeners: 127.0.0.1:0\nadmin: {{ address: 127.0.0.1:0, token: {{ file: admin.token }} }}\naccess_log: off\n{config}"
    )
}

/// Sends a request with these field lines, each ended by CRLF.
pub(crate) fn send(leat: &mut Leat, method: &str, path: &str, fields: &str, body: &str) -> Response {
    let length = body.len();
    let request = format!("{method} {path} HTTP/1.1\r\n{fields}content-length: {length}\r\n\r\n{body}");
    Client::connect(leat.admin()).send(request).response_to(method)
}

/// What a GET is answered with, which must be 200 and JSON.
pub(crate) fn get(leat: &mut Leat, path: &str) -> Value {
    json(&send(leat, "GET", path, "host: localhost\r\n", ""))
}

/// A POST with the token.
pub(crate) fn post(leat: &mut Leat, path: &str, body: &str) -> Response {
    send(leat, "POST", path, &format!("host: localhost\r\nauthorization: Bearer {TOKEN}\r\n"), body)
}

pub(crate) fn json(response: &Response) -> Value {
    assert_eq!(response.status, 200, "{}", response.text());
    serde_json::from_str(response.text()).unwrap()
}

/// The status and the reason of a refusal.
pub(crate) fn refusal(response: &Response) -> (u16, String) {
    assert_eq!(response.field("content-type"), Some("application/problem+json"), "{}", response.text());
    let problem: Value = serde_json::from_str(response.text()).unwrap();
    (response.status, problem["code"].as_str().unwrap().to_owned())
}
