//! What is said of plug-ins that go wrong, where logs are JSON: lines of JSON and nothing else, and each failure once.

use leat_testkit::{Folder, Leat, eventually};

use crate::plugins::module;

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
