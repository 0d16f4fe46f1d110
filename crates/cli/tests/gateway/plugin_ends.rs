//! How a plug-in that waits is told that nobody waits for it.

use leat_testkit::{Folder, Leat, Peer, Script, eventually};

use crate::support::{BARE, OK, answers, config, is_problem, url};

/// A gateway whose plug-in has these hooks, with `reads` inside of it, which reads the bodies of requests. What hooks have put to `seen` is
/// told to whoever asks for `/seen`, and `/over` sets `over`.
fn gateway(peer: &Peer, hooks: &str, limits: &str) -> Leat {
    let folder = Folder::new();
    folder.write(
        "it.mjs",
        format!(
            "import {{ middleware }} from 'leat/middleware';
const seen = [];
let over = false;
const tell = middleware({{ name: 'tell', scope: 'call', onRequest({{ request: {{ path }} }}) {{
    if (path === '/over') over = true;
    if (path !== '/wait') return {{ respond: {{ status: 200, headers: {{}}, body: seen.join() }} }};
}} }});
const it = middleware({{ name: 'it', scope: 'call', {hooks}, onComplete({{ error }}) {{ seen.push('complete ' + error?.code); }} }});
export default [tell, it, middleware({{ name: 'reads', scope: 'call', bodies: 'request', onRequest() {{}} }})];
"
        ),
    );
    let root = format!("{BARE}\nplugins: {{ it: it.mjs }}\nplugin_limits: {{ {limits} }}");
    Leat::gateway_in(folder, &config(url(peer), &root, "", "plugins: it", ""), 1)
}

fn wait_seen(leat: &Leat, wanted: &str) {
    let mut client = leat.connect();
    let mut last = String::new();
    eventually(wanted, || {
        client.get("/seen").response().text().clone_into(&mut last);
        (last == wanted).then_some(())
    });
}

const WAITS: &str = "seen.push('began'); await new Promise((done) => signal.addEventListener('abort', done)); seen.push(signal.aborted + ' ' + signal.reason.code);";

#[test]
fn a_plugin_is_told_that_its_client_has_left() {
    for (hooks, body, seen) in [
        (format!("async onRequest({{ signal }}) {{ {WAITS} }}"), "", "began,true peer.reset,complete peer.reset"),
        // `fetch` takes it, and fails with its reason.
        (
            "async onRequest({ request, signal }) { seen.push('began'); await fetch(request.headers['x-to'], { signal }); }".to_owned(),
            "",
            "began,complete peer.reset",
        ),
        // Nobody listens: it ends by itself, and nothing further is entered.
        (
            "async onRequest() { seen.push('began'); while (!over) await new Promise((done) => setTimeout(done, 1)); seen.push('ended'); }, onError({ error }) { seen.push(error.code); }".to_owned(),
            "",
            "began,ended,peer.reset,complete peer.reset",
        ),
        // The one inside of it waits for a body that does not come.
        ("onRequest() { seen.push('began'); }".to_owned(), "he", "began,complete peer.reset"),
        (format!("async onResponse({{ signal }}) {{ {WAITS} }}"), "hello", "began,true peer.reset,complete undefined"),
    ] {
        let silent = Peer::listen([Script::new().expect_head().expect_end()]);
        let peer = Peer::listen([answers(OK, 1)]);
        let leat = gateway(&peer, &hooks, "");
        let mut client = leat.connect();
        let to = url(&silent);
        let length = if body.is_empty() { "" } else { "content-length: 5\r\n" };
        client.send(format!("POST /wait HTTP/1.1\r\nhost: h\r\nx-to: {to}\r\n{length}\r\n{body}"));
        wait_seen(&leat, "began");
        client.reset();
        if hooks.contains("over") {
            leat.connect().get("/over").response();
        }
        wait_seen(&leat, seen);
    }
}

#[test]
fn a_world_that_ends_while_its_plugin_is_told_is_made_anew() {
    for ends in ["process.exit(3)", "const all = []; for (;;) all.push(new Uint8Array(100_000))"] {
        let peer = Peer::listen([answers(OK, 1)]);
        let hooks = format!(
            "async onRequest({{ signal }}) {{ seen.push('began'); await new Promise(() => signal.addEventListener('abort', () => {{ {ends}; }})); }}"
        );
        let leat = gateway(&peer, &hooks, "wait_time: 20s");
        for _ in 0..3 {
            // What an earlier world has seen is gone with it.
            wait_seen(&leat, "");
            let mut client = leat.connect();
            client.send("POST /wait HTTP/1.1\r\nhost: h\r\n\r\n");
            wait_seen(&leat, "began");
            client.reset();
        }
        wait_seen(&leat, "");
    }
}

#[test]
fn a_plugin_is_told_that_it_has_waited_too_long() {
    let peer = Peer::listen([answers(OK, 1)]);
    let leat = gateway(&peer, &format!("async onRequest({{ signal }}) {{ {WAITS} }}"), "wait_time: 50ms");
    is_problem(&leat.connect().get("/wait").response(), 504, "plugin.wait_time");
    wait_seen(&leat, "began,true plugin.wait_time,complete plugin.wait_time");
}
