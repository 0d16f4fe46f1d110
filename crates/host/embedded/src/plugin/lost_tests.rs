//! Worlds that end before their plug-ins are done, and whom that costs what.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::{Duration, Instant};

use super::tests::{GET, given, hooks, in_folder, limits, on_a_core, patch, run, run_set};
use super::{Decision, Failure, Plugins};

#[test]
fn a_world_that_is_lost_by_what_is_under_way_fails_whoever_waits_at_once() {
    on_a_core(async {
        for ends in ["process.exit(3)", "const all = []; for (;;) all.push(new Uint8Array(100_000))"] {
            let (_folder, plugins) = in_folder(&format!(
                "async onRequest({{ request }}) {{ if (request.path === '/wait') await new Promise(() => setTimeout(() => {{ {ends}; }}, 1)); return {{ headers: {{ 'x-a': '1' }} }}; }}"
            ));
            let mut waits = run(&plugins, &GET.replace("/a?b=1", "/wait"));
            assert_eq!(waits.decision(), Decision::Pending);
            assert_eq!((waits.decided().await, waits.failed_by()), (Decision::Failed, Failure::Lost), "{ends}");
            let mut left = run(&plugins, &GET.replace("/a?b=1", "/wait"));
            left.leave("peer.closed");
            drop(left);
            tokio::time::sleep(Duration::from_millis(30)).await;
            let next = run(&plugins, GET);
            assert_eq!(patch(&next), "x-a: 1", "who comes when nobody has noticed finds another world: {ends}");
        }
    });
}

#[test]
fn a_run_that_is_left_may_cost_the_world_that_it_alone_still_has() {
    on_a_core(async {
        for ends in ["process.exit(3)", "const all = []; for (;;) all.push(new Uint8Array(100_000))"] {
            let (_folder, plugins) = in_folder(&format!(
                "count: 0, async onRequest({{ request, signal }}) {{ if (request.path !== '/wait') return {{ headers: {{ 'x-count': String(this.count++) }} }}; await new Promise(() => signal.addEventListener('abort', () => {{ {ends}; }})); }}"
            ));
            assert_eq!(patch(&run(&plugins, GET)), "x-count: 0");
            let mut left = run(&plugins, &GET.replace("/a?b=1", "/wait"));
            assert_eq!(left.decision(), Decision::Pending);
            // Its objects are the world's, which has nobody else when this returns.
            left.leave("peer.closed");
            drop(left);
            assert_eq!(patch(&run(&plugins, GET)), "x-count: 0", "the world is another one: {ends}");
        }
    });
}

#[test]
fn worlds_that_are_lost_one_after_the_other_are_not_made_for_ever() {
    on_a_core(async {
        let (_folder, plugins) = in_folder("onRequest() { process.exit(3); }");
        let failures: Vec<String> = (0..7).map(|_| run(&plugins, GET).failure().to_owned()).collect();
        assert!(failures[..5].iter().all(|failure| failure.starts_with("a plug-in ended the process")), "{failures:?}");
        let wanted = "5 worlds of plug-ins in a row were lost at once, by those of this route";
        assert!(failures[5..].iter().all(|failure| failure == wanted), "{failures:?}");
    });
}

#[test]
fn a_world_that_can_not_be_made_anew_is_not_tried_for_ever() {
    on_a_core(async {
        // Its folder is gone.
        let plugins = hooks("onRequest() { process.exit(3); }");
        let failures: Vec<String> = (0..7).map(|_| run(&plugins, GET).failure().to_owned()).collect();
        assert!(failures[0].starts_with("a plug-in ended the process"), "{failures:?}");
        assert!(failures[1..6].iter().all(|failure| failure.contains("Cannot find module")), "{failures:?}");
        assert_eq!(failures[6], "5 worlds of plug-ins in a row were lost at once");
    });
}

#[test]
fn plugins_that_lose_worlds_wait_and_those_of_other_routes_go_on() {
    on_a_core(async {
        let folder = leat_testkit::Folder::new();
        let file = |name: &str, hooks: &str| {
            let head = "import { middleware } from 'leat/middleware';";
            folder.write(name, format!("{head}\nexport default middleware({{ name: 'it', scope: 'call', {hooks} }});"))
        };
        let bad = file("bad.mjs", "onRequest() { process.exit(3); }");
        let good = file("good.mjs", "onRequest() { return { headers: { 'x-a': '1' } }; }");
        let plugins = Plugins::load(&given(&[bad, good]), &[vec![0], vec![1]], limits()).unwrap();
        for _ in 0..12 {
            assert_eq!(run_set(&plugins, 0, GET).failed_by(), Failure::Lost);
            assert_eq!(patch(&run_set(&plugins, 1, GET)), "x-a: 1");
        }
        assert_eq!(plugins.state().lost, 5, "a set that waits costs no world");
    });
}

#[test]
fn microtasks_without_end_cost_their_world_and_not_the_core() {
    on_a_core(async {
        for hook in [
            "onRequest({ request }) { if (request.path === '/x') for (let i = 0; i < 10_000; i++) (async () => { for (;;) await null; })(); return { headers: { 'x-a': '1' } }; }",
            "onRequest({ request }) { const f = () => { for (;;) Promise.resolve().then(f); }; if (request.path === '/x') for (let i = 0; i < 10_000; i++) Promise.resolve().then(f); return { headers: { 'x-a': '1' } }; }",
        ] {
            let (_folder, plugins) = in_folder(hook);
            let began = Instant::now();
            let endless = run(&plugins, &GET.replace("/a?b=1", "/x"));
            assert_eq!((endless.decision(), endless.failed_by()), (Decision::Failed, Failure::Lost), "{hook}");
            assert!(began.elapsed() < Duration::from_secs(20), "a turn ends: {:?}", began.elapsed());
            assert_eq!(patch(&run(&plugins, GET)), "x-a: 1", "there is another world");
        }
    });
}

#[test]
fn a_plugin_can_not_end_the_process_nor_change_it_for_others() {
    on_a_core(async {
        for ends in [
            "process.kill(process.pid, 'SIGKILL')",
            "process.kill(0)",
            "process.kill(-1, 'SIGTERM')",
            "process.abort()",
        ] {
            let (_folder, plugins) = in_folder(&format!("onRequest() {{ {ends}; }}"));
            let run = run(&plugins, GET);
            assert_eq!(run.failure(), "a plug-in ended the process: its world is made anew instead", "{ends}");
        }
        let plugins = hooks("onRequest() { return { headers: { 'x-a': String(process.kill(process.pid, 0)) } }; }");
        assert_eq!(patch(&run(&plugins, GET)), "x-a: true", "whether there is such a process may be asked");
        let before = std::env::current_dir().unwrap();
        for (changes, name) in [("process.chdir('/')", "chdir"), ("process.umask(0)", "umask")] {
            let plugins = hooks(&format!("onRequest() {{ {changes}; }}"));
            let run = run(&plugins, GET);
            let wanted = format!("[ERR_WORKER_UNSUPPORTED_OPERATION]: process.{name}() is not supported in plug-ins");
            assert!(run.failure().contains(&wanted), "{}", run.failure());
        }
        assert_eq!(std::env::current_dir().unwrap(), before);
    });
}

#[test]
fn whatever_is_thrown_is_an_error_of_the_plugin() {
    on_a_core(async {
        for (thrown, wanted) in [
            ("'text'", "text"),
            ("null", "null"),
            ("undefined", "undefined"),
            ("Symbol('a')", "Symbol(a)"),
            ("{ a: 1 }", "an object was thrown: a"),
            ("new Proxy({}, { ownKeys() { throw 1; } })", "what was thrown can't be shown"),
            ("Object.assign(new Error('it'), { stack: { toString() { throw 1; } } })", "Error: it"),
            (
                "Object.defineProperty(new Error('it'), 'stack', { get() { throw 1; } })",
                "what was thrown can't be shown",
            ),
        ] {
            for hook in ["onRequest()", "async onRequest()"] {
                let plugins = hooks(&format!("{hook} {{ throw {thrown}; }}"));
                let mut run = run(&plugins, GET);
                run.decided().await;
                assert_eq!((run.failed_by(), run.failure()), (Failure::Threw, wanted), "{hook} throws {thrown}");
            }
        }
    });
}
