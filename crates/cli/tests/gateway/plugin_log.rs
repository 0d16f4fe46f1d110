//! What is said of plug-ins that go wrong, where logs are JSON: lines of JSON and nothing else, and each failure once; and what it
//! costs the plug-ins of other routes.

use leat_testkit::{Folder, Leat, eventually};

use crate::plugins::module;
use crate::support::is_problem;

const REPLY: &str = "respond: { body: hello }";
const HOOKS: &str = "onRequest({ request }) {
    if (request.path === '/throw') throw new Error('thrown in a hook');
    if (request.path === '/loop') for (;;);
    if (request.path === '/memory') for (const all = [];;) all.push(new Uint8Array(100_000));
    if (request.path === '/timer') setTimeout(() => { throw new Error('thrown in a timer'); });
    if (request.path === '/reject') Promise.reject(new Error('rejected by nobody'));
    if (request.path === '/timer-loop') setTimeout(() => { for (;;); });
}";

fn gateway(file: &str) -> Leat {
    let folder = Folder::new();
    folder.write("it.mjs", file);
    let config = "listeners: 127.0.0.1:0
workers: 1
access_log: off
plugins: { it: it.mjs }
plugin_limits: { memory: 16MB, turn_time: 50ms }
routes: [{ plugins: it, respond: { body: in } }]
";
    Leat::gateway_in(folder, config, 1)
}

/// The events of this name; every line must be one of some name.
fn events(leat: &Leat, name: &str) -> Vec<serde_json::Value> {
    let lines = leat.log();
    let all = lines.iter().map(|line| {
        serde_json::from_str::<serde_json::Value>(line)
            .unwrap_or_else(|_| panic!("no event: {line}\n{}", lines.join("\n")))
    });
    all.filter(|event| event["event"] == name).collect()
}

#[test]
fn a_plugin_that_goes_wrong_is_one_line_of_json() {
    for (path, status, reason, told) in [
        ("/throw", 500, "plugin.failed", "Error: thrown in a hook\n    at onRequest (file:///"),
        (
            "/loop",
            503,
            "plugin.turn_time",
            "a plug-in ran for more than 50 ms and was stopped\n    at onRequest (file:///",
        ),
        ("/memory", 503, "plugin.lost", "plug-ins are out of memory: their world is made anew"),
        ("/timer", 200, "plugin.failed", "Error: thrown in a timer\n    at "),
        ("/reject", 200, "plugin.failed", "Error: rejected by nobody\n    at onRequest (file:///"),
        ("/timer-loop", 200, "plugin.turn_time", "a plug-in ran for more than 50 ms and was stopped\n    at "),
    ] {
        let leat = gateway(&module("it", HOOKS));
        assert_eq!(leat.connect().get(path).response().status, status, "{path}");
        let said = eventually(path, || Some(events(&leat, "plugin_failed")).filter(|said| !said.is_empty()));
        assert_eq!(said[0]["reason"], reason, "{path}");
        let message = said[0]["message"].as_str().unwrap();
        assert!(message.starts_with(told), "{path}: {message}");
        assert_eq!((said.len(), said[0].get("untold")), (1, None), "{path}: {said:?}");
    }
}

#[test]
fn a_file_that_a_reload_refuses_is_told_of_as_an_event() {
    let leat = gateway(&module("it", "onRequest() {}"));
    for (number, (file, told)) in [
        ("export default {\n", "it.mjs:2:1: SyntaxError"),
        ("throw new Error('at load')\n", "it.mjs:1:11: Error: at load"),
    ]
    .into_iter()
    .enumerate()
    {
        leat.folder().write("it.mjs", file);
        leat.reload();
        eventually("the refusal", || (events(&leat, "reload_failed").len() > number).then_some(()));
        let said = events(&leat, "config_problem");
        let message = said[number]["message"].as_str().unwrap();
        assert!(message.contains("leat.yaml:4:") && message.contains(told), "{message}");
        assert_eq!(said.len(), number + 1, "{said:?}");
    }
    leat.rewrite("routes: [{ nonsense: 1, respond: { body: x } }]\n");
    leat.reload();
    let said = eventually("the problem", || Some(events(&leat, "config_problem")).filter(|said| said.len() == 3));
    assert!(said[2]["message"].as_str().unwrap().contains("leat.yaml:1:12: unknown key `nonsense`"), "{said:?}");
}

/// A gateway with a route for each plug-in, under its name.
fn with_routes(plugins: &[(&str, &str)], root: &str) -> Leat {
    let folder = Folder::new();
    let (mut named, mut routes) = (String::new(), String::new());
    for (name, hooks) in plugins {
        folder.write(&format!("{name}.mjs"), module(name, hooks));
        named.push_str(&format!("  {name}: {name}.mjs\n"));
        routes.push_str(&format!("  - {{ match: {{ path: /{name} }}, plugins: {name}, {REPLY} }}\n"));
    }
    Leat::gateway_in(folder, &format!("listeners: 127.0.0.1:0\n{root}\nplugins:\n{named}routes:\n{routes}"), 1)
}

#[test]
fn what_plugins_do_wrong_leaves_a_log_of_whole_lines() {
    for hooks in [
        "onRequest() { for (;;); }",
        "onRequest() { for (let i = 0; i < 9; i++) setTimeout(() => { throw new Error(`a timer\\nline ${i}`); }, i); }",
        "onRequest() { void Promise.reject(new Error('nobody caught it')); }",
        "onRequest() { throw new Error('long'.repeat(1_000_000)); }",
        "kept: [], onRequest() { for (;;) this.kept.push(new Uint8Array(100_000)); }",
    ] {
        let mut leat = with_routes(&[("it", hooks)], "plugin_limits: { memory: 16MB, turn_time: 50ms }");
        let mut client = leat.connect();
        for _ in 0..4 {
            client.get("/it").response();
        }
        leat.wait_log("the event", |line| line.contains("\"event\":\"plugin_failed\""));
        leat.terminate();
        leat.wait();
        let log = leat.log();
        for line in &log {
            assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{hooks}: {line}");
            assert!(line.len() < 20_000, "{hooks}: {} bytes", line.len());
        }
        let told = log.iter().filter(|line| line.contains("\"event\":\"plugin_failed\"")).count();
        assert!(told <= 3, "no more than one a second and a core: {}", log.join("\n"));
    }
}

#[test]
fn a_plugin_that_loses_its_world_costs_no_other_route_its_plugins() {
    let bad = "onRequest() { process.kill(process.pid, 'SIGKILL'); }";
    let good = "onRequest: () => ({ respond: { status: 200, headers: {}, body: 'good' } })";
    let leat = with_routes(&[("bad", bad), ("good", good)], "");
    let mut client = leat.connect();
    for _ in 0..12 {
        is_problem(&client.get("/bad").response(), 503, "plugin.lost");
        assert_eq!(client.get("/good").response().text(), "good");
    }
}

#[test]
fn microtasks_without_end_do_not_keep_the_core() {
    let endless = "onRequest() { for (let i = 0; i < 10_000; i++) (async () => { for (;;) await null; })(); }";
    let leat = with_routes(&[("it", endless)], "plugin_limits: { turn_time: 20ms }");
    let mut client = leat.connect();
    is_problem(&client.get("/it").response(), 503, "plugin.lost");
    is_problem(&client.get("/nowhere").response(), 404, "route.not_found");
}
