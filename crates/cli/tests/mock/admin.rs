use serde_json::{Value, json};

use super::support::{RULES, call, change, folder, message, shown, with_admin};

#[test]
fn calls_are_kept_with_every_message_and_without_secrets() {
    let mut leat = with_admin(folder(RULES), &["--redact", "x-pin"]);
    call(&leat, "Get", "authorization: Bearer abc\r\nx-pin: 1234\r\nx-tenant: acme\r\n", r#"{"id":"7"}"#);
    call(&leat, "Get", "", r#"{"id":"5"}"#);
    call(&leat, "Place", "", r#"{"id":"9"}"#);
    let calls = shown(&mut leat, "/mock/calls");
    assert_eq!(calls["calls"].as_array().unwrap().len(), 3);
    assert_eq!(shown(&mut leat, "/mock/calls?unmatched=true")["calls"][0]["number"], 1);
    assert_eq!(shown(&mut leat, "/mock/calls?rule=placed")["calls"][0]["number"], 2);
    assert_eq!(shown(&mut leat, "/mock/calls?metadata.x-tenant=acme")["calls"][0]["number"], 0);
    let one = shown(&mut leat, "/mock/calls/0");
    assert_eq!(one["metadata"]["authorization"], json!(["***"]));
    assert_eq!(one["metadata"]["x-pin"], json!(["***"]));
    assert_eq!(one["rule"], "found");
    assert_eq!(one["trailers"], json!({ "x-t": ["c"] }));
    let frames = one["frames"].as_array().unwrap();
    assert_eq!(frames[0]["message"], json!({ "id": "7" }));
    assert_eq!(frames[1]["message"]["customer"], "Ada");
    let placed = shown(&mut leat, "/mock/calls/2");
    let ways: Vec<&Value> = placed["frames"].as_array().unwrap().iter().map(|frame| &frame["way"]).collect();
    assert_eq!(ways, ["in", "out"], "{placed:#}");
    assert_eq!(shown(&mut leat, "/mock/calls/1")["status"]["code"], "NOT_FOUND");
}

#[test]
fn a_session_that_is_a_secret_is_shown_by_its_hash_and_named_by_either() {
    let mut leat = with_admin(folder(RULES), &["--session-key", "authorization"]);
    let ask = |leat: &leat_testkit::Leat| call(leat, "Get", "authorization: Bearer abc\r\n", r#"{"id":"1"}"#).status;
    assert_eq!((ask(&leat), ask(&leat)), (200, 404));
    let all = shown(&mut leat, "/mock/calls").to_string() + &shown(&mut leat, "/mock/sessions").to_string();
    assert!(!all.contains("Bearer"), "{all}");
    let hidden = shown(&mut leat, "/mock/calls")["calls"][0]["session"].as_str().unwrap().to_owned();
    assert_eq!(shown(&mut leat, "/mock/sessions")["sessions"][1]["session"], hidden.as_str());
    for session in [&hidden, "Bearer abc"] {
        let expected = json!({ "session": session, "calls": [{ "count": 2 }] }).to_string();
        assert_eq!(change(&mut leat, "/mock/verify", &expected).0, 200, "{session}");
        let what = json!({ "what": ["state"], "session": session }).to_string();
        assert_eq!(change(&mut leat, "/mock/reset", &what).0, 200);
        assert_eq!(ask(&leat), 200, "{session}");
        let what = json!({ "what": ["calls"], "session": session }).to_string();
        assert_eq!(change(&mut leat, "/mock/reset", &what).0, 200);
        assert_eq!((ask(&leat), ask(&leat)), (404, 404));
    }
}

#[test]
fn what_is_expected_of_the_calls_is_verified() {
    let mut leat = with_admin(folder(RULES), &[]);
    message(&leat, "Get", r#"{"id":"7"}"#);
    message(&leat, "Place", r#"{"id":"9"}"#);
    let (status, verdict) = change(
        &mut leat,
        "/mock/verify",
        r#"{
        "calls": [{ "method": "shop.v1.Orders/Get", "message": { "id": "7" }, "count": 1 }],
        "order": [{ "rule": "found" }, { "rule": "placed" }],
        "unmatched": 0
    }"#,
    );
    assert_eq!((status, &verdict["pass"]), (200, &json!(true)), "{verdict:#}");
    let (status, verdict) = change(&mut leat, "/mock/verify", r#"{ "calls": [{ "rule": "placed", "count": 2 }] }"#);
    assert_eq!(status, 417);
    assert_eq!(verdict["checks"][0]["seen"], 1);
    let (status, problem) = change(&mut leat, "/mock/verify", r#"{ "cals": [] }"#);
    assert_eq!(status, 400, "{problem:#}");
    assert!(problem["detail"].as_str().unwrap().contains("unknown key `cals`"), "{problem:#}");
}

#[test]
fn rules_come_and_go_at_run_time_and_wrong_ones_change_nothing() {
    let mut leat = with_admin(folder(RULES), &[]);
    let rule =
        "{ name: late, method: shop.v1.Orders/Get, match: { message: { id: '5' } }, reply: { message: { id: late } } }";
    assert_eq!(change(&mut leat, "/mock/rules/extra", rule).0, 200);
    assert_eq!(message(&leat, "Get", r#"{"id":"5"}"#)["id"], "late");
    let (status, problem) = change(&mut leat, "/mock/rules/extra", "{ method: shop.v1.Orders/Gt, reply: {} }");
    assert_eq!(status, 400);
    assert!(problem["problems"][0]["message"].as_str().unwrap().contains("no method `Gt`"), "{problem:#}");
    assert_eq!(message(&leat, "Get", r#"{"id":"5"}"#)["id"], "late", "the rules that were there stay");
    // They stay over a reload too.
    assert_eq!(change(&mut leat, "/reload", "").0, 200);
    assert_eq!(message(&leat, "Get", r#"{"id":"5"}"#)["id"], "late");
    assert_eq!(shown(&mut leat, "/mock/rules")["added"], json!(["extra"]));
    assert_eq!(change(&mut leat, "/mock/rules/extra/remove", "").0, 200);
    assert_eq!(call(&leat, "Get", "", r#"{"id":"5"}"#).status, 404);
    assert_eq!(change(&mut leat, "/mock/rules/extra/remove", "").0, 404);
}

#[test]
fn a_reset_forgets_calls_and_states() {
    let mut leat = with_admin(folder(RULES), &[]);
    assert_eq!(message(&leat, "Get", r#"{"id":"1"}"#)["id"], "once");
    assert_eq!(call(&leat, "Get", "", r#"{"id":"1"}"#).status, 404);
    assert_eq!(
        change(&mut leat, "/mock/reset", r#"{"what":["calls"]}"#),
        (200, json!({ "calls_forgotten": 2, "state": false }))
    );
    assert_eq!(call(&leat, "Get", "", r#"{"id":"1"}"#).status, 404);
    for body in ["{what: [calls]}", "{", "calls"] {
        assert_eq!(change(&mut leat, "/mock/reset", body).0, 400, "{body}");
    }
    for (path, body, known) in [
        ("/mock/reset", r#"{"x":"a"}"#, "known are `what`, `session`"),
        ("/mock/scenario", r#"{"scenario":"s","state":"t","x":"a"}"#, "known are `scenario`, `state`, `session`"),
        ("/mock/rules/extra/remove", r#"{"x":1}"#, "the call takes none"),
    ] {
        let (status, problem) = change(&mut leat, path, body);
        assert_eq!(
            (status, problem["detail"].as_str().unwrap()),
            (400, &*format!("unknown key `x`: {known}")),
            "{path}"
        );
    }
    assert_eq!(call(&leat, "Get", "", r#"{"id":"1"}"#).status, 404, "nothing was forgotten");
    assert_eq!(change(&mut leat, "/mock/reset", "").0, 200);
    assert_eq!(message(&leat, "Get", r#"{"id":"1"}"#)["id"], "once");
    assert_eq!(shown(&mut leat, "/mock/calls")["calls"].as_array().unwrap().len(), 1);
}

#[test]
fn requests_that_became_no_calls_are_in_the_journal() {
    let mut leat = with_admin(folder(RULES), &[]);
    let json = "content-type: application/json\r\n";
    let get = "shop.v1.Orders/Get";
    for (line, fields, status, method, protocol, code) in [
        ("POST /shop.v1.Orders/Brew", json, 404, "shop.v1.Orders/Brew", "connect", "UNIMPLEMENTED"),
        ("POST /tea.v1.Pots/Brew", json, 404, "tea.v1.Pots/Brew", "connect", "UNIMPLEMENTED"),
        (
            "POST /tea.v1.Pots/Brew",
            "content-type: application/grpc-web\r\n",
            200,
            "tea.v1.Pots/Brew",
            "grpc_web",
            "UNIMPLEMENTED",
        ),
        ("BREW /shop.v1.Orders/Get", json, 405, get, "http", "UNIMPLEMENTED"),
        ("GET /shop.v1.Orders/Get", "", 405, get, "http", "UNIMPLEMENTED"),
        ("POST /shop.v1.Orders/Get", "content-type: text/plain\r\n", 415, get, "http", "INVALID_ARGUMENT"),
        ("POST /shop.v1.Orders/Get", "content-type: application/grpc-web\r\n", 200, get, "grpc_web", "UNIMPLEMENTED"),
        (
            "POST /shop.v1.Orders/Get",
            "content-type: application/json\r\nconnect-timeout-ms: x\r\n",
            400,
            get,
            "connect",
            "INVALID_ARGUMENT",
        ),
        ("BREW /v1/orders/7", "", 405, "v1/orders/7", "rest", "UNIMPLEMENTED"),
        // Of no protocol, to no method: none of the mock's business.
        ("GET /favicon.ico", "", 404, "", "", ""),
        ("BREW /pot", "", 404, "", "", ""),
        ("OPTIONS /shop.v1.Orders/Get", "origin: http://a\r\naccess-control-request-method: POST\r\n", 204, "", "", ""),
    ] {
        let before = shown(&mut leat, "/mock/calls")["calls"].as_array().unwrap().len();
        let request = format!("{line} HTTP/1.1\r\nhost: h\r\nx-api-key: k\r\n{fields}content-length: 0\r\n\r\n");
        assert_eq!(
            leat.connect().send(request).response_to(line.split(' ').next().unwrap()).status,
            status,
            "{line} {fields}"
        );
        let calls = shown(&mut leat, "/mock/calls?unmatched=true")["calls"].as_array().unwrap().clone();
        if method.is_empty() {
            assert_eq!(calls.len(), before, "{line}");
            continue;
        }
        assert_eq!(calls.len(), before + 1, "{line} {fields}");
        let last = calls.last().unwrap();
        assert_eq!(
            (&last["method"], &last["protocol"], &last["status"]["code"]),
            (&json!(method), &json!(protocol), &json!(code)),
            "{line}"
        );
        assert_eq!(last["metadata"]["x-api-key"], json!(["***"]));
        let (verb, why) = (line.split(' ').next().unwrap(), last["unmatched"].as_str().unwrap());
        assert_eq!(why.starts_with(&format!("{verb}: ")), ["http", "rest"].contains(&protocol), "{why}");
        assert!(last["rule"].is_null(), "{last}");
    }
    let verified = change(&mut leat, "/mock/verify", r#"{"unmatched":0}"#);
    assert_eq!((verified.0, &verified.1["checks"][0]["seen"]), (417, &json!(9)), "{}", verified.1);
}

#[test]
fn nothing_changes_without_the_token() {
    let mut leat = with_admin(folder(RULES), &[]);
    for path in ["/mock/reset", "/mock/rules/extra", "/mock/rules/extra/remove", "/mock/scenario"] {
        let client = leat_testkit::Client::connect(leat.admin());
        assert_eq!(super::support::post(client, path, "", "{}").status, 401, "{path}");
    }
    let client = leat_testkit::Client::connect(leat.admin());
    let asked = super::support::post(client, "/mock/verify", "", r#"{"unmatched":0}"#);
    assert_eq!(asked.status, 200, "verifying changes nothing: {}", asked.text());
}

#[test]
fn counts_stand_in_the_metrics() {
    let mut leat = with_admin(folder(RULES), &[]);
    message(&leat, "Get", r#"{"id":"7"}"#);
    call(&leat, "Get", "", r#"{"id":"5"}"#);
    let request = "GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let metrics = leat_testkit::Client::connect(leat.admin()).send(request).response_to("GET").text().to_owned();
    for line in [
        r#"leat_mock_calls_total{mock="mock",method="shop.v1.Orders/Get",protocol="connect",code="OK"} 1"#,
        r#"leat_mock_calls_total{mock="mock",method="shop.v1.Orders/Get",protocol="connect",code="NOT_FOUND"} 1"#,
        r#"leat_mock_rule_calls_total{mock="mock",rule="found"} 1"#,
        r#"leat_mock_unmatched_calls_total{mock="mock"} 1"#,
        r#"leat_mock_call_seconds_count{mock="mock",method="shop.v1.Orders/Get"} 2"#,
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
}
