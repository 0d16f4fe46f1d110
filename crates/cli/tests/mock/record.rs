use leat_testkit::{Leat, Output};
use serde_json::Value;

use super::support::{RULES, call, folder, message, mock};

/// A mock that records another, which stands for a backend; both and the folder of the recording.
fn recording() -> (Leat, Leat) {
    let backend = mock(folder(RULES), &[]);
    let address = backend.address(0).to_string();
    let recorder = Leat::spawn(
        folder(""),
        &["mock", "--proto", "protos", "--listen", "127.0.0.1:0", "--record", &address, "recorded"],
    );
    (backend, recorder.ready(1))
}

fn drift(recorder: &Leat, server: &str, more: &[&str]) -> Output {
    let arguments = ["mock", "--proto", "protos", "--rules", "recorded", "--drift", server];
    Leat::run(recorder.folder().path(), &[&arguments[..], more].concat())
}

#[test]
fn what_a_backend_answers_becomes_rules_that_answer_the_same() {
    let (backend, recorder) = recording();
    let requests = [("Get", r#"{"id":"7"}"#), ("Get", r#"{"id":"8"}"#), ("Place", r#"{"id":"9","customer":"Lena"}"#)];
    let fields = "x-tenant: acme\r\nauthorization: Bearer abc\r\n";
    let live: Vec<_> = requests.iter().map(|(method, body)| call(&recorder, method, fields, body)).collect();
    assert_eq!(live[0].field("x-a"), Some("b"), "{}", live[0].text());
    let text = std::fs::read_to_string(recorder.folder().path().join("recorded/shop.v1.Orders.Get.yaml")).unwrap();
    assert!(text.contains(r#""x-tenant":"acme""#) && text.contains(r#"headers: {"x-a":"b"}"#), "{text}");
    assert!(!text.contains("Bearer"), "secrets are left out: {text}");
    let folder = recorder.folder().path().to_owned();
    drop(backend);
    let replay = Leat::run(&folder, &["mock", "--proto", "protos", "--rules", "recorded", "--check"]);
    assert_eq!(replay.code, Some(0), "{}{text}", replay.stderr);
    let copy = super::support::folder("");
    for file in std::fs::read_dir(folder.join("recorded")).unwrap().map(|entry| entry.unwrap().path()) {
        std::fs::copy(&file, copy.path().join("rules").join(file.file_name().unwrap())).unwrap();
    }
    std::fs::remove_file(copy.path().join("rules/orders.yaml")).unwrap();
    let replay = mock(copy, &[]);
    for ((method, body), live) in requests.iter().zip(&live) {
        let again = call(&replay, method, "", body);
        assert_eq!((again.status, again.text()), (live.status, live.text()), "{method} {body}");
        assert_eq!(again.field("trailer-x-t"), live.field("trailer-x-t"));
    }
}

#[test]
fn a_backend_that_answers_otherwise_is_told_field_by_field() {
    let (backend, recorder) = recording();
    message(&recorder, "Get", r#"{"id":"7"}"#);
    call(&recorder, "Get", "", r#"{"id":"8"}"#);
    let same = drift(&recorder, &backend.address(0).to_string(), &[]);
    assert_eq!(same.code, Some(0), "{}{}", same.stdout, same.stderr);
    assert!(same.stdout.contains("0 of 2 rules differ"), "{}", same.stdout);
    let other = mock(folder(&RULES.replace("total: 1200", "total: 1300").replace("not yours", "nobody's")), &[]);
    let server = other.address(0).to_string();
    let changed = drift(&recorder, &server, &[]);
    assert_eq!(changed.code, Some(1), "{}", changed.stderr);
    assert!(changed.stdout.contains(r#"message.total: "1200" is now "1300""#), "{}", changed.stdout);
    assert!(changed.stdout.contains(r#"status.message: "not yours" is now "nobody's""#), "{}", changed.stdout);
    let told: Value = serde_json::from_str(&drift(&recorder, &server, &["--json"]).stdout).unwrap();
    assert_eq!((&told["changed"], &told["compared"]), (&2.into(), &2.into()));
    assert_eq!(told["rules"][0]["differences"][0]["path"], "message.total");
}

#[test]
fn the_schema_of_a_live_server_is_told_by_its_reflection() {
    let server = mock(folder(RULES), &[]);
    let address = server.address(0).to_string();
    let leat =
        Leat::spawn(folder(RULES), &["mock", "--reflect", &address, "--rules", "rules", "--listen", "127.0.0.1:0"])
            .ready(1);
    assert_eq!(message(&leat, "Get", r#"{"id":"7"}"#)["customer"], "Ada");
    let health = super::support::post(leat.connect(), "/grpc.health.v1.Health/Check", "", "{}");
    assert_eq!((health.status, health.text()), (200, r#"{"status":"SERVING"}"#), "it is the mock's own");
    drop(server);
    let gone = Leat::run(leat.folder().path(), &["mock", "--reflect", &address, "--check"]);
    assert_eq!(gone.code, Some(2));
    assert!(gone.stderr.contains("does not tell its schema"), "{}", gone.stderr);
}
