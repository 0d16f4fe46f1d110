//! A run that the host goes through itself and one that the walk goes through come to the same, to the byte. What makes a plan the
//! walk's is a slot that nobody uses.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write;

use super::tests::{OK, answer, load, on_a_core, patch, run};
use super::{Decision, Run};

const HEAD: &str = "import { middleware, slot, patchRequest, patchResponse } from 'leat/middleware';
const log = [];
const m = (name, hooks, more) => middleware({ name, scope: 'call', ...hooks, ...more });
const sets = (headers) => ({ onRequest: () => ({ headers }) });
const back = (patch) => ({ onResponse: () => patch });
const error = (e) => e instanceof Error ? `${e.name}: ${e.message}: ${e.cause === undefined ? '' : error(e.cause)}` : String(e);
const teller = m('teller', { onRequest: ({ request }) => request.path === '/log' ? { respond: { status: 200, headers: {}, body: log.splice(0).join('; ') } } : undefined });
const idle = m('idle', { onRequest() {} }, { writes: WRITES });
";

const ONE: &str = "GET /a?b=1 HTTP/1.1\r\nHost: leat.test\r\nX-One: 1\r\nCookie: a\r\nX-Many: x\r\nx-many: y\r\nX-Wide: \u{e9}\r\n\r\n";
const LOG: &str = "GET /log HTTP/1.1\r\nHost: leat.test\r\n\r\n";

/// Middleware, outermost first.
const PLANS: &[&str] = &[
    "m('a', { onRequest() {} })",
    // What patches of headers may be.
    "m('a', sets({ 'x-two': '2' }))",
    "m('a', sets({ 'x-two': '2', cookie: null, 'x-one': '1', 'x-none': null, host: undefined }))",
    "m('a', sets({ 'x-two': '2', '7': 'a', '3': 'b', 'x-one': 'a' }))",
    "m('a', sets({ 'x-two': ['2', '3'], 'x-three': '3' }))",
    "m('a', sets({ 'x-many': 'x' }))",
    "m('a', sets({ 'x-many': ['x', 'y'] }))",
    "m('a', sets({ 'x-many': null, 'x-wide': null }))",
    "m('a', sets({ 'x-wide': '\\u00e9', 'x-other': '\\u00e9' }))",
    "m('a', sets({ 'x-two': ' 2 ', 'x-three': '\\t', 'x-four': '' }))",
    "m('a', sets({ 'x-two': '2'.repeat(9000) }))",
    "m('a', sets({ 'x-two': '2', 'X-Three': '3' }))",
    "m('a', sets({ 'x-two': '2', '': '3' }))",
    "m('a', sets({ 'x-two': '2', ['__proto__']: '3' }))",
    "m('a', sets({ 'x-two': '2', 'x three': '3' }))",
    "m('a', sets({ 'x-two': '2', 'content-length': '3' }))",
    "m('a', sets({ 'x-two': '2', connection: null, expect: null }))",
    "m('a', sets({ 'x-two': 'a\\r\\nb: c' }))",
    "m('a', sets({ 'x-two': '\\u20ac' }))",
    "m('a', sets({ 'x-two': 2 }))",
    "m('a', sets({ 'x-two': {} }))",
    "m('a', sets({ 'x-two': Symbol('a') }))",
    "m('a', sets({ [Symbol('x-two')]: '2', 'x-three': '3' }))",
    "m('a', sets(Object.assign(Object.create({ 'x-two': '2' }), { 'x-three': '3' })))",
    "m('a', sets(Object.assign(Object.create(null), { 'x-three': '3' })))",
    "m('a', sets(new Proxy({ 'x-three': '3' }, {})))",
    "m('a', sets(new (class { 'x-three' = '3'; })))",
    "m('a', sets({ get 'x-two'() { return '2'; } }))",
    "m('a', sets({ get 'x-two'() { throw new Error('got'); } }))",
    "m('a', sets(null))",
    "m('a', sets('ab'))",
    "m('a', sets([['x-two', '2']]))",
    "m('a', sets(Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`x-${at}`, 'a']))))",
    "m('a', { onRequest: ({ request }) => ({ headers: request.headers }) })",
    "m('a', { onRequest: ({ request }) => ({ headers: { ...request.headers, 'x-two': '2' } }) })",
    // What was learned of one change is asked of the next one.
    "m('a', { at: 0, onRequest() { return { headers: (this.at += 1) % 2 ? { 'x-two': '2' } : { 'x-three': '3', cookie: null } }; } })",
    "m('a', { at: 0, onRequest() { return { headers: (this.at += 1) % 2 ? { 'x-two': '2' } : { get 'x-two'() { return '3'; } } }; } })",
    "m('a', { at: 0, onRequest() { return { headers: (this.at += 1) % 2 ? { 'x-two': '2' } : { 'x-two': 2 } }; } })",
    "m('a', { at: 0, onRequest() { return { headers: (this.at += 1) % 2 ? { 'x-two': '2' } : { 'x-two': undefined } }; } })",
    "m('a', { at: 0, onRequest() { return { headers: (this.at += 1) % 2 ? { 'x-two': '2' } : { 'X-Two': '2' } }; } })",
    "m('a', { at: 0, onRequest() { return { headers: { 'x-two': '2' }, ...((this.at += 1) % 2 ? {} : { path: '/c' }) }; } })",
    "m('a', { at: 0, onRequest() { return { headers: Object.setPrototypeOf({ 'x-two': '2' }, (this.at += 1) % 2 ? Object.prototype : { 'x-one': 'a' }) }; } })",
    "m('a', { at: 0, onRequest() { return { headers: Object.defineProperty({ 'x-two': '2' }, 'x-one', { value: 'a', enumerable: (this.at += 1) % 2 === 0 }) }; } })",
    "m('a', { at: 0, onRequest() { const headers = { 'x-two': '2', 'x-three': '3' }; if ((this.at += 1) % 2) { delete headers['x-two']; headers['x-two'] = '4'; } return { headers }; } })",
    "m('a', { at: 0, onRequest() { const headers = { 'x-two': '2' }; return { headers: (this.at += 1) % 2 ? headers : new Proxy(headers, { get: () => '5' }) }; } })",
    "m('a', { at: 0, onRequest() { if ((this.at += 1) === 3) Object.prototype.path = '/c'; return { headers: { 'x-two': '2' } }; } })",
    "m('a', { kept: { headers: { 'x-two': '2' } }, at: 0, onRequest() { if ((this.at += 1) === 3) this.kept.headers['x-three'] = '3'; return this.kept; } })",
    "m('a', { at: 0, onResponse() { return { headers: (this.at += 1) % 2 ? { 'x-by': 'a' } : { 'x-to': 'b' } }; } })",
    "m('a', { at: 0, onResponse() { if ((this.at += 1) === 2) Object.prototype.status = 201; return { headers: { 'x-by': 'a' } }; }, onComplete() { delete Object.prototype.status; } })",
    // What hooks may return.
    "m('a', { onRequest: () => ({}) })",
    "m('a', { onRequest: () => null })",
    "m('a', { onRequest: () => 1 })",
    "m('a', { onRequest: () => [] })",
    "m('a', { onRequest: () => () => 1 })",
    "m('a', { onRequest: () => ({ unknown: 1, headers: { 'x-two': '2' } }) })",
    "m('a', { onRequest: () => ({ then: 1, headers: { 'x-two': '2' } }) })",
    "m('a', { onRequest: () => ({ get then() { throw new Error('then'); } }) })",
    "m('a', { onRequest: () => ({ get headers() { throw new Error('headers'); } }) })",
    "m('a', { onRequest: () => Object.create({ headers: { 'x-two': '2' } }) })",
    "m('a', { onRequest: () => ({ set: { none: 1 } }) })",
    "m('a', { onRequest: () => ({ method: 'PUT', path: '/c', headers: { 'x-two': '2' } }) })",
    "m('a', { onRequest: () => ({ body: 'b' }) })",
    "m('a', { onRequest: () => ({ respond: undefined, headers: { 'x-two': '2' } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 403, headers: { 'x-a': 'b' }, body: 'no' } }) })",
    "m('a', { onRequest: () => ({ respond: {} }) })",
    "m('z', sets({ 'x-two': '2' })), m('a', { onRequest: () => ({ respond: { status: 403, headers: { 'x-two': '3', vary: undefined } } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 204, headers: {}, body: null } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 99, headers: {} } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 200.5, headers: {} } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 200, headers: { 'x-a': null, 'x-b': ['a', 'b'] }, body: '\\u20ac\\ud800' } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 200, headers: { 'content-length': '1' }, body: '\\u20ac' } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 200, headers: { 'X-A': '1' }, body: 'a' } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 200, headers: Object.create({ 'x-a': '1' }), body: new Uint8Array([65, 66]) } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 200, headers: {}, body: 1 } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 200, headers: null } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 200, headers: { 'x-a': 'b' }, body: 'a\\u00e9\\u20ac' } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 200, headers: {}, body: 'a'.repeat(9 << 20) } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 200, headers: {}, then: (done) => done({ status: 201, headers: {} }) } }) })",
    "m('a', { onRequest: () => ({ headers: { 'X-A': '1' }, respond: { status: 200, headers: {} } }) })",
    "m('a', { onRequest: () => ({ respond: { status: 200, headers: {} } }), onResponse() { log.push('never'); }, onComplete({ response }) { log.push(response.status); } })",
    "m('a', { onRequest: ({ request }) => ({ respond: { status: 200, headers: request.headers } }) })",
    "m('a', { onRequest() { throw new TypeError('it broke'); } })",
    "m('a', { onRequest() { throw 'a string'; } })",
    "m('a', { onRequest({ request }) { request.headers['x-one'] = '2'; return { headers: { 'x-was': request.headers['x-one'] } }; } })",
    // What is read of heads.
    "m('a', { onRequest({ request }) { log.push(request.method, request.path, request.headers.none, request.headers['X-One'], request.headers[Symbol('host')], request.headers['x-many'], request.headers['x-wide'], Object.keys(request.headers), 'host' in request.headers, request.headers === request.headers); } })",
    "m('a', { onRequest(context) { log.push(context.response, context.error, context.signal, typeof context.get, context.request === context.request); } })",
    "m('a', { onRequest(context) { context.get(slot('none').of()); } })",
    "m('a', { onRequest(context) { log.push(context.attempt); }, onResponse(context) { log.push(context.attempt); } }), m('b', { onRequest(context) { log.push(context.attempt); } }, { scope: 'attempt' })",
    "m('a', { onRequest({ request }) { return { headers: { 'x-two': patchRequest(request, { headers: { 'x-one': '5' } }).headers['x-one'] } }; } })",
    // Several, one behind the other.
    "m('a', sets({ 'x-two': '2' })), m('b', { onRequest: ({ request }) => ({ headers: { 'x-three': request.headers['x-two'] + Object.keys(request.headers) } }) })",
    "m('a', sets({ 'x-two': '2', 'x-three': '3' })), m('b', sets({ 'x-three': '4', 'x-two': null }))",
    "m('a', sets({ 'x-one': 'a' })), m('b', sets({ 'x-one': '1' }))",
    "m('a', sets({ cookie: null })), m('b', sets({ cookie: 'a' })), m('c', { onRequest({ request }) { log.push(request.headers.cookie); } })",
    "m('a', sets({ 'x-two': '2' })), m('b', sets({ 'x-three': ['a', 'b'] })), m('c', sets({ 'x-four': '4' }))",
    "m('a', sets({ 'x-two': '2' })), m('b', { onRequest: async () => ({ headers: { 'x-three': '3' } }) }), m('c', { onRequest: ({ request }) => ({ headers: { 'x-four': request.headers['x-two'] + request.headers['x-three'] } }) })",
    "m('a', sets({ 'x-two': '2' })), m('b', { onRequest: () => ({ path: '/c' }) }), m('c', { onRequest: ({ request }) => ({ headers: { 'x-four': request.path + request.headers['x-two'] } }) })",
    "m('a', { onRequest({ request }) { this.seen = request; } }), m('b', sets({ 'x-one': '2' })), m('c', { onRequest({ request }) { this.seen = request; log.push(request.headers['x-one']); } }), m('d', sets({ 'x-one': '3' })), m('e', { onRequest({ request }) { log.push(request.headers['x-one'], request === this.seen); } })",
    "m('a', { onRequest(c) { log.push('a'); }, onError(c) { log.push('e', error(c.error)); }, onComplete(c) { log.push('c', c.response?.status, error(c.error)); } }), m('b', { onRequest() { throw new Error('b'); } }), m('c', { onRequest() { log.push('never'); } })",
    "m('a', { onError: ({ error: e }) => ({ respond: { status: 500, headers: { 'x-why': error(e) } } }) }), m('b', sets({ 'x-two': '\\n' }))",
    "m('a', { onResponse: ({ response }) => ({ headers: { 'x-a': String(response.status) } }), onComplete() { log.push('a'); } }), m('b', { onRequest: () => ({ respond: { status: 403, headers: {}, body: 'no' } }), onResponse() { log.push('never'); }, onComplete() { log.push('b'); } })",
    // The way back.
    "m('a', { onResponse() {} })",
    "m('a', back({ headers: { server: null, 'x-by': 'leat' } }))",
    "m('a', back({ headers: { server: 'up' } }))",
    "m('a', back({ headers: { 'set-cookie': 'c', 'x-by': ['a', 'b'] } }))",
    "m('a', back({ status: 201 }))",
    "m('a', back({ status: 200 }))",
    "m('a', back({ status: 99 }))",
    "m('a', back({ status: null, headers: { 'x-by': 'leat' } }))",
    "m('a', { onResponse: ({ response }) => ({ status: 202, headers: { 'x-was': String(response.status) + response.headers.server } }) }), m('b', back({ status: 201, headers: { server: null } })), m('c', back({ status: 404 }))",
    "m('a', back({ status: 'a' }))",
    "m('a', back({ body: 'else', headers: { 'x-by': 'leat' } }))",
    "m('a', back({ headers: { 'content-length': '3' } }))",
    "m('a', back({ headers: { 'X-By': 'leat' } }))",
    "m('a', back(1))",
    "m('a', back({ respond: 1 }))",
    "m('a', back({ set: { none: 1 } }))",
    "m('a', { onResponse: async () => ({ headers: { 'x-by': 'leat' } }) })",
    "m('a', { onResponse() { throw new Error('back'); } })",
    "m('a', { onResponse() { throw new Error('back'); }, onComplete(c) { log.push(error(c.error)); } })",
    "m('a', { onComplete: () => 1 })",
    "m('a', { onComplete: async () => { log.push('late'); } })",
    "m('a', { onComplete() { throw new Error('end'); } })",
    "m('a', back({ status: 200 })), m('b', back({ status: 201 }))",
    "m('a', { onResponse: ({ request, response }) => ({ headers: { 'x-a': request.headers['x-two'] + response.headers['x-b'] + response.status } }) }), m('b', { ...sets({ 'x-two': '2' }), ...back({ headers: { 'x-b': 'b' } }) })",
    "m('a', { onResponse: ({ response }) => ({ headers: { 'x-a': String(response.headers.server) + Object.keys(response.headers) } }) }), m('b', back({ headers: { server: null, 'x-b': 'b' } }))",
    "m('a', { onResponse: ({ response }) => patchResponse(response, { headers: { 'x-a': 'a' } }) })",
    "m('a', { onResponse: ({ response }) => { log.push(response.status, response.headers['x-b']); throw new Error('out'); } }), m('b', back({ headers: { 'x-b': 'b' } }))",
    "m('a', { onError: ({ error: e }) => ({ respond: { status: 502, headers: { 'x-why': error(e) } } }) }), m('b', { ...sets({ 'x-two': '2' }), onResponse() { throw new Error('back'); } })",
    "m('a', { onError: ({ error: e, request }) => { log.push(error(e), request.headers['x-two']); } }), m('b', sets({ 'x-two': '2' }))",
    "m('a', { onError() { throw new Error('other'); }, onComplete(c) { log.push(error(c.error)); } }), m('b', { onComplete(c) { log.push(c.response?.status, error(c.error)); } })",
    // The record is one object, which tells nothing when its run is over.
    "m('a', { seen: new WeakMap(), onRequest(c) { this.seen.set(c, 1); }, onResponse(c) { log.push(this.seen.get(c), c.response.status, c.error); }, onComplete(c) { log.push(this.seen.get(c)); } }), m('b', { onRequest: async () => {} })",
    "m('a', { onRequest(c) { globalThis.kept ??= c; if (globalThis.kept !== c) return; queueMicrotask(() => log.push(c.request.path, c.response, c.attempt)); } })",
    "m('a', { last: [], onRequest({ request }) { this.last.push(request); log.push(this.last.map(({ path, headers }) => path + headers.host)); } }), m('b', sets({ host: 'other' }))",
    // A run has one signal, whoever calls its hooks, and another one than the run before it.
    "m('a', { onRequest({ signal }) { log.push(signal !== this.signal, signal.aborted); this.signal = signal; }, onResponse({ signal }) { log.push(signal === this.signal); }, onError({ signal }) { log.push(signal === this.signal); }, onComplete({ signal }) { log.push(signal === this.signal); } })",
    "m('a', { async onRequest({ signal }) { log.push(signal !== this.signal); this.signal = signal; }, onResponse({ signal }) { log.push(signal === this.signal); } }), m('b', { onRequest(c) { log.push(c.signal.aborted); } })",
    "m('a', { onResponse({ signal }) { log.push(signal !== this.signal); this.signal = signal; }, onComplete: async ({ signal }) => { log.push(signal.aborted); } })",
];

/// What a request came to.
async fn told(mut run: Run, response: Option<&str>, wants: &mut String) {
    let decision = run.decided().await;
    write!(wants, "{decision:?} {} [{}] {}", patch(&run), run.wants_response(), first_line(&run)).unwrap();
    if !run.wants_response() {
        return;
    }
    match response {
        Some("") => return,
        Some(head) => answer(&mut run, head),
        None => run.no_response("upstream.connect"),
    };
    let decision = run.decided().await;
    writeln!(wants, " -> {decision:?} {} {}", patch(&run), first_line(&run)).unwrap();
}

fn first_line(run: &Run) -> &str {
    run.failure().lines().next().unwrap_or_default()
}

#[test]
fn a_run_of_the_hosts_comes_to_what_the_walk_comes_to() {
    on_a_core(async {
        let mut unlike = Vec::new();
        for plan in PLANS {
            let mut both = Vec::new();
            for writes in ["[]", "[slot('unused').of()]"] {
                let text = format!("{}export default [teller, {plan}, idle];", HEAD.replace("WRITES", writes));
                let (_folder, plugins) = load(&[("it.mjs", &text)]);
                let plugins = plugins.unwrap_or_else(|error| panic!("{plan}: {error}"));
                let is_straight = writes == "[]";
                assert_eq!(plugins.straight(), vec![is_straight], "{plan}");
                let mut came = String::new();
                // Twice: objects are used again.
                for response in [Some(OK), None, Some(OK), Some("")] {
                    told(run(&plugins, ONE), response, &mut came).await;
                    let log = run(&plugins, LOG);
                    assert_eq!(log.decision(), Decision::Respond, "{plan}: {}", log.failure());
                    writeln!(came, "{}", patch(&log)).unwrap();
                }
                both.push(came);
            }
            if both[0] != both[1] {
                unlike.push(format!("{plan}\n{}-- by the walk:\n{}", both[0], both[1]));
            }
        }
        assert!(unlike.is_empty(), "{}", unlike.join("\n"));
    });
}

#[test]
fn a_record_of_the_hosts_is_not_written_to() {
    on_a_core(async {
        let text = format!(
            "{}export default m('a', {{ onRequest(c) {{ c.request = {{}}; }} }});",
            HEAD.replace("WRITES", "[]")
        );
        let (_folder, plugins) = load(&[("it.mjs", &text)]);
        let plugins = plugins.unwrap();
        let refused = run(&plugins, ONE);
        assert_eq!(refused.decision(), Decision::Failed);
        assert!(refused.failure().starts_with("TypeError: "), "{}", refused.failure());
    });
}

#[test]
fn a_hook_that_is_stopped_costs_its_request_on_the_way_back_too() {
    on_a_core(async {
        let text = format!(
            "{}export default m('a', {{ onResponse({{ request }}) {{ if (request.path !== '/log') for (;;); return {{ headers: {{ 'x-a': 'a' }} }}; }} }});",
            HEAD.replace("WRITES", "[]")
        );
        let (_folder, plugins) = load(&[("it.mjs", &text)]);
        let plugins = plugins.unwrap();
        let mut stopped = run(&plugins, ONE);
        assert_eq!(answer(&mut stopped, OK), Decision::Failed);
        let told = "a plug-in ran for more than 50 ms and was stopped\n    at onResponse (file:///";
        assert!(stopped.failure().starts_with(told), "{}", stopped.failure());
        assert!(plugins.take_troubles().is_empty(), "told of once");
        let mut next = run(&plugins, LOG);
        assert_eq!((answer(&mut next, OK), patch(&next).as_str()), (Decision::Changed, "x-a: a"));
    });
}

#[test]
fn what_asks_for_another_try_is_the_walks() {
    on_a_core(async {
        let text =
            format!("{}export default m('a', {{ again() {{ log.push('again'); }} }});", HEAD.replace("WRITES", "[]"));
        let (_folder, plugins) = load(&[("it.mjs", &text)]);
        assert_eq!(plugins.unwrap().straight(), [false]);
    });
}

#[test]
fn what_reads_bodies_is_the_walks_and_may_ask_for_another_try() {
    on_a_core(async {
        let text = format!(
            "import {{ body }} from 'leat/gateway';{}export default [teller, m('a', {{ again({{ response }}) {{ log.push(body(response).text()); }} }}, {{ bodies: 'response' }})];",
            HEAD.replace("WRITES", "[]")
        );
        let (_folder, plugins) = load(&[("it.mjs", &text)]);
        let plugins = plugins.unwrap();
        assert_eq!(plugins.straight(), [false]);
        let mut read = run(&plugins, ONE);
        assert_eq!(answer(&mut read, OK), Decision::WantsBody);
        read.body(Some(b"whole".to_vec()));
        assert_eq!(read.decided().await, Decision::Unchanged);
        assert_eq!(patch(&run(&plugins, LOG)), "200, [whole]");
    });
}

#[test]
fn a_run_that_is_left_aborts_the_signal_that_a_hook_has_taken_before() {
    on_a_core(async {
        let text = format!(
            "{}export default [teller, m('a', {{ onRequest({{ request, signal }}) {{ if (request.path !== '/log') signal.addEventListener('abort', () => log.push(signal.reason.code)); }} }}), m('b', {{ onRequest: ({{ request }}) => request.path === '/log' ? undefined : new Promise(() => {{}}) }})];",
            HEAD.replace("WRITES", "[]")
        );
        let (_folder, plugins) = load(&[("it.mjs", &text)]);
        let plugins = plugins.unwrap();
        assert_eq!(plugins.straight(), [true]);
        let mut left = run(&plugins, ONE);
        assert_eq!(left.decision(), Decision::Pending);
        left.leave("peer.reset");
        drop(left);
        assert_eq!(patch(&run(&plugins, LOG)), "200, [peer.reset]");
    });
}

#[test]
fn bypassed_hooks_are_the_hosts_to_call_too() {
    on_a_core(async {
        let folder = leat_testkit::Folder::new();
        let text = format!(
            "{}export default [m('a', {{ onRequest() {{ throw new Error('a'); }} }}), m('b', sets({{ 'x-b': 'b' }}))];",
            HEAD.replace("WRITES", "[]")
        );
        let file = super::PluginFile {
            bypass: true,
            name: "it".into(),
            ..super::PluginFile::new(folder.write("it.mjs", text))
        };
        let plugins = super::Plugins::load(&[file], &[vec![0]], super::PluginLimits::default()).unwrap();
        assert_eq!(plugins.straight(), [true]);
        assert_eq!(patch(&run(&plugins, ONE)), "x-b: b");
        assert_eq!(plugins.take_bypassed().len(), 1);
    });
}
