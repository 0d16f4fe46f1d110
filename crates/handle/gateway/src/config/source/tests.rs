use std::path::Path;

use super::*;

const FILE: &str = "x-anchors: [&value hunter2]
admin: { address: 127.0.0.1:0 }
routes:
  - match: { path: /here, headers: { x-api-key: hunter2, accept: text/plain } }
    request_headers:
      set: { x-token: *value, x-team: shop, x-other: Bearer hunter2 }
    proxy: { upstream: up }
  - respond: { body: \"true\", status: 201 }
auth:
  programs:
    api_keys: { keys: { shop: 62af8704764faf8ea82fc61ce9c4c3908b6cb97d463a634e9e587d7c885db0ef } }
upstreams:
  up: 'http://127.0.0.1:9000'
";

fn source(text: &str) -> Source {
    let loaded = crate::config::parse(text, "leat.yaml", Path::new(".")).unwrap();
    loaded.config.source.unwrap()
}

fn settings(source: &Source, under: &str) -> Vec<String> {
    let mut found = Vec::new();
    source.each(under, |setting| found.push(format!("{} {}={}", setting.place, setting.path, setting.value)));
    found
}

#[test]
fn every_value_has_its_place() {
    let source = source(FILE);
    assert_eq!(
        settings(&source, "routes[0].match"),
        [
            "4:20 routes[0].match.path=/here",
            "4:49 routes[0].match.headers.x-api-key=(masked)",
            "4:66 routes[0].match.headers.accept=text/plain",
        ]
    );
    assert_eq!(settings(&source, "routes[0].mat"), [""; 0], "a path is whole steps");
    assert_eq!(settings(&source, "upstreams"), ["13:7 upstreams.up=http://127.0.0.1:9000"]);
    assert_eq!(source.json("routes[1].respond").unwrap(), serde_json::json!({ "body": "true", "status": 201 }));
    assert_eq!(source.json("routes[9]"), None);
}

#[test]
fn secrets_are_in_none_of_its_forms() {
    let source = source(FILE);
    let yaml = source.yaml(1 << 20);
    let all = format!("{yaml}\n{:?}\n{}\n{:?}", settings(&source, ""), source.json("").unwrap(), source);
    for secret in ["hunter2", "62af87"] {
        assert!(!all.contains(secret), "{all}");
    }
    assert!(yaml.contains("x-team: shop"), "{yaml}");
}

#[test]
fn credentials_and_queries_of_urls_are_masked() {
    let source = source(
        "admin: 127.0.0.1:0\nroutes: [{ respond: { body: 'https://user:hunter2@host.example/path?code=hunter2' } }]\n",
    );
    assert_eq!(
        settings(&source, "routes"),
        ["2:29 routes[0].respond.body=https://(masked)@host.example/path?(masked)"]
    );
}

#[test]
fn its_yaml_says_the_same_and_is_cut_where_it_is_long() {
    let first = source(&FILE.replace("  programs:\n    api_keys: { keys: { shop: 62af8704764faf8ea82fc61ce9c4c3908b6cb97d463a634e9e587d7c885db0ef } }\n", "  programs: { client_certificate: {} }\n").replace("auth:", "x-auth:"));
    let again = source(&first.yaml(1 << 20));
    let values = |source: &Source| {
        let mut found = Vec::new();
        source.each("", |setting| found.push((setting.path, setting.value)));
        found
    };
    assert_eq!(values(&first), values(&again));
    let cut = first.yaml(100);
    assert!(cut.len() < 400 && cut.ends_with("# cut: it is longer\n"), "{cut}");
}

#[test]
fn changes_name_what_came_went_and_is_another_also_a_secret() {
    let before = source(FILE);
    let after = source(
        &FILE
            .replace("&value hunter2", "&value hunter3")
            .replace("x-team: shop, ", "")
            .replace("body: \"true\", status: 201", "status: 202, body: now"),
    );
    let told: Vec<String> = after
        .changes(&before)
        .into_iter()
        .map(|change| match change {
            Change::Added(setting) => format!("+{}", setting.path),
            Change::Changed(setting) => format!("{}={}", setting.path, setting.value),
            Change::Removed(setting) => format!("-{} at {}", setting.path, setting.place),
        })
        .collect();
    assert_eq!(
        told,
        [
            "x-anchors[0]=(masked)",
            "routes[0].request_headers.set.x-token=(masked)",
            "routes[1].respond.status=202",
            "routes[1].respond.body=now",
            "-routes[0].request_headers.set.x-team at 6:39",
        ]
    );
    assert!(before.changes(&source(FILE)).is_empty());
}
