//! What plug-ins do wrong, in the log and for the plug-ins of other routes.

use leat_testkit::{Folder, Leat};
use serde_json::Value;

use crate::plugins::module;
use crate::support::is_problem;

const REPLY: &str = "respond: { body: hello }";

/// A gateway with a route for each plug-in, under its name.
fn gateway(plugins: &[(&str, &str)], root: &str) -> Leat {
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
        let mut leat = gateway(&[("it", hooks)], "plugin_limits: { memory: 16MB, turn_time: 50ms }");
        let mut client = leat.connect();
        for _ in 0..4 {
            client.get("/it").response();
        }
        leat.wait_log("the event", |line| line.contains("\"event\":\"plugin_"));
        leat.terminate();
        leat.wait();
        let log = leat.log();
        for line in &log {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{hooks}: {line}");
            assert!(line.len() < 20_000, "{hooks}: {} bytes", line.len());
        }
        let world = log.iter().filter(|line| line.contains("\"event\":\"plugin_world\"")).count();
        assert!(world <= 3, "no more than one a second: {}", log.join("\n"));
    }
}

#[test]
fn a_plugin_that_loses_its_world_costs_no_other_route_its_plugins() {
    let bad = "onRequest() { process.kill(process.pid, 'SIGKILL'); }";
    let good = "onRequest: () => ({ respond: { status: 200, headers: {}, body: 'good' } })";
    let leat = gateway(&[("bad", bad), ("good", good)], "");
    let mut client = leat.connect();
    for _ in 0..12 {
        is_problem(&client.get("/bad").response(), 503, "plugin.lost");
        assert_eq!(client.get("/good").response().text(), "good");
    }
}

#[test]
fn microtasks_without_end_do_not_keep_the_core() {
    let endless = "onRequest() { for (let i = 0; i < 10_000; i++) (async () => { for (;;) await null; })(); }";
    let leat = gateway(&[("it", endless)], "plugin_limits: { turn_time: 20ms }");
    let mut client = leat.connect();
    is_problem(&client.get("/it").response(), 503, "plugin.lost");
    is_problem(&client.get("/nowhere").response(), 404, "route.not_found");
}
