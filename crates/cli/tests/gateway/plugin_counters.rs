//! What plug-ins count, on the page of metrics.

use leat_testkit::{Client, Folder, Leat};

fn lines(leat: &mut Leat) -> Vec<String> {
    let admin = leat.admin();
    let text = Client::connect(admin).get("/metrics").response().text().to_owned();
    text.lines().filter(|line| line.contains("leat_plugin_")).map(str::to_owned).collect()
}

const COUNTING: &str = "import { middleware } from 'leat/middleware';
import { counter } from 'leat/gateway';
const seen = counter('seen', { help: 'Requests that came by.' });
const by = counter('by_who', { labels: ['who', 'method'] });
export default middleware({ name: 'it', scope: 'call', onRequest({ request }) {
    seen.add();
    by.add(2, { who: request.headers['x-who'] ?? '', method: request.method });
    if (request.path === '/odd') seen.add(-1);
    if (request.path === '/name') counter('Bad-Name');
    if (request.path === '/many') for (let at = 0; at < 150; at++) counter('c' + at).add();
} });
";

fn config(workers: usize) -> String {
    format!(
        "listeners: 127.0.0.1:0\nworkers: {workers}\nadmin: 127.0.0.1:0\nplugins: {{ it: it.mjs }}\nroutes: [{{ plugins: it, respond: {{ body: ok }} }}]\n"
    )
}

#[test]
fn counters_are_added_up_over_cores_and_outlast_a_reload() {
    let folder = Folder::new();
    folder.write("it.mjs", COUNTING);
    let mut leat = Leat::gateway_in(folder, &config(2), 1);
    assert_eq!(
        lines(&mut leat),
        [
            "# HELP leat_plugin_by_who_total Counted by a plug-in.",
            "# TYPE leat_plugin_by_who_total counter",
            "# HELP leat_plugin_seen_total Requests that came by.",
            "# TYPE leat_plugin_seen_total counter",
            "leat_plugin_seen_total 0",
        ]
    );
    for round in 1..=2 {
        // New connections, which land on both cores.
        for _ in 0..10 {
            leat.connect().send("GET / HTTP/1.1\r\nhost: h\r\nx-who: a\"b\r\n\r\n").response();
        }
        let found = lines(&mut leat);
        assert!(found.contains(&format!("leat_plugin_seen_total {}", 10 * round)), "{found:?}");
        let by = format!("leat_plugin_by_who_total{{who=\"a\\\"b\",method=\"GET\"}} {}", 20 * round);
        assert!(found.contains(&by), "{found:?}");
        leat.reload();
        leat.wait_log("the reload", |line| line.contains("\"event\":\"reloaded\""));
    }
}

#[test]
fn what_can_not_be_counted_is_refused() {
    let folder = Folder::new();
    folder.write("it.mjs", COUNTING);
    let mut leat = Leat::gateway_in(folder, &config(1), 1);
    assert_eq!(leat.connect().get("/odd").response().status, 500);
    leat.wait_log("the number", |line| line.contains("grows by whole numbers"));
    assert_eq!(leat.connect().get("/name").response().status, 500);
    for _ in 0..2 {
        assert_eq!(leat.connect().get("/many").response().status, 200, "one too many costs nobody a request");
    }
    let line = leat.wait_log("the refusal", |line| line.contains("\"event\":\"plugin_counter_refused\""));
    assert!(line.contains("100 at most"), "{line}");
    let found = lines(&mut leat);
    assert!(found.contains(&"leat_plugin_c97_total 2".to_owned()) && !found.iter().any(|line| line.contains("c98")));
}

#[test]
fn two_plugins_agree_on_the_labels_of_a_counter() {
    let folder = Folder::new();
    folder.write("it.mjs", "import { counter } from 'leat/gateway';\nimport { middleware } from 'leat/middleware';\ncounter('a', { labels: ['x'] });\ncounter('a', { labels: ['y'] });\nexport default middleware({ name: 'it', scope: 'call', onRequest() {} });");
    folder.write("leat.yaml", config(1));
    let output = Leat::run(folder.path(), &["gateway", "leat.yaml", "--check"]);
    let text = output.stderr;
    assert!(output.code != Some(0) && text.contains("with other labels: x") && text.contains("it.mjs:4"), "{text}");
}
