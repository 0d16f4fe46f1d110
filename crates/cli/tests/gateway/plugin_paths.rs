//! What becomes of a path that a plug-in has put in place of the client's.

use leat_testkit::{Folder, Leat, Peer};

use crate::plugins::module;
use crate::support::{BARE, OK, answers, first_line, is_problem, url};

/// Where a request for `sent` goes whose path is made `put` by a plug-in of `route`, once without hooks for the response and once with one.
fn targets(route: &str, sent: &str, put: &str) -> Vec<String> {
    let changes = format!("onRequest: () => ({{ path: '{put}' }})");
    let hooks = [changes.clone(), format!("{changes}, onResponse() {{}}")];
    hooks.iter().flat_map(|hooks| asked(route, sent, hooks)).collect()
}

fn asked(route: &str, sent: &str, hooks: &str) -> Vec<String> {
    let peer = Peer::listen([answers(OK, 1)]);
    let leat = gateway(route, hooks, &url(&peer));
    assert_eq!(leat.connect().get(sent).response().status, 200, "{route} {sent}");
    drop(leat);
    peer.finish().iter().map(|head| first_line(head)).collect()
}

fn gateway(route: &str, hooks: &str, proxy: &str) -> Leat {
    let folder = Folder::new();
    folder.write("it.mjs", module("it", hooks));
    let config = format!(
        "listeners: 127.0.0.1:0\nworkers: 1\n{BARE}\nplugins: {{ it: it.mjs }}\nroutes: [{{ plugins: it, proxy: \"{proxy}\", {route} }}]\n"
    );
    Leat::gateway_in(folder, &config, 1)
}

#[test]
fn a_path_is_rewritten_as_one_of_the_routes_where_it_is_one() {
    let (by_id, stripped) =
        ("match: { path: \"/t/{id}\" }, rewrite: \"/int/{id}\"", "match: { prefix: /api }, strip_prefix: /api");
    for (route, sent, put, wanted) in [
        (by_id, "/t/abc", "/t/other?a=1", "/int/other?a=1"),
        // Its parameters are those of the path that was matched.
        (by_id, "/t/abc", "/short", "/int/abc"),
        (by_id, "/t/abcdefgh", "/t", "/int/abcdefgh"),
        (stripped, "/api/x", "/api/y/z", "/y/z"),
        (stripped, "/api/x", "/%61pi/y", "/y"),
        (stripped, "/api/x", "/api", "/"),
        // There is nothing to take off.
        (stripped, "/api/x", "/apix/y", "/apix/y"),
        (stripped, "/api/x", "/other?q", "/other?q"),
        ("match: { prefix: /api }", "/api/x", "/other", "/other"),
    ] {
        let wanted = format!("GET {wanted} HTTP/1.1");
        assert_eq!(targets(route, sent, put), [wanted.clone(), wanted], "{route}: {sent} becomes {put}");
    }
}

#[test]
fn a_path_that_leads_elsewhere_is_refused_as_a_clients_is() {
    for put in ["/a/../b", "/%2e%2e/b", "/a/.."] {
        for more in ["", ", onResponse() {}"] {
            let hooks = format!("onRequest: () => ({{ path: '{put}' }}){more}");
            let leat = gateway("match: { prefix: / }", &hooks, "http://127.0.0.1:9");
            is_problem(&leat.connect().get("/x").response(), 400, "route.path_dots");
        }
    }
}
