#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use leat_h1::{Limits, Method, Profile, Progress, ResponseLimits, parse_request, parse_response};
use leat_message::{Fields, Head, RequestLines, ResponseLines};
use leat_testkit::Folder;

use super::{Decision, Failure, PluginFile, PluginLimits, Plugins, PluginsError, Run};
use crate::size::Size;

pub(super) const GET: &str =
    "GET /a?b=1 HTTP/1.1\r\nHost: leat.test\r\nX-One: 1\r\nCookie: a\r\nX-Many: x\r\nx-many: y\r\n\r\n";
pub(super) const OK: &str =
    "HTTP/1.1 200 OK\r\nServer: up\r\nContent-Length: 2\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n";

pub(super) fn limits() -> PluginLimits {
    PluginLimits { turn: Duration::from_millis(50), wait: Duration::from_millis(200), memory: Size::new(32_000_000) }
}

pub(super) fn given(paths: &[PathBuf]) -> Vec<PluginFile> {
    paths.iter().cloned().map(PluginFile::new).collect()
}

/// Loads files into one folder, in the order of their names.
pub(super) fn load(files: &[(&str, &str)]) -> (Folder, Result<Rc<Plugins>, PluginsError>) {
    let folder = Folder::new();
    let paths: Vec<PathBuf> = files.iter().map(|(name, text)| folder.write(name, text)).collect();
    let plugins = Plugins::load(&given(&paths), &[(0..paths.len()).collect()], limits());
    (folder, plugins)
}

/// One plug-in of these hooks. Its file is there for as long as the folder.
pub(super) fn in_folder(hooks: &str) -> (Folder, Rc<Plugins>) {
    let head = "import { middleware } from 'leat/middleware';";
    let text = format!("{head}\nexport default middleware({{ name: 'it', scope: 'call', {hooks} }});");
    let (folder, plugins) = load(&[("it.mjs", &text)]);
    (folder, plugins.unwrap())
}

pub(super) fn hooks(hooks: &str) -> Rc<Plugins> {
    in_folder(hooks).1
}

pub(super) fn run(plugins: &Rc<Plugins>, head: &str) -> Run {
    run_set(plugins, 0, head)
}

pub(super) fn run_set(plugins: &Rc<Plugins>, set: usize, head: &str) -> Run {
    let mut lines = RequestLines::default();
    let mut progress = Progress::default();
    let length = parse_request(head.as_bytes(), &mut progress, Profile::Compatible, &Limits::default(), &mut lines);
    let length = length.unwrap().unwrap();
    plugins.request(set, Head::new(&head.as_bytes()[..length], &lines))
}

pub(super) fn answer(run: &mut Run, head: &str) -> Decision {
    let mut lines = ResponseLines::default();
    let mut progress = Progress::default();
    let limits = ResponseLimits::default();
    parse_response(head.as_bytes(), &mut progress, &limits, Method::Get, &mut lines).unwrap().unwrap();
    run.response(lines.status, Fields::new(head.as_bytes(), &lines.fields))
}

/// The patch in one line.
pub(super) fn patch(run: &Run) -> String {
    let Some(patch) = run.patch() else { return String::new() };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut parts = Vec::new();
    parts.extend(patch.method().map(text));
    parts.extend(patch.target().map(text));
    parts.extend(patch.status().map(|status| status.to_string()));
    parts.extend(patch.edits().map(|(name, value)| match value {
        Some(value) => format!("{}: {}", text(name), text(value)),
        None => format!("-{}", text(name)),
    }));
    parts.extend(patch.body().map(|body| format!("[{}]", text(body))));
    parts.join(", ")
}

/// Runs a test as a core of the gateway would: one thread, and tasks on it.
pub(super) fn on_a_core<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test)
}

#[test]
fn what_plugins_return_becomes_a_decision_and_a_patch() {
    on_a_core(async {
        for (code, decision, wanted) in [
            ("onRequest() {}", Decision::Unchanged, ""),
            ("onRequest: () => ({ headers: { 'x-one': '1', 'x-none': null } })", Decision::Unchanged, ""),
            ("onRequest: () => ({ headers: { 'x-many': ['x', 'y'] } })", Decision::Unchanged, ""),
            ("onRequest: () => ({ headers: { 'x-two': '2' } })", Decision::Changed, "x-two: 2"),
            ("onRequest: () => ({ headers: { cookie: null, 'x-one': 'a' } })", Decision::Changed, "-cookie, x-one: a"),
            ("onRequest: () => ({ headers: { 'x-two': ['2', '3'] } })", Decision::Changed, "x-two: 2, x-two: 3"),
            ("onRequest: () => ({ method: 'PUT', path: '/c' })", Decision::Changed, "PUT, /c"),
            (
                "onRequest: ({ request }) => ({ headers: { 'x-two': request.method + request.path } })",
                Decision::Changed,
                "x-two: GET/a?b=1",
            ),
            (
                "onRequest: ({ request: { headers } }) => ({ headers: { 'x-two': headers['x-one'] + headers['X-One'] + headers.none } })",
                Decision::Changed,
                "x-two: 1undefinedundefined",
            ),
            (
                "onRequest: ({ request: { headers } }) => ({ headers: { 'x-two': headers['x-many'].join() } })",
                Decision::Changed,
                "x-two: x,y",
            ),
            (
                "onRequest: ({ request: { headers } }) => ({ headers: { 'x-two': Object.keys(headers).join() + ('host' in headers) } })",
                Decision::Changed,
                "x-two: host,x-one,cookie,x-manytrue",
            ),
            (
                "onRequest: ({ request }) => ({ headers: { 'x-two': JSON.stringify({ ...request.headers }) } })",
                Decision::Changed,
                "x-two: {\"host\":\"leat.test\",\"x-one\":\"1\",\"cookie\":\"a\",\"x-many\":[\"x\",\"y\"]}",
            ),
            (
                "onRequest: () => ({ respond: { status: 403, headers: { 'x-a': 'b' }, body: 'no' } })",
                Decision::Respond,
                "403, x-a: b, [no]",
            ),
            ("onRequest: () => ({ respond: { status: 204, headers: {} } })", Decision::Respond, "204, []"),
            ("async onRequest() {}", Decision::Unchanged, ""),
            ("async onRequest() { return { headers: { 'x-two': '2' } }; }", Decision::Changed, "x-two: 2"),
        ] {
            let plugins = hooks(code);
            let run = run(&plugins, GET);
            assert_eq!((run.decision(), patch(&run).as_str()), (decision, wanted), "{code}: {}", run.failure());
            assert!(!run.wants_response(), "{code}");
        }
    });
}

#[test]
fn several_files_are_one_plan() {
    on_a_core(async {
        let esm = "import { middleware } from 'leat/middleware';\nexport default middleware({ name: 'b', scope: 'call', onRequest: ({ request }) => ({ headers: { 'x-b': request.headers['x-a'] + request.headers['x-one'], 'x-gone': String(request.headers.cookie), 'x-names': Object.keys(request.headers).join() } }) });";
        let script = "const { middleware } = require('leat/middleware');\nmodule.exports = [middleware({ name: 'a', before: 'b', scope: 'call', onRequest: () => ({ headers: { 'x-a': 'a', cookie: null } }) })];";
        let typed = "import { middleware } from 'leat/middleware';\nexport default middleware({ name: 'c', scope: 'call', onRequest(): undefined { const none: number = 1; } });";
        let (_folder, plugins) = load(&[("b.mjs", esm), ("a.cjs", script), ("c.ts", typed)]);
        let plugins = plugins.unwrap();
        let run = run(&plugins, GET);
        assert_eq!(patch(&run), "x-a: a, -cookie, x-b: a1, x-gone: undefined, x-names: host,x-one,x-many,x-a");
        let names: Vec<String> =
            plugins.explain().lines().map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect();
        assert_eq!(names, ["name", "a", "b", "c", "(send)"]);
    });
}

#[test]
fn responses_are_shown_to_those_that_want_them() {
    on_a_core(async {
        for (code, decision, wanted) in [
            ("onResponse() {}", Decision::Unchanged, ""),
            (
                "onResponse: ({ response }) => ({ headers: { server: null, 'x-was': response.headers.server + response.status } })",
                Decision::Changed,
                "-server, x-was: up200",
            ),
            (
                "onResponse: ({ response }) => ({ status: 201, headers: { 'x-c': response.headers['set-cookie'].join() } })",
                Decision::Changed,
                "201, x-c: a,b",
            ),
            (
                "onResponse: ({ request }) => ({ headers: { 'x-path': request.path } })",
                Decision::Changed,
                "x-path: /a?b=1",
            ),
            ("onResponse: () => ({ body: 'else' })", Decision::Changed, "[else]"),
            (
                "async onResponse() { await null; return { headers: { 'x-late': '1' } }; }",
                Decision::Changed,
                "x-late: 1",
            ),
            ("around: (context, next) => next({ headers: { 'x-two': '2' } })", Decision::Unchanged, ""),
            (
                "async around(context, next) { const response = await next(); return { status: 500, headers: { 'x-was': String(response.status) } }; }",
                Decision::Respond,
                "500, x-was: 200, []",
            ),
        ] {
            let plugins = hooks(code);
            let mut run = run(&plugins, GET);
            assert!(run.wants_response(), "{code}: {}", run.failure());
            assert_eq!(patch(&run), if code.starts_with("around: ") { "x-two: 2" } else { "" }, "{code}");
            assert_eq!(answer(&mut run, OK), decision, "{code}: {}", run.failure());
            assert_eq!(patch(&run), wanted, "{code}");
            assert!(!run.wants_response(), "{code}");
        }
    });
}

#[test]
fn without_a_response_plugins_get_an_error_that_they_may_answer() {
    on_a_core(async {
        let plugins = hooks("onError: ({ error }) => ({ respond: { status: 502, headers: { 'x-why': error.code } } })");
        let mut one = run(&plugins, GET);
        assert_eq!(one.no_response("upstream.connect"), Decision::Respond);
        assert_eq!(patch(&one), "502, x-why: upstream.connect, []");
        let plugins =
            hooks("onError() {}, onComplete({ error }) { if (error.code !== 'upstream.connect') throw error; }");
        assert_eq!(run(&plugins, GET).no_response("upstream.connect"), Decision::Unchanged);
        // Whoever goes away is told of too.
        let plugins = hooks(
            "seen: 0, onComplete() { this.seen++; }, onRequest() { return { headers: { 'x-seen': String(this.seen) } }; }",
        );
        drop(run(&plugins, GET));
        assert_eq!(patch(&run(&plugins, GET)), "x-seen: 1");
    });
}

#[test]
fn one_that_waits_is_pending_until_it_has_decided() {
    on_a_core(async {
        let plugins = hooks(
            "async onRequest() { await new Promise((done) => setTimeout(done, 5)); return { headers: { 'x-late': '1' } }; }",
        );
        let mut waits = run(&plugins, GET);
        assert_eq!(waits.decision(), Decision::Pending);
        assert_eq!(waits.decided().await, Decision::Changed);
        assert_eq!(patch(&waits), "x-late: 1");
        let plugins = hooks("onRequest: () => new Promise(() => {})");
        let mut never = run(&plugins, GET);
        assert_eq!(never.decided().await, Decision::Failed);
        assert_eq!(never.failure(), "a plug-in waited for more than 200 ms");
        assert_eq!(never.failed_by(), Failure::WaitTime);
        let plugins = hooks(
            "async around(context, next) { await new Promise((done) => setTimeout(done, 5)); return next({ path: '/late' }); }",
        );
        let mut around = run(&plugins, GET);
        assert_eq!((around.decided().await, patch(&around).as_str()), (Decision::Changed, "/late"));
        assert_eq!(answer(&mut around, OK), Decision::Unchanged);
    });
}

#[test]
fn a_kept_request_stays_what_it_was() {
    on_a_core(async {
        let keep = |what: &str| {
            format!(
                "kept: [], onRequest(context) {{ const {{ request }} = context; void request.headers; const last = this.kept.at(-1); this.kept.push({what}); return last && {{ headers: {{ 'x-last': (last.headers ?? last)['x-one'] }} }}; }}"
            )
        };
        for what in ["request", "request.headers"] {
            let plugins = hooks(&keep(what));
            for number in 1..5 {
                let run = run(&plugins, &GET.replace("X-One: 1", &format!("X-One: {number}")));
                let wanted = if number == 1 { String::new() } else { format!("x-last: {}", number - 1) };
                assert_eq!(patch(&run), wanted, "{what}");
            }
        }
    });
}

#[test]
fn requests_at_once_do_not_mix() {
    on_a_core(async {
        let plugins = hooks(
            "onRequest: ({ request }) => ({ headers: { 'x-two': request.headers['x-one'] } }), onResponse: ({ request }) => ({ headers: { 'x-of': request.headers['x-one'] } })",
        );
        let mut runs: Vec<Run> =
            (0..50).map(|at| run(&plugins, &GET.replace("X-One: 1", &format!("X-One: n{at}")))).collect();
        for (at, run) in runs.iter().enumerate() {
            assert_eq!(patch(run), format!("x-two: n{at}"));
        }
        for (at, run) in runs.iter_mut().enumerate() {
            answer(run, OK);
            assert_eq!(patch(run), format!("x-of: n{at}"));
        }
    });
}

#[test]
fn a_throw_is_told_with_its_place_and_costs_that_request() {
    on_a_core(async {
        let plugins =
            hooks("onRequest({ request }) { if (request.path === '/throw') throw new TypeError('it broke'); }");
        let failed = run(&plugins, &GET.replace("/a?b=1", "/throw"));
        assert_eq!(failed.decision(), Decision::Failed);
        assert!(
            failed.failure().starts_with("TypeError: it broke\n    at onRequest (")
                && failed.failure().contains("it.mjs:2:"),
            "{}",
            failed.failure()
        );
        assert_eq!(run(&plugins, GET).decision(), Decision::Unchanged);
    });
}

#[test]
fn what_can_not_be_sent_is_a_failure_that_says_what() {
    on_a_core(async {
        for (returned, wanted) in [
            ("{ headers: { 'x-a': 'a\\r\\nb: c' } }", "a header's value has \\u{d} in it"),
            ("{ headers: { 'x-a': '\\u20ac' } }", "a header's value has \\u{20ac} in it"),
            ("{ headers: { 'x a': 'b' } }", "`x a` is no name of a header"),
            ("{ headers: { 'X-A': 'b' } }", "is written in lower case"),
            ("{ headers: { 'content-length': '1' } }", "`content-length` is the engine's"),
            ("{ headers: { connection: 'close' } }", "`connection` is the engine's"),
            ("{ headers: { 'x-a': 1 } }", "`x-a` is a string, a list of strings, or null"),
            ("{ path: 'http://other/' }", "is no path"),
            ("{ path: '/a b' }", "is no path"),
            ("{ method: 'G T' }", "is no method"),
            ("{ method: 'HEAD' }", "HEAD takes the place of no other method"),
            ("{ body: { a: 1 } }", "a body is a text, bytes, or null; write JSON.stringify(value)"),
            ("{ respond: { status: 99, headers: {} } }", "99 is no status"),
            ("{ respond: { status: 200, headers: {}, body: 1 } }", "a body is a text, bytes, or null"),
            ("{ respond: {} }", "it takes a response"),
            ("1", "returned from onRequest number"),
        ] {
            let plugins = hooks(&format!("onRequest: () => ({returned})"));
            let run = run(&plugins, GET);
            assert_eq!(run.decision(), Decision::Failed, "{returned}");
            assert!(run.failure().contains(wanted), "{returned}: {}", run.failure());
        }
    });
}

#[test]
fn an_endless_loop_costs_its_request_and_nothing_else() {
    on_a_core(async {
        let plugins = hooks(
            "count: 0, onRequest({ request }) { this.count++; if (request.path === '/loop') for (;;); return { headers: { 'x-count': String(this.count) } }; }",
        );
        let stopped = run(&plugins, &GET.replace("/a?b=1", "/loop"));
        assert_eq!(stopped.decision(), Decision::Failed);
        let told = "a plug-in ran for more than 50 ms and was stopped\n    at onRequest (file:///";
        assert!(stopped.failure().starts_with(told), "{}", stopped.failure());
        assert!(plugins.take_troubles().is_empty(), "told of once");
        assert_eq!(stopped.failed_by(), Failure::TurnTime);
        assert_eq!(patch(&run(&plugins, GET)), "x-count: 2", "the world is the same");
    });
}

#[test]
fn memory_that_is_used_up_costs_the_world_which_is_made_anew() {
    on_a_core(async {
        let (_folder, plugins) = in_folder(
            "kept: [], onRequest({ request }) { if (request.path === '/eat') for (;;) this.kept.push(new Uint8Array(100_000)); return { headers: { 'x-kept': String(this.kept.length++) } }; }, onResponse() {}",
        );
        let mut open = run(&plugins, GET);
        let eaten = run(&plugins, &GET.replace("/a?b=1", "/eat"));
        assert_eq!(eaten.decision(), Decision::Failed);
        assert_eq!(eaten.failure(), "plug-ins are out of memory: their world is made anew");
        assert_eq!(eaten.failed_by(), Failure::Lost);
        assert_eq!(answer(&mut open, OK), Decision::Failed, "what was under way is lost with it");
        assert_eq!(patch(&run(&plugins, GET)), "x-kept: 0");
        let plugins = hooks("onRequest() { process.exit(3); }");
        assert_eq!(run(&plugins, GET).failure(), "a plug-in ended the process: its world is made anew instead");
    });
}

#[test]
fn files_that_are_no_plugins_are_refused_with_their_place() {
    on_a_core(async {
        for (name, text, wanted) in [
            ("a.mjs", "export default 1;", "a.mjs: it exports no middleware; write export default middleware({"),
            ("a.cjs", "module.exports = [];", "a.cjs: it exports no middleware"),
            ("a.mjs", "let a = 1;\nlet b = ;", "a.mjs:2:9: SyntaxError: "),
            ("a.mjs", "import 'left-pad';", "Cannot find package 'left-pad'"),
            (
                "a.mjs",
                "import { middleware } from 'leat/middleware';\nexport default middleware({ name: 'a', scope: 'cal' });",
                "a.mjs:2:16: MiddlewareError: middleware \"a\" has a scope",
            ),
            (
                "a.mjs",
                "import { middleware } from 'leat/middleware';\nexport default middleware({ name: 'a', scope: 'call', before: 'b', onRequest() {} });",
                "has before: \"b\", and there is none",
            ),
            ("a.cjs", "throw new Error('at load');", "a.cjs:1:11: Error: at load"),
            ("a.mjs", "await null; export default 1;", "a.mjs: it has a top-level await"),
            ("a.cjs", "process.exit(0)", "ended the process"),
        ] {
            let (_folder, loaded) = load(&[(name, text)]);
            let Err(error) = loaded else { panic!("{text}") };
            assert!(error.to_string().contains(wanted), "{text}: {error}");
        }
        let Err(error) = Plugins::load(&given(&[PathBuf::from("/none.mjs")]), &[vec![0]], limits()) else { panic!() };
        assert!(error.to_string().contains("Cannot find module '/none.mjs'"), "{error}");
    });
}

#[test]
fn sets_of_plugins_are_plans_of_one_world() {
    on_a_core(async {
        let folder = Folder::new();
        let text = "import { middleware } from 'leat/middleware';\nlet count = 0;\nexport default ({ as }) => middleware({ name: as, scope: 'call', onRequest: () => ({ headers: { [`x-${as}`]: String(++count) } }) });";
        let file = |name: &str| PluginFile {
            options: Some(format!("{{\"as\": \"{name}\"}}")),
            name: name.to_owned(),
            ..PluginFile::new(folder.write("it.mjs", text))
        };
        let files = [file("a"), file("b")];
        let plugins = Plugins::load(&files, &[vec![0], vec![1, 0]], limits()).unwrap();
        let ask = |set: usize| {
            let mut lines = RequestLines::default();
            let mut progress = Progress::default();
            parse_request(GET.as_bytes(), &mut progress, Profile::Compatible, &Limits::default(), &mut lines).unwrap();
            let run = plugins.request(set, Head::new(GET.as_bytes(), &lines));
            assert_eq!(run.decision(), Decision::Changed, "{}", run.failure());
            patch(&run)
        };
        assert_eq!((ask(0).as_str(), ask(1).as_str()), ("x-a: 1", "x-b: 2, x-a: 3"));
    });
}

#[test]
fn options_are_for_files_that_export_a_function() {
    on_a_core(async {
        for (text, wanted) in [
            (
                "module.exports = () => 1;",
                "its function returns no middleware; write export default (options) => middleware({",
            ),
            ("module.exports = {};", "it gets options, and exports no function that takes them"),
            ("module.exports = () => { throw new RangeError('no'); };", "it.cjs:1:36: RangeError: no"),
        ] {
            let folder = Folder::new();
            let file = PluginFile { options: Some("{}".to_owned()), ..PluginFile::new(folder.write("it.cjs", text)) };
            let Err(error) = Plugins::load(&[file], &[vec![0]], limits()) else { panic!("{text}") };
            assert!(error.to_string().contains(wanted), "{text}: {error}");
        }
    });
}

#[test]
fn what_a_bypassed_plugin_throws_is_told_and_costs_nobody_else() {
    on_a_core(async {
        let second = "import { middleware } from 'leat/middleware';\nexport default middleware({ name: 'second', scope: 'call', onRequest: () => ({ headers: { 'x-two': '2' } }) });";
        for (hooks, answered, told) in [
            ("onRequest() { throw new Error('sync'); }", Decision::Unchanged, Some("Error: sync")),
            ("async onRequest() { throw 1; }", Decision::Unchanged, Some("1")),
            ("onResponse() { throw new Error('late'); }", Decision::Unchanged, Some("Error: late")),
            ("around() { throw new Error('before'); }", Decision::Unchanged, Some("Error: before")),
            (
                "async around(c, next) { await next(); throw new Error('after'); }",
                Decision::Unchanged,
                Some("Error: after"),
            ),
            (
                "async around(c, next) { const r = await next(); return patchResponse(r, { status: 201 }); }",
                Decision::Changed,
                None,
            ),
            ("onRequest() {}", Decision::Unchanged, None),
        ] {
            let folder = Folder::new();
            let head = "import { middleware, patchResponse } from 'leat/middleware';";
            let text = format!("{head}\nexport default middleware({{ name: 'it', scope: 'call', {hooks} }});");
            let first = PluginFile { bypass: true, name: "it".into(), ..PluginFile::new(folder.write("it.mjs", text)) };
            let files = [first, PluginFile::new(folder.write("second.mjs", second))];
            let plugins = Plugins::load(&files, &[vec![0, 1]], limits()).unwrap();
            let mut run = run(&plugins, GET);
            assert_eq!((run.decided().await, patch(&run).as_str()), (Decision::Changed, "x-two: 2"), "{hooks}");
            if run.wants_response() {
                answer(&mut run, OK);
                assert_eq!(run.decided().await, answered, "{hooks}: {}", run.failure());
            }
            let bypassed = plugins.take_bypassed();
            let found = bypassed.first().map(|(name, message)| (name.as_str(), message.lines().next().unwrap()));
            assert_eq!(found, told.map(|told| ("it", told)), "{hooks}");
        }
    });
}

#[test]
fn a_body_is_given_when_a_hook_asks_for_it_and_gone_with_its_run() {
    on_a_core(async {
        let head = "import { body } from 'leat/gateway'; import { middleware } from 'leat/middleware';";
        let text = format!(
            "{head}\nlet kept; export default middleware({{ name: 'it', scope: 'call', bodies: ['request', 'response'],
                onRequest({{ request }}) {{ const before = kept && body(kept)?.text(); if (request.path !== '/a?b=1') kept = request; return {{ headers: {{ 'x-body': String(body(request)?.text()), 'x-before': String(before) }} }}; }},
                onResponse: ({{ request, response }}) => ({{ body: body(request)?.text() + body(response)?.text() }}) }});"
        );
        let (_folder, plugins) = load(&[("it.mjs", &text)]);
        let plugins = plugins.unwrap();
        for (path, given, wanted, answered) in [
            ("/a?b=1", Some("one"), "x-body: one, x-before: undefined", "[oneback]"),
            ("/a?b=1", Some(""), "x-body: , x-before: undefined", "[back]"),
            ("/a?b=1", None, "x-body: undefined, x-before: undefined", "[undefinedback]"),
            ("/keep", Some("kept"), "x-body: kept, x-before: undefined", "[keptback]"),
            // What was kept stays what it is.
            ("/a?b=1", Some("two"), "x-body: two, x-before: kept", "[twoback]"),
            ("/a?b=1", Some("3"), "x-body: 3, x-before: kept", "[3back]"),
        ] {
            let mut run = run(&plugins, &GET.replace("/a?b=1", path));
            assert_eq!(run.decision(), Decision::WantsBody, "{path}");
            let decision = run.body(given.map(|text| text.as_bytes().to_vec()));
            assert_eq!(decision, Decision::Changed, "{}", run.failure());
            assert_eq!(patch(&run), wanted);
            assert_eq!(answer(&mut run, OK), Decision::WantsBody);
            assert_eq!(run.body(Some(b"back".to_vec())), Decision::Changed, "{}", run.failure());
            assert_eq!(patch(&run), answered);
        }
        assert_eq!(plugins.bodies_bytes.get(), 0);
    });
}

#[test]
fn a_body_is_asked_for_by_the_first_hook_that_reads_it() {
    on_a_core(async {
        let head = "import { middleware } from 'leat/middleware';";
        let text = format!(
            "{head}\nexport default [
                middleware({{ name: 'outer', scope: 'call', onRequest: ({{ request }}) => request.path === '/no' ? {{ respond: {{ status: 403, headers: {{}} }} }} : undefined }}),
                middleware({{ name: 'around', scope: 'call', bodies: 'request', when: ({{ request }}) => request.path !== '/none', around: (context, next) => next() }}),
            ];"
        );
        let (_folder, plugins) = load(&[("it.mjs", &text)]);
        let plugins = plugins.unwrap();
        for (path, decision) in
            [("/no", Decision::Respond), ("/none", Decision::Unchanged), ("/a", Decision::WantsBody)]
        {
            assert_eq!(run(&plugins, &GET.replace("/a?b=1", path)).decision(), decision, "{path}");
        }
    });
}
