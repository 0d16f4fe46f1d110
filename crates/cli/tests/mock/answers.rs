use serde_json::json;

use super::support::{RULES, call, error, folder, message, mock};

#[test]
fn rules_answer_with_messages_headers_trailers_and_errors() {
    let leat = mock(folder(RULES), &[]);
    let reply = call(&leat, "Get", "", r#"{"id":"7"}"#);
    assert_eq!((reply.status, reply.field("x-a"), reply.field("trailer-x-t")), (200, Some("b"), Some("c")));
    let order: serde_json::Value = serde_json::from_str(reply.text()).unwrap();
    assert_eq!(order, json!({ "id": "7", "customer": "Ada", "total": "1200", "state": "PLACED" }));
    let denied = call(&leat, "Get", "", r#"{"id":"8"}"#);
    assert_eq!(denied.status, 403);
    assert_eq!(error(&denied), ("permission_denied".to_owned(), "not yours".to_owned()));
    assert!(denied.text().contains("google.rpc.ErrorInfo"), "{}", denied.text());
    let placed = message(&leat, "Place", r#"{"id":"9","customer":"Lena"}"#);
    assert_eq!(placed, json!({ "id": "9-1", "customer": "Lena", "state": "PLACED" }));
}

#[test]
fn a_call_that_no_rule_answers_is_told_the_nearest_one_and_what_failed() {
    let leat = mock(folder(RULES), &[]);
    let none = call(&leat, "Get", "", r#"{"id":"5"}"#);
    let (code, text) = error(&none);
    assert_eq!((none.status, code.as_str()), (404, "not_found"), "{text}");
    assert!(text.contains("nearest is `found`") && text.contains("\"5\""), "{text}");
    let unruled = call(&leat, "Cancel", "", "{}");
    assert_eq!((unruled.status, error(&unruled).0.as_str()), (501, "unimplemented"));
    let unknown = call(&leat, "Nothing", "", "{}");
    let (code, text) = error(&unknown);
    assert_eq!(code, "unimplemented");
    assert!(text.contains("Get, Place, Watch"), "it names the methods that there are: {text}");
}

#[test]
fn times_runs_out_and_sessions_have_counts_of_their_own() {
    let leat = mock(folder(RULES), &["--session-key", "X-Session"]);
    let ask = |session: &str| call(&leat, "Get", &format!("x-session: {session}\r\n"), r#"{"id":"1"}"#).status;
    assert_eq!([ask("a"), ask("a"), ask("b"), ask("b")], [200, 404, 200, 404]);
}

#[test]
fn requests_are_held_against_their_constraints() {
    let leat = mock(folder(RULES), &[]);
    let long = call(&leat, "Get", "", r#"{"id":"much-too-long"}"#);
    assert_eq!((long.status, error(&long).0.as_str()), (400, "invalid_argument"));
    assert!(long.text().contains("buf.validate.Violations"), "{}", long.text());
    let leat = mock(folder(RULES), &["--validate", "off"]);
    assert_eq!(call(&leat, "Get", "", r#"{"id":"much-too-long"}"#).status, 404);
}

#[test]
fn made_up_messages_follow_from_the_seed() {
    let ask = |seed: &str| {
        let leat = mock(folder("rules: []\n"), &["--fake", "--seed", seed]);
        message(&leat, "Get", r#"{"id":"7"}"#)
    };
    let one = ask("1");
    assert_eq!(one, ask("1"));
    assert_ne!(one, ask("2"));
    assert!(!one["customer"].as_str().unwrap().is_empty(), "{one}");
}

#[test]
fn what_the_schema_binds_to_http_is_answered_there() {
    let leat = mock(folder(RULES), &[]);
    let mut client = leat.connect();
    let reply = client.get("/v1/orders/7").response();
    assert_eq!(reply.status, 200, "{}", reply.text());
    let order: serde_json::Value = serde_json::from_str(reply.text()).unwrap();
    assert_eq!(order["customer"], "Ada");
    assert_eq!(client.get("/v1/orders/8").response().status, 403);
    assert_eq!(client.get("/v1/nothing").response().status, 404);
}

#[test]
fn a_stream_of_the_server_comes_with_its_end() {
    let leat = mock(folder(RULES), &[]);
    let body = b"\0\0\0\0\x0a{\"id\":\"7\"}";
    let request = format!(
        "POST /shop.v1.Orders/Watch HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/connect+json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let reply = leat.connect().send([request.as_bytes(), body].concat()).response_to("POST");
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    assert!(text.contains("PLACED") && text.contains("SHIPPED") && text.ends_with("{}"), "{text}");
}
