//! What the API shows.

use leat_testkit::{Client, Folder, Leat};
use serde_json::json;

use crate::asked::{TOKEN, gateway, get, send, with_admin};
use crate::support::Upstream;

#[test]
fn the_index_lists_calls_that_are_there() {
    let folder = Folder::new();
    folder.write("admin.token", format!("{TOKEN}\n"));
    folder.write("a.proto", "syntax = \"proto3\"; package a; message M {} service S { rpc Get(M) returns (M); }");
    let mut leat = Leat::gateway_in(folder, &with_admin("routes: [{ mock: { proto: a.proto, fake: true } }]\n"), 1);
    let index = get(&mut leat, "/");
    let calls = index["calls"].as_array().unwrap();
    assert!(calls.len() > 12);
    for call in calls.iter().filter(|call| call["method"] == "GET") {
        let path = call["path"].as_str().unwrap();
        if !path.contains("NAME") && !path.ends_with("/N") {
            assert_eq!(send(&mut leat, "GET", path, "host: localhost\r\n", "").status, 200, "{path}");
        }
    }
}

#[test]
fn routes_have_their_place_their_keys_and_their_counts() {
    let upstream = Upstream::start("up");
    let mut leat = gateway(&format!(
        "routes:
  - name: shop
    match: {{ prefix: /shop, headers: {{ x-api-key: hunter2 }} }}
    request_headers: {{ set: {{ authorization: hunter2 }} }}
    proxy: up
  - match: {{ path: /here }}
    respond: {{ body: here }}
upstreams: {{ up: 'http://{}' }}
",
        upstream.address()
    ));
    let mut client = leat.connect();
    for _ in 0..3 {
        assert_eq!(client.get("/here").response().status, 200);
    }
    let routes = get(&mut leat, "/routes");
    assert_eq!((&routes["count"], &routes["next"]), (&json!(2), &json!(null)));
    let [shop, here] = routes["routes"].as_array().unwrap().as_slice() else { panic!("{routes}") };
    assert_eq!(
        (&shop["route"], &shop["line"], &shop["column"], &shop["upstream"]),
        (&json!("shop"), &json!(5), &json!(5), &json!("up"))
    );
    assert!(shop["file"].as_str().unwrap().ends_with("leat.yaml"));
    assert_eq!(shop["match"], json!({ "prefix": "/shop", "headers": { "x-api-key": "(masked)" } }));
    assert_eq!(shop["action"], json!({ "proxy": "up" }));
    assert_eq!(shop["policies"], json!({ "request_headers": { "set": { "authorization": "(masked)" } } }));
    assert_eq!(here["action"], json!({ "respond": { "body": "here" } }));
    assert_eq!(
        (&here["counts"]["requests"], &here["counts"]["classes"]["2xx"], &here["counts"]["bytes_out"]),
        (&json!(3), &json!(3), &json!(12))
    );
    let rest = get(&mut leat, "/routes?from=1");
    assert_eq!((rest["routes"].as_array().unwrap().len(), &rest["count"]), (1, &json!(2)));
    assert_eq!(get(&mut leat, "/routes?from=99")["routes"], json!([]));
}

#[test]
fn lists_are_cut_into_pages() {
    let routes: String =
        (0..1_201).map(|at| format!("  - {{ name: r{at}, match: {{ path: /{at} }}, respond: {{}} }}\n")).collect();
    let mut leat = gateway(&format!("routes:\n{routes}"));
    let (mut seen, mut from, mut pages) = (Vec::new(), json!(0), 0);
    while !from.is_null() {
        let page = get(&mut leat, &format!("/routes?from={from}"));
        seen.extend(page["routes"].as_array().unwrap().iter().map(|route| route["route"].as_str().unwrap().to_owned()));
        from = page["next"].clone();
        pages += 1;
    }
    assert_eq!((pages, seen.len()), (3, 1_201));
    assert_eq!(seen[1_200], "r1200");
    let config = get(&mut leat, "/config");
    assert_eq!(config["settings"].as_array().unwrap().len(), 2_000);
    assert!(config["left_out"].as_u64().unwrap() > 1_000);
}

#[test]
fn upstreams_are_complete_also_those_without_a_policy() {
    let [plain, broken] = ["plain", "broken"].map(Upstream::start);
    let mut leat = Leat::gateway(
        &format!(
            "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
workers: 1
routes:
  - {{ match: {{ path: /plain }}, proxy: plain }}
  - {{ match: {{ path: /broken }}, proxy: broken }}
upstreams:
  plain: 'http://{}'
  broken: {{ endpoints: [{{ url: 'http://{}', weight: 3 }}], breaker: {{ failures: 5 }}, outliers: {{}}, retry: {{}} }}
",
            plain.address(),
            broken.address()
        ),
        1,
    );
    let mut client = leat.connect();
    for path in ["/plain", "/broken", "/broken"] {
        assert_eq!(client.get(path).response().status, 200);
    }
    let upstreams = get(&mut leat, "/upstreams");
    let [first, second] = upstreams["upstreams"].as_array().unwrap().as_slice() else { panic!("{upstreams}") };
    assert_eq!((&first["upstream"], &first["line"]), (&json!("plain"), &json!(8)));
    let endpoint = &first["endpoints"][0];
    assert_eq!(
        (&endpoint["requests"], &endpoint["requests_under_way"], &endpoint["draining"]),
        (&json!(1), &json!(0), &json!(false))
    );
    assert_eq!(endpoint.get("breaker"), None);
    let endpoint = &second["endpoints"][0];
    assert_eq!(
        (&endpoint["weight"], &endpoint["breaker"], &endpoint["aside_ms"]),
        (&json!(3), &json!("admit"), &json!(0))
    );
    assert_eq!(
        endpoint["breaker_window"],
        json!({ "calls": 2, "failures": 0, "slow": 0, "consecutive_failures": 0, "retry_after_ms": 0 })
    );
    assert_eq!(second["retries"], json!(0));
    assert_eq!(get(&mut leat, "/upstreams/broken"), *second);
}

#[test]
fn a_limit_shows_no_key_but_what_is_left_for_one_that_is_asked_for() {
    let mut leat = gateway(
        "workers: 1
rate_limits:
  few: { rate: 4/h, key: [client, 'header:x-team'] }
  one: { rate: 2/h, algorithm: sliding_window, key: all }
routes: [{ rate_limits: [few, one], respond: {} }]
",
    );
    let mut client = leat.connect();
    client.send("GET / HTTP/1.1\r\nhost: h\r\nx-team: blue\r\n\r\n").response();
    let limits = get(&mut leat, "/limits");
    let [few, one] = limits["limits"].as_array().unwrap().as_slice() else { panic!("{limits}") };
    assert_eq!(
        (&few["keys"], &few["admitted"], &few["evicted"], &few["store"]),
        (&json!(1), &json!(1), &json!(0), &json!("process"))
    );
    assert_eq!(few["law"], json!({ "algorithm": "gcra", "quota": 4, "per_ms": 3_600_000, "burst": 4 }));
    assert_eq!(one["law"]["algorithm"], "sliding_window");
    assert_eq!(few["key"], json!(["client", "header:x-team"]));
    assert!(!limits.to_string().contains("blue"));
    for (query, known, remaining) in [
        ("key=127.0.0.1&key=blue", true, 3),
        ("key=127.0.0.1&key=red", false, 4),
        ("key=127.0.0.1&key=", false, 4),
        ("key=%3A%3A1&key=blue", false, 4),
    ] {
        // Twice: to look takes nothing.
        for _ in 0..2 {
            let left = get(&mut leat, &format!("/limits/few?{query}"))["key"].clone();
            assert_eq!((&left["known"], &left["remaining"]), (&json!(known), &json!(remaining)), "{query}");
        }
    }
    for query in ["key=127.0.0.1", "key=blue&key=127.0.0.1", "key=127.0.0.1&key=blue&key=x"] {
        let answer = send(&mut leat, "GET", &format!("/limits/few?{query}"), "host: localhost\r\n", "");
        assert_eq!(answer.status, 400, "{query}: {}", answer.text());
    }
}

#[test]
fn the_configuration_is_shown_with_its_lines_and_without_its_secrets() {
    let folder = Folder::new();
    folder.write("admin.token", TOKEN);
    let config =
        with_admin("routes:\n  - request_headers: { set: { x-token: hunter2 } }\n    proxy: http://127.0.0.1:9\n");
    let mut leat = Leat::gateway_in(folder, &config, 1);
    let routes = get(&mut leat, "/config?path=routes");
    assert_eq!(
        routes["settings"],
        json!([
            { "path": "routes[0].request_headers.set.x-token", "line": 5, "column": 40, "value": "(masked)" },
            { "path": "routes[0].proxy", "line": 6, "column": 12, "value": "http://127.0.0.1:9" },
        ])
    );
    // As the reference writes it, and as browsers send it.
    let proxy = get(&mut leat, "/config?path=routes[0].proxy");
    assert_eq!(
        proxy["settings"],
        json!([{ "path": "routes[0].proxy", "line": 6, "column": 12, "value": "http://127.0.0.1:9" }])
    );
    let yaml = send(&mut leat, "GET", "/config?format=yaml", "host: localhost\r\n", "");
    assert_eq!(yaml.field("content-type"), Some("application/yaml"));
    assert!(yaml.text().contains("    proxy: http://127.0.0.1:9\n"), "{}", yaml.text());
    for path in ["/config", "/config?format=yaml", "/routes", "/upstreams"] {
        let text = send(&mut leat, "GET", path, "host: localhost\r\n", "").text().to_owned();
        assert!(!text.contains("hunter2") && !text.contains(TOKEN), "{path}: {text}");
    }
}

#[test]
fn secrets_in_paths_urls_and_short_names_are_masked() {
    let folder = Folder::new();
    folder.write("admin.token", TOKEN);
    let config = with_admin(
        "routes:
  - match: { path: /a }
    redirect: '/in?pin=hunter2'
  - match: { path: /b }
    respond: { body: 'https://ann:hunter2@shop.example/in?pin=hunter2' }
  - match: { path: /c }
    respond: { body: 'http://ann:hunt/hunter2@shop.example/' }
  - match: { path: /d }
    respond: { body: 'http://a?http://ann:hunter2@b' }
  - match: { path: /e, query: { code: hunter2, page: '2' } }
    request_headers: { set: { x-jwt: hunter2, x-pwd: hunter2, x-sig: hunter2, x-page: '2' } }
    proxy: up
upstreams: { up: { endpoints: 'http://127.0.0.1:9', health: { path: '/health?pin=hunter2' } } }
",
    );
    let mut leat = Leat::gateway_in(folder, &config, 1);
    let all = get(&mut leat, "/config");
    let settings = all["settings"].as_array().unwrap();
    for (path, value) in [
        ("routes[0].redirect", "/in?(masked)"),
        ("routes[1].respond.body", "https://(masked)@shop.example/in?(masked)"),
        // Where the password ends is not clear.
        ("routes[2].respond.body", "(masked)"),
        ("routes[3].respond.body", "(masked)"),
        ("routes[4].match.query.code", "(masked)"),
        ("routes[4].match.query.page", "2"),
        ("routes[4].request_headers.set.x-jwt", "(masked)"),
        ("routes[4].request_headers.set.x-pwd", "(masked)"),
        ("routes[4].request_headers.set.x-sig", "(masked)"),
        ("routes[4].request_headers.set.x-page", "2"),
        ("upstreams.up.health.path", "/health?(masked)"),
    ] {
        let found: Vec<_> = settings.iter().filter(|setting| setting["path"] == path).collect();
        assert_eq!(found.iter().map(|setting| &setting["value"]).collect::<Vec<_>>(), [&json!(value)], "{path}: {all}");
    }
    for path in ["/config", "/config?format=yaml", "/config?path=routes", "/routes", "/upstreams"] {
        let text = send(&mut leat, "GET", path, "host: localhost\r\n", "").text().to_owned();
        assert!(!text.contains("hunt"), "{path}: {text}");
    }
}

#[test]
fn plug_ins_and_cores_say_how_they_are() {
    let folder = Folder::new();
    folder.write("admin.token", TOKEN);
    folder.write("tag.mjs", "import { middleware } from 'leat/middleware';\nexport default middleware({ name: 'tag', scope: 'call', onRequest() {} });\n");
    let config =
        with_admin("workers: 2\nplugins: { tag: tag.mjs }\nroutes: [{ name: r, plugins: tag, respond: {} }]\n");
    let mut leat = Leat::gateway_in(folder, &config, 1);
    let _open = Client::connect(leat.address(0)).get("/").response();
    let plugins = get(&mut leat, "/plugins");
    assert_eq!((&plugins["plugins"][0]["plugin"], &plugins["plugins"][0]["routes"]), (&json!("tag"), &json!(["r"])));
    let worlds = plugins["worlds"].as_array().unwrap();
    assert_eq!(worlds.len(), 2);
    assert!(worlds.iter().all(|world| world["loaded"] == true && world["lost"] == 0), "{plugins}");
    let info = get(&mut leat, "/info");
    assert_eq!(
        (&info["readiness"], &info["writes"], &info["log_level"]),
        (&json!("ready"), &json!(true), &json!("info"))
    );
    assert_eq!(info["process"], json!(leat.pid()));
    assert_eq!(info["listening"].as_array().unwrap().len(), 2);
    assert!(info["cores"].as_array().unwrap().iter().all(|core| core["answered_us"].is_u64()), "{info}");
}
