//! What the API changes.

use leat_testkit::{Folder, Leat, Peer, Script, eventually};
use serde_json::{Value, json};

use crate::asked::{TOKEN, gateway, get, json, post, refusal, with_admin};
use crate::support::{events, metric};

/// Waits until so many changes were told of: the log comes through a pipe.
fn wait_writes(leat: &Leat, count: usize) {
    eventually("changes in the log", || (events(&leat.log(), "admin_write") == count).then_some(()));
}

#[test]
fn a_reload_says_what_changed() {
    let config = |body: &str, token: &str, more: &str| {
        with_admin(&format!(
            "routes:\n  - match: {{ path: /here }}\n    response_headers: {{ set: {{ x-token: {token} }} }}\n    respond: {{ body: {body} }}\n{more}"
        ))
    };
    let mut leat = gateway(config("one", "hunter2", "").split_once("access_log: off\n").unwrap().1);
    leat.rewrite(&config("two", "hunter3", "  - respond: { status: 418 }\n"));
    let answer = json(&post(&mut leat, "/reload", ""));
    assert_eq!(answer["reloaded"], true);
    assert_eq!(
        answer["differences"]["changes"],
        json!([
            { "change": "changed", "path": "routes[0].response_headers.set.x-token", "line": 6, "column": 41, "value": "(masked)" },
            { "change": "changed", "path": "routes[0].respond.body", "line": 7, "column": 22, "value": "two" },
            { "change": "added", "path": "routes[1].respond.status", "line": 8, "column": 24, "value": "418" },
        ])
    );
    assert_eq!(leat.connect().get("/here").response().text(), "two", "it runs when the answer comes");
    assert_eq!(leat.connect().get("/").response().status, 418);
    assert_eq!(json(&post(&mut leat, "/reload", ""))["differences"]["changes"], json!([]));
    wait_writes(&leat, 2);
    assert!(!leat.log().iter().any(|line| line.contains("hunter")), "no secret is told of");
}

#[test]
fn who_asks_for_a_reload_while_others_do_is_answered_with_one() {
    let mut leat = gateway("routes: [{ respond: { body: a } }]\n");
    let admin = leat.admin();
    let asked: Vec<_> = (0..40)
        .map(|_| {
            let mut client = leat_testkit::Client::connect(admin);
            client.send(format!(
                "POST /reload HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: 0\r\n\r\n"
            ));
            client
        })
        .collect();
    for mut client in asked {
        assert_eq!(json(&client.response())["reloaded"], true);
    }
}

#[test]
fn a_reload_of_a_bad_file_names_every_mistake_and_changes_nothing() {
    let mut leat = gateway("routes: [{ respond: { body: good } }]\n");
    leat.rewrite(&with_admin("routes:\n  - respnd: {}\n  - respond: { status: 99 }\n"));
    let answer = post(&mut leat, "/reload", "");
    assert_eq!(refusal(&answer), (422, "admin.config".to_owned()));
    let problem: Value = serde_json::from_str(answer.text()).unwrap();
    let problems = problem["problems"].as_array().unwrap();
    let places: Vec<_> =
        problems.iter().map(|one| (one["line"].as_u64().unwrap(), one["column"].as_u64().unwrap())).collect();
    assert!(places.contains(&(5, 5)) && places.contains(&(6, 24)), "{problem}");
    assert!(problems.iter().all(|one| one["file"].as_str().unwrap().ends_with("leat.yaml")), "{problem}");
    assert!(problems.iter().any(|one| one["help"] == "write `respond`"), "{problem}");
    assert_eq!(leat.connect().get("/").response().text(), "good");
    assert_eq!(metric(leat.admin(), "leat_config_reloads_total{outcome=\"failed\"}"), 1);
}

#[test]
fn the_address_and_the_token_may_change_with_a_reload_that_it_asked_for() {
    let mut leat = gateway("routes: [{ respond: {} }]\n");
    leat.folder().write("admin.token", "another-token-of-this-test");
    assert_eq!(json(&post(&mut leat, "/reload", ""))["reloaded"], true);
    assert_eq!(refusal(&post(&mut leat, "/reload", "")), (403, "admin.token_wrong".to_owned()));
}

#[test]
fn what_a_change_does_not_know_it_refuses_by_name() {
    let peer = Peer::listen([Script::new()]);
    let mut leat = gateway(&format!(
        "routes: [{{ proxy: up }}]\nupstreams: {{ up: {{ endpoints: \"http://{}\", breaker: {{}} }} }}\n",
        peer.address()
    ));
    let drain = format!("/upstreams/up/endpoints/{}/drain", peer.address());
    let none = "the call takes none";
    let general = "The query or the body is not what the admin API takes here.";
    for (path, body, told) in [
        ("/log-level", "{\"level\": \"warn\", \"levl\": \"error\"}", "unknown key `levl`: known are `level`"),
        ("/log-level", "{\"Level\": \"warn\"}", "unknown key `Level`: known are `level`"),
        ("/log-level", "[]", "the body is no JSON object"),
        ("/log-level", "level=warn", "the body is no JSON object"),
        ("/log-level", "\u{1}", "the body is no JSON object"),
        ("/log-level", "", "the body is JSON: {\"level\": \"info\"}, \"warn\" or \"error\""),
        ("/log-level?level=warn", "{\"level\": \"warn\"}", general),
        ("/reload", "{\"dry\": true}", &format!("unknown key `dry`: {none}")),
        ("/reload", "now", "the call takes no body"),
        ("/reload?dry=true", "", general),
        (&drain, "{\"for\": \"10s\"}", &format!("unknown key `for`: {none}")),
        ("/upstreams/up/breaker/reset", "{\"endpoint\": \"x\"}", &format!("unknown key `endpoint`: {none}")),
    ] {
        let answer = post(&mut leat, path, body);
        assert_eq!(refusal(&answer), (400, "admin.request".to_owned()), "{path} {body}");
        let problem: Value = serde_json::from_str(answer.text()).unwrap();
        assert_eq!(problem["detail"], told, "{path} {body}");
    }
    assert_eq!(get(&mut leat, "/info")["log_level"], "info");
    assert_eq!(get(&mut leat, "/upstreams/up")["endpoints"][0]["draining"], false);
    assert_eq!(json(&post(&mut leat, &drain, "{}"))["drain"]["changed"], 1);
    assert_eq!(json(&post(&mut leat, "/reload", " "))["reloaded"], true);
}

#[test]
fn the_log_level_changes_live_and_stays_until_the_file_says_another() {
    let routes = "routes: [{ respond: {} }]\n";
    let mut leat = gateway(routes);
    let told = |leat: &Leat| events(&leat.log(), "reloaded");
    assert_eq!(json(&post(&mut leat, "/reload", ""))["reloaded"], true);
    wait_writes(&leat, 1);
    assert_eq!(told(&leat), 1);
    let answer = json(&post(&mut leat, "/log-level", "{\"level\": \"error\"}"));
    assert_eq!(answer, json!({ "level": "error", "before": "info" }));
    assert_eq!(get(&mut leat, "/info")["log_level"], "error");
    assert_eq!(json(&post(&mut leat, "/reload", ""))["reloaded"], true);
    // Who changed what is told at every level, and behind what it did.
    wait_writes(&leat, 3);
    assert_eq!(told(&leat), 1, "not told of");
    leat.rewrite(&with_admin(&format!("log_level: warn\n{routes}")));
    post(&mut leat, "/reload", "");
    assert_eq!(get(&mut leat, "/info")["log_level"], "warn");
    for body in ["", "error", "{}", "{\"level\": 1}", "{\"level\": \"loud\"}", &"x".repeat(4_000)] {
        assert_eq!(refusal(&post(&mut leat, "/log-level", body)), (400, "admin.request".to_owned()), "{body}");
    }
    assert_eq!(post(&mut leat, "/log-level", &" ".repeat(5_000)).status, 413);
}

#[test]
fn a_level_that_the_command_line_gives_is_not_the_files_to_change() {
    let folder = Folder::new();
    folder.write("admin.token", TOKEN);
    let config = with_admin("log_level: info\nroutes: [{ respond: {} }]\n");
    let path = folder.write("leat.yaml", config);
    // Without events nobody knows the address: it is asked of the process's exit alone.
    let output = Leat::run(folder.path(), &["gateway", path.to_str().unwrap(), "--log-level", "loud"]);
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    let mut leat = Leat::gateway_with(
        folder,
        &with_admin("log_level: error\nroutes: [{ respond: {} }]\n"),
        &["--log-level", "info"],
        1,
    );
    leat.rewrite(&with_admin("log_level: warn\nroutes: [{ respond: {} }]\n"));
    post(&mut leat, "/reload", "");
    assert_eq!(get(&mut leat, "/info")["log_level"], "info");
}

#[test]
fn a_breaker_admits_again_when_it_is_reset() {
    let ill = "HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n";
    let peer = Peer::listen([Script::new().expect_head().send(ill).repeated(100)]);
    let mut leat = gateway(&format!(
        "workers: 1
routes: [{{ proxy: up }}]
upstreams: {{ up: {{ endpoints: 'http://{}', breaker: {{ failures: 2, open: 10m, open_max: 10m }} }} }}
",
        peer.address()
    ));
    let mut client = leat.connect();
    let mut code = || {
        let response = client.get("/").response();
        response.text().contains("upstream.breaker")
    };
    assert_eq!([code(), code(), code()], [false, false, true]);
    let shown = get(&mut leat, "/upstreams/up");
    let window = &shown["endpoints"][0]["breaker_window"];
    assert!(window["retry_after_ms"].as_u64().unwrap() > 500_000, "{shown}");
    assert_eq!(json(&post(&mut leat, "/upstreams/up/breaker/reset", "")), json!({ "breakers": 1 }));
    assert_eq!([code(), code(), code()], [false, false, true], "it has forgotten, and learns again");
    assert_eq!(refusal(&post(&mut leat, "/upstreams/none/breaker/reset", "")).0, 404);
}
