//! A reload loses no request, changes what it should, and never puts a bad configuration in place of a good one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::{SocketAddr, TcpStream};

use leat_testkit::{Client, Folder, Gate, Leat, Peer, Script, eventually};
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use support::{Load, Manner, Upstream, events, metric};

/// Reloads by SIGHUP and waits until it was taken over.
fn reload(leat: &mut Leat, config: &str) {
    let before = events(&leat.log(), "reloaded");
    leat.rewrite(config);
    leat.reload();
    wait_reloaded(leat, before + 1);
}

fn wait_reloaded(leat: &Leat, count: usize) {
    eventually(&format!("reload number {count}"), || {
        assert_eq!(events(&leat.log(), "reload_failed"), 0);
        (events(&leat.log(), "reloaded") >= count).then_some(())
    });
}

/// The address of a listener that came with a reload.
fn new_listener(leat: &mut Leat, ip: &str) -> SocketAddr {
    let wanted = format!("\"address\":\"{ip}:");
    leat.wait_log("the new listener", |line| line.contains("\"event\":\"listening\"") && line.contains(&wanted));
    let log = leat.log();
    let line = log.iter().rfind(|line| line.contains("\"event\":\"listening\"") && line.contains(&wanted)).unwrap();
    let (_, rest) = line.split_once("\"address\":\"").unwrap();
    rest.split('"').next().unwrap().parse().unwrap()
}

/// A configuration that differs from the one before in routes, upstreams, listeners and limits.
fn generation(number: usize, upstreams: &[&Upstream; 2]) -> String {
    let upstream = upstreams[number % 2].address();
    let more = if number % 2 == 1 { "  - 127.0.0.2:0\n" } else { "" };
    format!(
        "listeners:
  - 127.0.0.1:0
{more}admin: 127.0.0.1:0
access_log: off
workers: 2
drain: {{ grace: 100ms }}
limits: {{ idle_time: {}s, head_bytes_max: {}KiB, connections_max: {} }}
routes:
  - match: {{ path: /here }}
    response_headers: {{ set: {{ x-generation: \"{number}\" }} }}
    respond: {{ body: here }}
  - match: {{ path: /only-{number} }}
    respond: {{ body: only }}
  - name: there-{number}
    match: {{ prefix: /there }}
    proxy: {}
upstreams:
  first: http://{}
  second: {{ endpoints: 'http://{}', connections_max: {} }}
",
        60 + number,
        16 + number % 4,
        10_000 + number,
        if number.is_multiple_of(3) { "first" } else { "second" },
        upstream,
        upstreams[(number + 1) % 2].address(),
        100 + number,
    )
}

#[test]
fn no_request_fails_over_many_reloads_under_load() {
    let upstreams = [&Upstream::start("one"), &Upstream::start("two")];
    let mut leat = Leat::gateway_with(Folder::new(), &generation(0, &upstreams), &[], 1);
    let manners = [Manner::KeepAlive, Manner::KeepAlive, Manner::Fresh];
    let load = Load::start(leat.address(0), &manners, &["/here", "/there", "/there/slow", "/here"]);
    load.wait_answered(50);
    for number in 1..=24 {
        reload(&mut leat, &generation(number, &upstreams));
        load.wait_answered(10);
        let reply = leat.connect().get(&format!("/only-{number}")).response();
        assert_eq!(reply.status, 200, "the routes are those of generation {number}");
    }
    let outcome = load.finish();
    assert_eq!(outcome.failures, [""; 0], "after {} replies", outcome.answered);
    assert_eq!(outcome.refused, 0);
    let admin = leat.admin();
    assert_eq!(metric(admin, "leat_config_reloads_total{outcome=\"ok\"}"), 24);
    assert_eq!(metric(admin, "leat_config_reloads_total{outcome=\"failed\"}"), 0);
}

#[test]
fn an_endpoint_that_is_aside_stays_aside_over_many_reloads_under_load() {
    let ill = "HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n";
    let bad = Peer::listen([Script::new().expect_head().send(ill).repeated(1_000)]);
    let good = Upstream::start("good");
    let config = |number: usize| {
        let endpoints = format!("http://{}, http://{}", bad.address(), good.address());
        format!(
            "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
access_log: off
workers: 2
routes: [{{ name: r{number}, proxy: up }}]
upstreams:
  up: {{ endpoints: [{endpoints}], queue_max: {}, outliers: {{ failures: 2, ejection: 10m, ejection_max: 10m }} }}
",
            100 + number
        )
    };
    let mut leat = Leat::gateway_with(Folder::new(), &config(0), &[], 1);
    let admin = leat.admin();
    let ejections = format!("leat_upstream_ejections_total{{upstream=\"up\",endpoint=\"http://{}\"}}", bad.address());
    eventually("the ejection", || {
        leat.connect().get("/").response();
        (metric(admin, &ejections) == 1).then_some(())
    });
    // Every answer that is not a 200 fails the load: no core may forget what it knows for a single request.
    let load = Load::start(leat.address(0), &[Manner::KeepAlive, Manner::KeepAlive, Manner::Fresh], &["/", "/slow"]);
    load.wait_answered(20);
    for number in 1..=12 {
        reload(&mut leat, &config(number));
        load.wait_answered(10);
    }
    let outcome = load.finish();
    assert_eq!(outcome.failures, [""; 0], "after {} replies", outcome.answered);
    assert_eq!(metric(leat.admin(), &ejections), 1, "the count stays as well");
}

#[test]
fn a_watched_file_is_taken_over_when_it_changes_and_no_request_fails() {
    let upstreams = [&Upstream::start("one"), &Upstream::start("two")];
    let leat = Leat::gateway_with(Folder::new(), &generation(0, &upstreams), &["--watch"], 1);
    let load = Load::start(leat.address(0), &[Manner::KeepAlive, Manner::Fresh], &["/here", "/there"]);
    for number in 1..=3 {
        leat.rewrite(&generation(number, &upstreams));
        wait_reloaded(&leat, number);
    }
    let outcome = load.finish();
    assert_eq!((outcome.failures, outcome.refused), (Vec::new(), 0));
    let reply = leat.connect().get("/here").response();
    assert_eq!(reply.field("x-generation"), Some("3"));
}

#[test]
fn a_bad_configuration_never_replaces_a_running_one() {
    let good = "listeners: 127.0.0.1:0\nadmin: 127.0.0.1:0\nroutes: [{ respond: { body: good } }]\n";
    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = busy.local_addr().unwrap();
    let mut leat = Leat::gateway(good, 1);
    let admin = leat.admin();
    let mut client = leat.connect();
    assert_eq!(client.get("/").response().text(), "good");
    let bad = [
        ("listeners: 127.0.0.1:0\nroutes:\n  - respnd: { body: x }\n".to_owned(), "leat.yaml:3:5"),
        ("listeners: 127.0.0.1:0\nroutes: [{ respond: { status: 99 } }]\n".to_owned(), "leat.yaml:2:31"),
        ("listeners: [\n".to_owned(), "leat.yaml:"),
        (String::new(), "not complete"),
        (good.replace("127.0.0.1:0\nadmin", &format!("[127.0.0.1:0, '{busy}']\nadmin")), "is in use"),
        (good.replace("respond: { body: good }", "files: { root: ./nowhere }"), "nowhere"),
        (good.replace("admin:", "access_log: ./nowhere/access.log\nadmin:"), "leat.yaml:2:13"),
    ];
    for (number, (config, said)) in bad.iter().enumerate() {
        leat.rewrite(config);
        leat.reload();
        eventually(&format!("failure number {}", number + 1), || {
            (events(&leat.log(), "reload_failed") > number).then_some(())
        });
        assert!(leat.log().iter().any(|line| line.contains(said)), "{said} is not in\n{}", leat.log().join("\n"));
        assert_eq!(client.get("/").response().text(), "good", "{config}");
        assert_eq!(leat.connect().get("/").response().text(), "good", "{config}");
    }
    let failed = "leat_config_reloads_total{outcome=\"failed\"}";
    assert_eq!(metric(admin, failed), bad.len() as u64);
    let before = events(&leat.log(), "reloaded");
    assert_eq!(before, 0);
    let log = leat.log();
    assert!(log.iter().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{}", log.join("\n"));
    let problem = "leat.yaml:3:5: unknown key `respnd` in a route";
    let told = log.iter().find(|line| line.contains(problem)).expect("the problem");
    assert!(told.contains("\"event\":\"config_problem\"") && told.contains("\"help\":\"write `respond`\""), "{told}");
    leat.rewrite(&good.replace("body: good", "body: better"));
    leat.reload();
    leat.wait_log("the reload", |line| line.contains("\"event\":\"reloaded\""));
    assert_eq!(client.get("/").response().text(), "better");
}

#[test]
fn a_tunnel_and_a_stream_outlive_the_routes_that_they_came_by() {
    let gate = Gate::new();
    let tunnel = Script::new()
        .expect_head()
        .send("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n")
        .expect("ping")
        .send("pong")
        .wait(&gate)
        .send("late")
        .expect("bye")
        .expect_end()
        .close();
    let stream = Script::new()
        .expect_head()
        .send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n")
        .wait(&gate)
        .send("3\r\ntwo\r\n0\r\n\r\n");
    let tunnels = Peer::listen([tunnel]);
    let streams = Peer::listen([stream]);
    let config = format!(
        "listeners: 127.0.0.1:0
routes:
  - match: {{ path: /tunnel }}
    proxy: http://{}
  - match: {{ path: /stream }}
    proxy: http://{}
",
        tunnels.address(),
        streams.address()
    );
    let mut leat = Leat::gateway(&config, 1);
    let mut socket = leat.connect();
    socket.send(
        "GET /tunnel HTTP/1.1\r\nhost: leat.test\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    assert_eq!(socket.response().status, 101);
    assert_eq!(socket.send("ping").until("pong"), b"pong");
    let mut events = leat.connect();
    events.get("/stream").until("one");
    for body in ["a", "b"] {
        let config = format!("listeners: 127.0.0.1:0\nroutes: [{{ respond: {{ body: {body} }} }}]\n");
        reload(&mut leat, &config);
    }
    gate.open();
    assert_eq!(socket.until("late"), b"late");
    socket.send("bye").close_write();
    socket.expect_end();
    events.until("two");
    events.until("\r\n0\r\n\r\n");
    assert_eq!(events.get("/stream").response().text(), "b", "the next request is for the new routes");
    tunnels.finish();
    streams.finish();
}

#[test]
fn connections_to_endpoints_that_stay_are_kept() {
    let [stays, goes] = ["stays", "goes"].map(Upstream::start);
    let config = |number: usize| {
        let extra = if number == 0 { format!("  - 'http://{}'\n", goes.address()) } else { String::new() };
        format!(
            "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
workers: 1
routes:
  - name: generation-{number}
    proxy: up-{number}
upstreams:
  up-{number}:
  - 'http://{}'
{extra}",
            stays.address()
        )
    };
    let mut leat = Leat::gateway(&config(0), 1);
    let mut client = leat.connect();
    for _ in 0..4 {
        assert_eq!(client.get("/").response().status, 200);
    }
    assert_eq!((stays.connections(), goes.connections()), (1, 1));
    for number in 1..=5 {
        reload(&mut leat, &config(number));
        for _ in 0..3 {
            assert_eq!(client.get("/").response().text(), "stays");
        }
    }
    assert_eq!((stays.connections(), goes.connections()), (1, 1), "no new connection was made");
}

#[test]
fn a_listener_comes_and_goes_with_a_reload() {
    let one = "listeners: 127.0.0.1:0\ndrain: { grace: 300ms }\nroutes: [{ respond: { body: x } }]\n";
    let two = one.replace("127.0.0.1:0", "[127.0.0.1:0, 127.0.0.2:0]");
    let mut leat = Leat::gateway(one, 1);
    let first = leat.address(0);
    let mut stays = leat.connect();
    assert_eq!(stays.get("/").response().status, 200);
    reload(&mut leat, &two);
    let second = new_listener(&mut leat, "127.0.0.2");
    let mut active = Client::connect(second);
    let mut idle = Client::connect(second);
    let mut begun = Client::connect(second);
    for client in [&mut active, &mut idle] {
        assert_eq!(client.get("/").response().field("connection"), None);
    }
    begun.send("GET / HTTP/1.1\r\n");
    reload(&mut leat, one);
    eventually("the removed listener to close", || {
        TcpStream::connect(second).err().filter(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    });
    let reply = active.get("/").response();
    assert_eq!((reply.status, reply.field("connection")), (200, Some("close")));
    active.expect_end();
    let reply = begun.send("host: leat.test\r\n\r\n").response();
    assert_eq!((reply.status, reply.field("connection")), (200, Some("close")));
    idle.expect_end();
    assert_eq!(leat.address(0), first);
    assert_eq!(
        stays.get("/").response().field("connection"),
        None,
        "clients of the listener that stays notice nothing"
    );
}

#[test]
fn listeners_on_ports_that_the_system_chooses_are_different_ones_and_stay() {
    let config = |strict: &str| {
        format!(
            "listeners:
  - 127.0.0.1:0
  - {{ address: '127.0.0.1:0', profile: {strict} }}
admin: 127.0.0.1:0
routes: [{{ respond: {{ body: x }} }}]
"
        )
    };
    let mut leat = Leat::gateway(&config("strict"), 2);
    let admin = leat.admin();
    let addresses = [leat.address(0), leat.address(1), admin];
    assert!(addresses[0] != addresses[1] && addresses[1] != addresses[2]);
    let doubtful = "GET / HTTP/1.1\r\nhost: leat.test\r\ncontent-length: 1\r\n\r\nx";
    let status = |address| Client::connect(address).send(doubtful).response().status;
    assert_eq!((status(addresses[0]), status(addresses[1])), (200, 400));
    reload(&mut leat, &config("compatible"));
    assert_eq!((status(addresses[0]), status(addresses[1])), (200, 200));
    assert_eq!(events(&leat.log(), "closed"), 0);
}

#[test]
fn limits_apply_to_connections_that_are_open_from_their_next_request_on() {
    let config = |bytes: &str| {
        format!(
            "listeners: 127.0.0.1:0\nlimits: {{ target_bytes_max: {bytes} }}\nroutes: [{{ respond: {{ body: x }} }}]\n"
        )
    };
    let mut leat = Leat::gateway(&config("8000B"), 1);
    let mut client = leat.connect();
    let long = format!("/{}", "x".repeat(1_000));
    assert_eq!(client.get(&long).response().status, 200);
    reload(&mut leat, &config("256B"));
    assert_eq!(client.get(&long).response().status, 414);
}

#[test]
fn an_access_log_that_can_not_be_written_is_told_of_and_costs_nobody_a_request() {
    let config = "listeners: 127.0.0.1:0\naccess_log: /dev/full\nroutes: [{ respond: { body: x } }]\n";
    let mut leat = Leat::gateway(config, 1);
    let mut client = leat.connect();
    for _ in 0..3 {
        assert_eq!(client.get("/").response().status, 200);
    }
    let told = leat.wait_log("the failure", |line| line.contains("\"event\":\"access_log_failed\""));
    assert!(told.contains("No space left on device"), "{told}");
    assert_eq!(client.get("/").response().status, 200);
}

#[test]
fn the_access_log_is_opened_again_without_a_reload() {
    let config = "listeners: 127.0.0.1:0\naccess_log: access.log\nroutes: [{ respond: { body: x } }]\n";
    let leat = Leat::gateway(config, 1);
    let folder = leat.folder().path().to_owned();
    let mut client = leat.connect();
    client.get("/first").response();
    std::fs::rename(folder.join("access.log"), folder.join("access.log.1")).unwrap();
    // What is half written meanwhile is not read.
    leat.rewrite("routes: [");
    leat.signal(Signal::USR1);
    eventually("the new file", || folder.join("access.log").exists().then_some(()));
    client.get("/second").response();
    eventually("its line", || {
        std::fs::read_to_string(folder.join("access.log")).unwrap().contains("/second").then_some(())
    });
    assert_eq!(events(&leat.log(), "reloaded") + events(&leat.log(), "reload_failed"), 0);
}

#[test]
fn the_access_log_is_opened_again_and_moves_with_the_configuration() {
    let config =
        |path: &str| format!("listeners: 127.0.0.1:0\naccess_log: {path}\nroutes: [{{ respond: {{ body: x }} }}]\n");
    let mut leat = Leat::gateway(&config("access.log"), 1);
    let folder = leat.folder().path().to_owned();
    let has = |file: &str, path: &str| {
        eventually(&format!("{path} in {file}"), || {
            let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
            text.contains(path).then_some(text)
        })
    };
    let mut client = leat.connect();
    client.get("/first").response();
    has("access.log", "/first");
    std::fs::rename(folder.join("access.log"), folder.join("access.log.1")).unwrap();
    reload(&mut leat, &config("access.log"));
    eventually("the new file", || folder.join("access.log").exists().then_some(()));
    client.get("/second").response();
    let new = has("access.log", "/second");
    assert!(!new.contains("/first"), "the new file starts afresh: {new}");
    reload(&mut leat, &config("other.log"));
    client.get("/third").response();
    has("other.log", "/third");
}

#[test]
fn no_request_fails_on_a_listener_that_a_reload_removes_under_load() {
    let upstream = Upstream::start("up");
    let config = |listeners: &str| {
        format!(
            "listeners: {listeners}
workers: 2
access_log: off
drain: {{ grace: 300ms }}
routes:
  - match: {{ prefix: /there }}
    proxy: http://{}
  - respond: {{ body: here }}
",
            upstream.address()
        )
    };
    let mut leat = Leat::gateway(&config("[127.0.0.1:0, 127.0.0.2:0]"), 2);
    let manners = [Manner::KeepAlive, Manner::KeepAlive, Manner::Fresh];
    let load = Load::start(leat.address(1), &manners, &["/here", "/there", "/there/slow"]);
    load.wait_answered(50);
    reload(&mut leat, &config("127.0.0.1:0"));
    let outcome = load.join();
    assert_eq!(outcome.failures, [""; 0], "after {} replies", outcome.answered);
    assert_eq!(outcome.refused, 3, "every thread ended since the port was closed");
    assert_eq!(leat.connect().get("/there").response().text(), "up");
}

#[test]
fn a_reload_for_which_descriptors_run_out_anywhere_changes_nothing() {
    let config = |listeners: &str, body: &str| {
        format!("listeners: {listeners}\nworkers: 2\naccess_log: off\nroutes: [{{ respond: {{ body: {body} }} }}]\n")
    };
    let old = config("[127.0.0.1:0, 127.0.0.1:0]", "old");
    let leat = Leat::gateway(&old, 2);
    let process = Pid::from_raw(leat.pid().cast_signed());
    let open = || std::fs::read_dir(format!("/proc/{}/fd", leat.pid())).unwrap().count() as u64;
    let limit = |current: Option<u64>, maximum: Option<u64>| {
        prlimit(process, Resource::Nofile, Rlimit { current, maximum }).unwrap()
    };
    let answers = || [0, 1].map(|number| Client::connect(leat.address(number)).get("/").response().text().to_owned());
    assert_eq!(answers(), ["old", "old"]);
    let before = eventually("a quiet process", || {
        let count = open();
        std::thread::sleep(std::time::Duration::from_millis(10));
        (count == open()).then_some(count)
    });
    leat.rewrite(&config("[127.0.0.1:0, 127.0.0.1:0, 127.0.0.2:0]", "new"));
    let mut failed = 0;
    for room in 1..100 {
        let enough = limit(Some(before + room), hard_limit(leat.pid()));
        leat.reload();
        let done = eventually("the outcome", || {
            let log = leat.log();
            if events(&log, "reloaded") > 0 {
                return Some(true);
            }
            (events(&log, "reload_failed") > failed).then_some(false)
        });
        limit(enough.current, enough.maximum);
        if done {
            break;
        }
        failed += 1;
        assert_eq!(answers(), ["old", "old"], "with room for {room}");
        eventually("nothing to be left open", || (open() <= before).then_some(()));
    }
    assert!(failed > 5, "{failed}");
    assert_eq!(answers(), ["new", "new"]);
    leat.rewrite(&old);
    leat.reload();
    eventually("the way back", || (events(&leat.log(), "reloaded") == 2).then_some(()));
    assert_eq!(answers(), ["old", "old"]);
    eventually("nothing to be left open", || (open() <= before).then_some(()));
}

/// The most that the process may raise its limit of descriptors to.
fn hard_limit(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = text.lines().find(|line| line.starts_with("Max open files")).unwrap();
    line.split_whitespace().nth(4).unwrap().parse().ok()
}

/// A plug-in that answers with its number, and counts.
fn numbered(number: usize) -> String {
    format!(
        "import {{ middleware }} from 'leat/middleware';\nlet count = 0;\nexport default middleware({{ name: 'it', scope: 'call', onRequest: () => ({{ respond: {{ status: 200, headers: {{}}, body: `{number}: ${{++count}}` }} }}) }});\n"
    )
}

const PLUGGED: &str =
    "listeners: 127.0.0.1:0\nworkers: 1\nplugins: { it: it.mjs }\nroutes: [{ plugins: it, respond: { body: none } }]\n";

#[test]
fn a_plugin_is_replaced_as_a_whole_and_never_by_a_bad_one() {
    let folder = Folder::new();
    folder.write("it.mjs", numbered(1));
    let mut leat = Leat::gateway_in(folder, PLUGGED, 1);
    let mut client = leat.connect();
    let mut ask = move || client.get("/").response().text().to_owned();
    assert_eq!((ask(), ask()), ("1: 1".into(), "1: 2".into()));
    leat.folder().write("it.mjs", numbered(2));
    reload(&mut leat, PLUGGED);
    assert_eq!(ask(), "2: 1", "the same connection, and a new world");
    for (bad, told) in [
        ("let a = ;", "it.mjs:1:9: SyntaxError"),
        ("throw new Error('at load');", "it.mjs:1:11: Error: at load"),
        ("export default 1;", "it exports no middleware"),
    ] {
        leat.folder().write("it.mjs", bad);
        let failed = events(&leat.log(), "reload_failed");
        leat.reload();
        eventually("the refusal", || (events(&leat.log(), "reload_failed") > failed).then_some(()));
        leat.wait_log("what is wrong", |line| line.contains("leat.yaml:3:12: ") && line.contains(told));
    }
    assert_eq!(ask(), "2: 2", "the good one goes on");
}

#[test]
fn a_plugin_that_changes_is_noticed_where_files_are_watched() {
    let folder = Folder::new();
    folder.write("it.mjs", numbered(1));
    let leat = Leat::gateway_with(folder, PLUGGED, &["--watch"], 1);
    let mut client = leat.connect();
    assert_eq!(client.get("/").response().text(), "1: 1");
    leat.folder().write("it.mjs", numbered(2).replace("let count", "let  count"));
    wait_reloaded(&leat, 1);
    assert_eq!(client.get("/").response().text(), "2: 1");
}

#[test]
fn what_a_plugin_imports_is_watched_as_it_is() {
    let folder = Folder::new();
    folder.write("it.mjs", "export { default } from './parts/one.mjs';");
    folder.write("parts/one.mjs", numbered(1));
    let leat = Leat::gateway_with(folder, PLUGGED, &["--watch"], 1);
    let mut client = leat.connect();
    assert_eq!(client.get("/").response().text(), "1: 1");
    for (round, plugin) in [2, 3].into_iter().enumerate() {
        leat.folder().write("parts/one.mjs", format!("{}{}", numbered(plugin), " ".repeat(round + 1)));
        wait_reloaded(&leat, round + 1);
        assert_eq!(client.get("/").response().text(), format!("{plugin}: 1"));
    }
    // What the file that is there now imports, and not what one before it did.
    leat.folder().write("two.mjs", numbered(4));
    leat.folder().write("it.mjs", "export { default } from './two.mjs';");
    wait_reloaded(&leat, 3);
    assert_eq!(client.get("/").response().text(), "4: 1");
    leat.folder().write("two.mjs", format!("{}    ", numbered(5)));
    wait_reloaded(&leat, 4);
    assert_eq!(client.get("/").response().text(), "5: 1");
}
