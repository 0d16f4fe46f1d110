//! What plug-ins put on the objects that they are shown is no other request's to see.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::Decision;
use super::tests::{GET, OK, answer, hooks, on_a_core, patch, run};

#[test]
fn what_is_put_on_an_object_lasts_for_its_request() {
    on_a_core(async {
        for (of, waits) in
            [("context", ""), ("context", "await null;"), ("context.request", ""), ("context.request", "await null;")]
        {
            let code = format!(
                "async onRequest(context) {{ {waits} const {{ request }} = context; if (request.path === '/put') {of}.user = 'ann'; return {{ headers: {{ 'x-user': String({of}.user) }} }}; }}, onResponse(context) {{ return {{ headers: {{ 'x-user': String({of}.user) }} }}; }}"
            );
            let code = if waits.is_empty() { code.trim_start_matches("async ").to_owned() } else { code };
            let plugins = hooks(&code);
            for _ in 0..3 {
                for (path, user) in [("/put", "ann"), ("/get", "undefined")] {
                    let mut run = run(&plugins, &GET.replace("/a?b=1", path));
                    run.decided().await;
                    assert_eq!(patch(&run), format!("x-user: {user}"), "{code}");
                    answer(&mut run, OK);
                    run.decided().await;
                    // A patched request is another object.
                    let seen = if of == "context" { user } else { "undefined" };
                    assert_eq!(patch(&run), format!("x-user: {seen}"), "{code}");
                }
            }
        }
    });
}

#[test]
fn the_record_of_a_plan_that_the_walk_runs_takes_nothing() {
    on_a_core(async {
        let plugins = hooks("around(context, next) { context.user = 'ann'; return next(); }");
        let run = run(&plugins, GET);
        assert_eq!(run.decision(), Decision::Failed);
        assert!(run.failure().starts_with("TypeError: object is not extensible"), "{}", run.failure());
    });
}

#[test]
fn who_assigns_a_header_is_told_what_to_write() {
    on_a_core(async {
        for hook in [
            "onRequest({ request }) { request.headers['x-a'] = '1'; }",
            "onRequest({ request }) { request.headers.host = 'a'; }",
            "onRequest({ request }) { Object.assign(request.headers, { 'x-a': '1' }); }",
        ] {
            let run = run(&hooks(hook), GET);
            assert!(run.failure().starts_with("TypeError: headers are read-only: return a patch"), "{}", run.failure());
        }
    });
}
