//! How often each path of a request asks the heap for memory, against the committed table; a raw reply never may.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod core;
#[allow(dead_code, reason = "the binary's own, of which this test uses a part")]
#[path = "../../src/process/plugins.rs"]
mod core_plugins;
mod disk;
#[allow(dead_code, reason = "the binary's own, of which its plug-ins use a part")]
#[path = "../../src/event.rs"]
mod event;
mod h2;
mod lane;
#[allow(dead_code, reason = "the binary's own, through which its events go")]
#[path = "../../src/outlet.rs"]
mod outlet;
mod plugins;
mod rpc;
#[path = "../../../handle/script/tests/support/mod.rs"]
mod support;
mod table;
mod upstream;

use std::io::Write as _;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use core::Core;
use disk::Disk;
use h2::H2Client;
use leat_testkit::{Client, Counting, Folder};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Requests before counting begins: buffers, pools and tables have reached their size then.
const WARM_UP: u64 = 300;
/// Requests that are counted at a time.
const COUNTED: u64 = 200;
/// The least of so many counts is taken: what a timer or a table allocates now and then is no cost of a request.
const ROUNDS: usize = 5;
/// The largest block that glibc keeps in a thread's cache: the future of a proxied exchange is to be one (docs/design/memory.md).
const CACHED_BYTES_MAX: u64 = 1_032;

/// A path that a request can take.
struct Path {
    name: &'static str,
    request: Request,
    /// The cost that is promised, whatever the table says.
    promised: Option<u64>,
}

enum Request {
    /// These bytes, so many replies.
    H1 { bytes: Vec<u8>, replies: usize },
    /// HTTP/2, GET.
    H2 { path: &'static str },
    /// A call of gRPC with this message in its envelope.
    Grpc { path: &'static str, body: Vec<u8> },
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: leat.test\r\nuser-agent: test\r\naccept: */*\r\n\r\n")
}

fn authorized(path: &str, credential: &str) -> String {
    get(path).replace("accept: */*", &format!("authorization: {credential}"))
}

/// The secret of [`token`].
const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// A token (HS256) that does not end in our time.
fn token() -> String {
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let claims = r#"{"iss":"i","aud":"a","sub":"ann","org":{"id":7},"exp":4102444800}"#;
    let text = format!("{}.{}", encode(br#"{"alg":"HS256"}"#), encode(claims.as_bytes()));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), text.as_bytes());
    format!("{text}.{}", encode(tag.as_ref()))
}

/// `ann` with the password `open sesame`.
fn htpasswd() -> String {
    let parts = bcrypt::hash_with_result("open sesame", 8).unwrap();
    format!("ann:{}", parts.format_for_version(bcrypt::Version::TwoY))
}

fn paths() -> Vec<Path> {
    let sent = |name, bytes, promised| Path { name, request: Request::H1 { bytes, replies: 1 }, promised };
    let h1 = |name, text: String, promised| sent(name, text.into_bytes(), promised);
    let h2 = |name, path| Path { name, request: Request::H2 { path }, promised: None };
    let batch = Request::H1 { bytes: get("/raw").repeat(16).into_bytes(), replies: 16 };
    let post = "POST /proxy HTTP/1.1\r\nhost: leat.test\r\ncontent-length: 5\r\n\r\nhello";
    let post_chunked =
        "POST /proxy HTTP/1.1\r\nhost: leat.test\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    vec![
        h1("h1 respond", get("/raw"), Some(0)),
        Path { name: "h1 respond, 16 pipelined (a batch)", request: batch, promised: Some(0) },
        h1("h1 respond, unread body", post.replace("/proxy", "/raw"), Some(0)),
        h1("h1 respond, two rate limits", get("/limited"), Some(0)),
        h1("h1 respond, refused by a rate limit", get("/spent"), None),
        h1("h1 route not found", get("/nothing/here"), None),
        h1("h1 method not allowed", get("/post-only"), None),
        h1("h1 respond, remembered token", authorized("/token", &format!("Bearer {}", token())), Some(0)),
        h1("h1 respond, API key", get("/key").replace("accept: */*", "x-api-key: key"), Some(0)),
        h1("h1 respond, remembered password", authorized("/password", "Basic YW5uOm9wZW4gc2VzYW1l"), Some(0)),
        h1(
            "h1 proxy, remembered token, claims in fields",
            authorized("/token-proxy", &format!("Bearer {}", token())),
            None,
        ),
        h1("h1 redirect", get("/old/12"), None),
        h1("h1 proxy", get("/proxy"), None),
        h1("h1 proxy, path parameters and field edits", get("/users/12/name"), None),
        h1("h1 proxy, chunked response", get("/chunked"), None),
        h1("h1 proxy, POST with a small body", post.to_owned(), None),
        h1("h1 proxy, POST with a chunked body", post_chunked.to_owned(), None),
        h1("h1 proxy, outliers, breaker, retry and checks", get("/policies"), None),
        h1("h1 proxy, the same, POST with a small body", post.replace("/proxy", "/policies"), None),
        h1("h1 proxy, concurrency and hedge", get("/watched"), None),
        h1("h1 proxy, mirror of other requests", get("/unmirrored"), None),
        h1("h1 respond, limits of the head", get("/tight"), Some(0)),
        h1("h1 proxy, expression for the path and changes to the query", get("/v2/names?debug=1"), None),
        h1("h1 proxy, reply held until it is whole", get("/held"), None),
        h1("h1 proxy, body to decode that has no coding", post.replace("/proxy", "/plain"), None),
        sent("h1 proxy, POST with a body in gzip", post_gzip(), None),
        h1("h1 proxy, plug-in that looks at nothing", get("/plug/nothing"), None),
        h1("h1 proxy, plug-in that reads a header and sets one", get("/plug/sets"), None),
        h1("h1 proxy, plug-in that sees the response and sets a header", get("/plug/answered"), None),
        h1("h1 plug-in that answers itself", get("/plug/answers"), None),
        h1("h1 file", get("/files/small.txt"), None),
        h1("h1 file, not modified", get("/files/small.txt").replace("accept: */*", "if-none-match: *"), None),
        h2("h2 respond", "/raw"),
        h2("h2 route not found", "/nothing/here"),
        h2("h2 proxy", "/proxy"),
        h2("h2 file", "/files/small.txt"),
    ]
    .into_iter()
    .chain(rpc::paths())
    .collect()
}

fn post_gzip() -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(b"hello").unwrap();
    let body = writer.finish().unwrap();
    let head = format!(
        "POST /plain HTTP/1.1\r\nhost: leat.test\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), &body].concat()
}

fn config(upstream: std::net::SocketAddr, rpc_upstream: std::net::SocketAddr, log: &str) -> String {
    format!(
        "access_log: {log}\n\
         rate_limits:\n\
         \x20 wide: {{ rate: 1000000000/s, key: [client, \"header:user-agent\"] }}\n\
         \x20 window: {{ rate: 4000000/365d, algorithm: sliding_window }}\n\
         \x20 spent: {{ rate: 1/365d }}\n\
         auth:\n\
         \x20 users: {{ jwt: {{ secret_file: secret, issuer: i, audience: a, headers: {{ x-user: sub, x-org: org.id }} }} }}\n\
         \x20 programs: {{ api_keys: {{ keys: {{ shop: 2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683 }} }} }}\n\
         \x20 staff: {{ basic: htpasswd }}\n\
         plugins: {{ nothing: nothing.mjs, sets: sets.mjs, answered: answered.mjs, answers: answers.mjs }}\n\
         routes:\n{rpc}\
         \x20 - match: {{ path: /limited }}\n    rate_limits: [wide, window]\n    respond: {{ body: x }}\n\
         \x20 - match: {{ path: /spent }}\n    rate_limits: spent\n    respond: {{ body: x }}\n\
         \x20 - match: {{ path: /token }}\n    auth: users\n    respond: {{ body: x }}\n\
         \x20 - match: {{ path: /key }}\n    auth: programs\n    respond: {{ body: x }}\n\
         \x20 - match: {{ path: /password }}\n    auth: staff\n    respond: {{ body: x }}\n\
         \x20 - match: {{ path: /token-proxy }}\n    auth: users\n    proxy: http://{upstream}\n\
         \x20 - match: {{ path: /plug/nothing }}\n    plugins: nothing\n    proxy: http://{upstream}\n\
         \x20 - match: {{ path: /plug/sets }}\n    plugins: sets\n    proxy: http://{upstream}\n\
         \x20 - match: {{ path: /plug/answered }}\n    plugins: answered\n    proxy: http://{upstream}\n\
         \x20 - match: {{ path: /plug/answers }}\n    plugins: answers\n    proxy: http://{upstream}\n\
         \x20 - match: {{ path: /raw }}\n    respond: {{ body: \"Hello world!\\n\" }}\n\
         \x20 - match: {{ path: /post-only, method: PUT }}\n    respond: {{ body: x }}\n\
         \x20 - match: {{ path: \"/old/{{id}}\" }}\n    redirect: {{ to: \"/new/{{id}}\" }}\n\
         \x20 - match: {{ prefix: /files }}\n    strip_prefix: /files\n    files: {{ root: public }}\n\
         \x20 - match: {{ path: \"/users/{{id}}/name\" }}\n    rewrite: \"/names/{{id}}\"\n\
         \x20   request_headers: {{ set: {{ x-a: b }} }}\n    response_headers: {{ set: {{ x-c: d }} }}\n    proxy: http://{upstream}\n\
         \x20 - match: {{ path: /proxy }}\n    proxy: http://{upstream}\n\
         \x20 - match: {{ path: /chunked }}\n    proxy: http://{upstream}\n\
         \x20 - match: {{ path: /tight }}\n    limits: {{ fields_max: 50, target_bytes_max: 100B, head_bytes_max: 1KiB }}\n    respond: {{ body: x }}\n\
         \x20 - match: {{ prefix: /v2 }}\n    rewrite_regex: {{ pattern: \"/v([0-9]+)/(.*)\", to: \"/{{2}}\" }}\n\
         \x20   request_query: {{ remove: debug, set: {{ by: leat }} }}\n    proxy: http://{upstream}\n\
         \x20 - match: {{ path: /held }}\n    buffer_response: {{}}\n    proxy: http://{upstream}\n\
         \x20 - match: {{ path: /plain }}\n    decompress: {{}}\n    proxy: http://{upstream}\n\
         \x20 - match: {{ path: /policies }}\n    proxy: watched\n\
         \x20 - match: {{ path: /watched }}\n    proxy: hedged\n\
         \x20 - match: {{ path: /unmirrored }}\n    proxy: {{ upstream: watched, mirror: {{ upstream: hedged, percent: 0 }} }}\n\
         upstreams:\n\
         \x20 watched: {{ endpoints: \"http://{upstream}\", balance: peak_ewma, outliers: {{}}, breaker: {{}}, retry: {{}}, health: {{}} }}\n\
         \x20 hedged: {{ endpoints: \"http://{upstream}\", concurrency: {{}}, retry: {{}}, hedge: {{}} }}\n",
        rpc = rpc::routes(rpc_upstream),
    )
}

/// The plug-ins of the configuration.
const PLUGINS: [(&str, &str); 4] = [
    ("nothing", "onRequest() {}"),
    ("sets", "onRequest: ({ request }) => ({ headers: { 'x-agent': request.headers['user-agent'] } })"),
    ("answered", "onResponse: ({ response }) => ({ headers: { 'x-was': String(response.status) } })"),
    ("answers", "onRequest: () => ({ respond: { status: 403, headers: {}, body: 'no' } })"),
];

#[test]
fn every_path_allocates_as_the_table_says() {
    let folder = Folder::new();
    let disk = Disk::of(&folder.write("public/small.txt", "Hello world!\n"));
    folder.write("secret", SECRET);
    folder.write("htpasswd", htpasswd());
    for (name, hooks) in PLUGINS {
        let head = "import { middleware } from 'leat/middleware';";
        let text = format!("{head}\nexport default middleware({{ name: '{name}', scope: 'call', {hooks} }});");
        folder.write(&format!("{name}.mjs"), text);
    }
    rpc::write(&folder);
    let upstream = upstream::start();
    let rpc_upstream = Core::start(&rpc::upstream(), folder.path(), true);
    let wanted = table::read(&std::fs::read_to_string(table::path()).unwrap_or_default());
    let mut found: Vec<table::Row> = paths().iter().map(|path| (path.name.to_owned(), [0; 2])).collect();
    for (column, log) in ["off", "{ path: /dev/null }"].into_iter().enumerate() {
        let config = config(upstream, rpc_upstream.address(), log);
        let [mut h1, mut h2] = [false, true].map(|http2| Core::start(&config, folder.path(), http2));
        for (path, row) in paths().iter().zip(&mut found) {
            let core = if matches!(path.request, Request::H1 { .. }) { &mut h1 } else { &mut h2 };
            row.1[column] = disk.on_the_tables(path.name, count(core, path));
            let promised = path.promised.unwrap_or(row.1[column]);
            assert_eq!(row.1[column], promised, "{}: allocations a request, access log {log}", path.name);
        }
    }
    // JavaScript's side of the lane has no access log; its replies are written by a thread of its own here.
    found.extend(lane::PATHS.iter().map(|path| (path.name.to_owned(), [lane::count(path); 2])));
    // Plug-ins are called by the thread itself.
    found.extend(plugins::PATHS.iter().map(|path| (path.name.to_owned(), [plugins::count(path); 2])));
    compare(&wanted, &found);
}

/// Allocations for each request, or batch.
fn count(core: &mut Core, path: &Path) -> u64 {
    let mut ask: Box<dyn FnMut()> = match &path.request {
        Request::H1 { bytes, replies } => {
            let mut client = Client::connect(core.address());
            Box::new(move || {
                client.send(bytes);
                for _ in 0..*replies {
                    client.response();
                }
            })
        }
        Request::H2 { path } => {
            let mut client = H2Client::connect(core.address());
            Box::new(move || client.get(path))
        }
        Request::Grpc { path, body } => {
            let mut client = H2Client::connect(core.address());
            Box::new(move || client.call(path, body))
        }
    };
    (0..WARM_UP).for_each(|_| ask());
    if std::env::var("LEAT_TRACE_ALLOCATIONS").is_ok_and(|name| name == path.name) {
        core.trace(100);
        ask();
        core.trace(0);
    }
    let rounds = (0..ROUNDS).map(|_| {
        let before = core.allocations();
        (0..COUNTED).for_each(|_| ask());
        let spent = core.allocations().since(before);
        (spent.count, spent.bytes)
    });
    let (least, bytes) = rounds.min().unwrap();
    if path.name == "h1 proxy" {
        let each = bytes / least.max(1);
        assert!(each <= CACHED_BYTES_MAX, "{}: a block of {each} bytes", path.name);
    }
    if path.promised == Some(0) {
        assert_eq!(least, 0, "{}: allocations in {COUNTED} requests", path.name);
    }
    // The last exchange of a round may end after its reply was read, in the next round or in none.
    (least + COUNTED / 2) / COUNTED
}

fn compare(wanted: &[table::Row], found: &[table::Row]) {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(table::path(), table::write(found)).unwrap();
        return;
    }
    let mut wrong = Vec::new();
    for (name, now) in found {
        let before = wanted.iter().find(|(known, _)| known == name).map(|(_, counts)| *counts);
        match before {
            Some(before) if before == *now => {}
            Some(before) if now.iter().zip(before).any(|(now, before)| *now > before) => {
                wrong
                    .push(format!("{name}: {now:?} allocations, the table has {before:?}: the path has become dearer"));
            }
            Some(before) => {
                wrong.push(format!("{name}: {now:?} allocations, the table has {before:?}: write it again"))
            }
            None => wrong.push(format!("{name}: {now:?} allocations, and the table does not know it")),
        }
    }
    for (name, _) in wanted.iter().filter(|(name, _)| !found.iter().any(|(known, _)| known == name)) {
        wrong.push(format!("{name}: the table has it, the test has not"));
    }
    let how = "UPDATE=1 cargo test -p leat-cli --test allocations";
    assert!(wrong.is_empty(), "{}\nif that is as it should be: {how}", wrong.join("\n"));
}
