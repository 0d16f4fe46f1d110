//! Tokens with keys from files and the environment, and what upstreams hear of them.

use std::process::Command;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use leat_testkit::{Folder, Leat, Peer, Script};

use crate::issuer::{Key, claims, now_s, set};
use crate::support::{gateway, get, lines_of, outcome, proxy, sha256, upstream};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn hs256(header: &str, claims: &str, secret: &str) -> String {
    let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), text.as_bytes());
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(tag))
}

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

#[test]
fn a_token_opens_as_its_claims_and_signature_say() {
    let folder = Folder::new();
    folder.write("secret", format!("{SECRET}\n"));
    let jwt = "{ secret_file: secret, issuer: https://issuer.example, audience: api, clock_skew: 5s }";
    let leat = gateway(folder, &format!("  users: {{ jwt: {jwt} }}"), "users");
    let mut client = leat.connect();
    let good = hs256("{\"alg\":\"HS256\"}", &claims(""), SECRET);
    let expired = claims("\"exp\":1000000000");
    let none = format!("{}.{}.", URL_SAFE_NO_PAD.encode("{\"alg\":\"none\"}"), URL_SAFE_NO_PAD.encode(claims("")));
    let (asks, refuses) = ("Bearer realm=\"users\"", "Bearer realm=\"users\", error=\"invalid_token\"");
    for (fields, wanted, code, challenge) in [
        (bearer(&good), 200, "", None),
        // Remembered.
        (bearer(&good), 200, "", None),
        (format!("authorization: bearer  {good}\r\n"), 200, "", None),
        (String::new(), 401, "auth.missing", Some(asks)),
        ("authorization: Basic abc\r\n".to_owned(), 401, "auth.missing", Some(asks)),
        (bearer(""), 401, "auth.token_malformed", Some(refuses)),
        (bearer("a.b"), 401, "auth.token_malformed", Some(refuses)),
        (bearer(&none), 401, "auth.algorithm", Some(refuses)),
        (bearer(&format!("{good}=")), 401, "auth.token_malformed", Some(refuses)),
        (
            bearer(&hs256("{\"alg\":\"HS256\"}", &claims(""), &SECRET.replace('0', "1"))),
            401,
            "auth.signature",
            Some(refuses),
        ),
        (bearer(&hs256("{\"alg\":\"HS256\",\"kid\":\"../../etc/passwd\"}", &claims(""), SECRET)), 200, "", None),
        (bearer(&hs256("{\"alg\":\"HS256\"}", &expired, SECRET)), 401, "auth.expired", Some(refuses)),
        (
            bearer(&hs256("{\"alg\":\"HS256\"}", &claims("\"aud\":\"other\""), SECRET)),
            401,
            "auth.audience",
            Some(refuses),
        ),
        (
            bearer(&hs256("{\"alg\":\"HS256\"}", &claims("\"iss\":\"other\""), SECRET)),
            401,
            "auth.issuer",
            Some(refuses),
        ),
        (
            bearer(&hs256("{\"alg\":\"HS256\"}", &claims("\"nbf\":4102444800"), SECRET)),
            401,
            "auth.not_yet",
            Some(refuses),
        ),
        (bearer(&good).repeat(2), 401, "auth.malformed", Some(refuses)),
        (bearer(&"A".repeat(8_193)), 401, "auth.token_malformed", Some(refuses)),
        (bearer(&good), 200, "", None),
    ] {
        let response = get(&mut client, &fields);
        assert_eq!(outcome(&response), (wanted, code.to_owned()), "{fields}");
        assert_eq!(response.field("www-authenticate"), challenge, "{fields}");
    }
}

#[test]
fn a_remembered_token_ends_when_it_says() {
    let folder = Folder::new();
    folder.write("secret", SECRET);
    let jwt = "{ secret_file: secret, issuer: https://issuer.example, audience: api, clock_skew: 0ms }";
    let leat = gateway(folder, &format!("  users: {{ jwt: {jwt} }}"), "users");
    let mut client = leat.connect();
    let end_s = now_s() + 2;
    let claims = format!("{{\"iss\":\"https://issuer.example\",\"aud\":\"api\",\"exp\":{end_s}}}");
    let token = bearer(&hs256("{\"alg\":\"HS256\"}", &claims, SECRET));
    loop {
        let before_s = now_s();
        let response = get(&mut client, &token);
        // The second may have turned while the request was under way.
        match response.status {
            200 => assert!(before_s < end_s, "{before_s} of {end_s}"),
            _ => {
                assert_eq!(outcome(&response), (401, "auth.expired".to_owned()));
                assert!(now_s() >= end_s);
                break;
            }
        }
        std::thread::yield_now();
    }
}

#[test]
fn keys_come_from_files_in_both_forms_and_from_the_environment() {
    let key = Key::new("k");
    let folder = Folder::new();
    folder.write("keys.json", set(&[&key]));
    let rules = "issuer: https://issuer.example, audience: api";
    let leat = gateway(folder, &format!("  users: {{ jwt: {{ keys_file: keys.json, {rules} }} }}"), "users");
    assert_eq!(get(&mut leat.connect(), &bearer(&key.sign(&claims("")))).status, 200);
    let stranger = Key::new("k").sign(&claims(""));
    assert_eq!(outcome(&get(&mut leat.connect(), &bearer(&stranger))), (401, "auth.signature".to_owned()));
    let unknown = Key::new("other").sign(&claims(""));
    assert_eq!(outcome(&get(&mut leat.connect(), &bearer(&unknown))), (401, "auth.key_unknown".to_owned()));

    let folder = Folder::new();
    folder.write(
        "leat.yaml",
        format!(
            "listeners: 127.0.0.1:0\nworkers: 1\nauth: {{ users: {{ jwt: {{ secret_env: SOME_SECRET, {rules} }} }} }}\n\
         routes: [{{ auth: users, respond: {{ body: in }} }}]\n"
        ),
    );
    let mut command = Command::new(leat_testkit::binary());
    command.args(["gateway", "leat.yaml"]).env("SOME_SECRET", SECRET);
    let mut leat = Leat::spawn_by(folder, command);
    let line = leat.wait_log("listening", |line| line.contains("\"event\":\"listening\""));
    let address = line.split("\"address\":\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let token = hs256("{\"alg\":\"HS256\"}", &claims(""), SECRET);
    assert_eq!(get(&mut leat_testkit::Client::connect(address), &bearer(&token)).status, 200);
}

#[test]
fn claims_go_upstream_and_nobody_else_can_send_them() {
    let key = Key::new("k");
    let folder = Folder::new();
    folder.write("keys.json", set(&[&key]));
    let peer = upstream(3);
    let jwt = "{ keys_file: keys.json, issuer: https://issuer.example, audience: api, \
               headers: { x-user: sub, x-org: org.id, x-roles: roles, x-note: note } }";
    let leat = proxy(folder, &format!("  users: {{ jwt: {jwt} }}"), "users", &peer);
    let mut client = leat.connect();
    let token = key.sign(&claims("\"org\":{\"id\":7},\"roles\":[\"a\",\"b\"],\"note\":\"x\\r\\nx-admin: 1\""));
    let forged = "x-user: root\r\nX-Org: 1\r\nx-note: forged\r\nx_user: root\r\nconnection: x-user\r\n";
    for fields in [bearer(&token), format!("{forged}{}", bearer(&token)), bearer(&token)] {
        assert_eq!(get(&mut client, &fields).status, 200);
    }
    drop(client);
    let received = peer.finish().concat();
    for (name, wanted) in [
        ("x-user", vec!["x-user: ann"; 3]),
        ("x-org", vec!["x-org: 7"; 3]),
        ("x-roles", vec!["x-roles: a,b"; 3]),
        ("x-note", vec![]),
        ("x-admin", vec![]),
        ("x_user", vec![]),
    ] {
        assert_eq!(lines_of(&received, name), wanted, "{name}");
    }
    assert_eq!(lines_of(&received, "authorization").len(), 3, "passes unless it is hidden");
}

#[test]
fn trailers_cannot_say_either_who_a_client_is() {
    let key = Key::new("k");
    for (trailers, wanted) in [("x-sum: 1\r\n", "0\r\nx-sum: 1\r\n\r\n"), ("x-sum: 1\r\nX_User: root\r\n", "0\r\n\r\n")]
    {
        let folder = Folder::new();
        folder.write("keys.json", set(&[&key]));
        let reply = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        let peer = Peer::listen([Script::new().expect_until(wanted).send(reply)]);
        let jwt = "{ keys_file: keys.json, issuer: https://issuer.example, audience: api, headers: { x-user: sub } }";
        let leat = proxy(folder, &format!("  users: {{ jwt: {jwt} }}"), "users", &peer);
        let mut client = leat.connect();
        let token = bearer(&key.sign(&claims("")));
        client.send(format!(
            "POST / HTTP/1.1\r\nhost: h\r\nte: trailers\r\n{token}transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n{trailers}\r\n"
        ));
        assert_eq!(client.response().status, 200);
        drop(client);
        let received = peer.finish().concat();
        assert!(received.ends_with(wanted.as_bytes()), "{}", String::from_utf8_lossy(&received));
    }
}

#[test]
fn a_client_that_is_known_may_still_not_do_all() {
    let key = Key::new("k");
    let folder = Folder::new();
    folder.write("keys.json", set(&[&key]));
    let jwt = "{ keys_file: keys.json, issuer: https://issuer.example, audience: api }";
    let route = "{ any: users, claims: { scope: orders:write, org.role: [admin, editor] } }";
    let leat = gateway(folder, &format!("  users: {{ jwt: {jwt} }}"), route);
    let mut client = leat.connect();
    for (more, wanted, code) in [
        ("\"scope\":\"orders:read orders:write\",\"org\":{\"role\":\"editor\"}", 200, ""),
        ("\"scope\":\"orders:write\",\"org\":{\"role\":[\"x\",\"admin\"]}", 200, ""),
        ("\"scope\":\"orders:read\",\"org\":{\"role\":\"admin\"}", 403, "auth.claims"),
        ("\"scope\":\"orders:write\"", 403, "auth.claims"),
        ("\"scope\":\"orders:writes\",\"org\":{\"role\":\"admin\"}", 403, "auth.claims"),
        ("", 403, "auth.claims"),
    ] {
        let response = get(&mut client, &bearer(&key.sign(&claims(more))));
        assert_eq!(outcome(&response), (wanted, code.to_owned()), "{more}");
        let challenge = (wanted == 403).then_some("Bearer realm=\"users\", error=\"insufficient_scope\"");
        assert_eq!(response.field("www-authenticate"), challenge);
    }
}

/// Users with one API key each, and `carol`, who has a token.
#[test]
fn limits_count_whom_auth_has_found() {
    let folder = Folder::new();
    folder.write("secret", SECRET);
    let config = format!(
        "listeners: 127.0.0.1:0
workers: 1
auth:
  keys: {{ api_keys: {{ keys: {{ ann: {}, bob: {} }} }} }}
  tokens: {{ jwt: {{ secret_file: secret }} }}
rate_limits:
  users: {{ rate: 2/h, key: user }}
  teams: {{ rate: 3/h, key: \"claim:org.id\" }}
routes:
  - {{ match: {{ path: / }}, auth: [keys, tokens], rate_limits: users, respond: {{ body: in }} }}
  - {{ match: {{ path: /team }}, auth: tokens, rate_limits: teams, respond: {{ body: in }} }}
",
        sha256("a-key"),
        sha256("b-key")
    );
    let leat = Leat::gateway_in(folder, &config, 1);
    let mut client = leat.connect();
    let team = |org: &str, nonce: u32| {
        let claims = claims(&format!("\"org\":{{\"id\":{org}}},\"jti\":{nonce}"));
        bearer(&hs256("{\"alg\":\"HS256\"}", &claims, SECRET))
    };
    let mut ask = |path: &str, fields: &str| {
        client.send(format!("GET {path} HTTP/1.1\r\nhost: h\r\n{fields}\r\n"));
        outcome(&client.response())
    };
    let (limited, unknown) = ((429, "limit.rate".to_owned()), (401, "auth.credentials".to_owned()));
    for _ in 0..2 {
        assert_eq!(ask("/", "x-api-key: a-key\r\n").0, 200);
        // Whoever is not known is counted under nobody's name.
        assert_eq!(ask("/", "x-api-key: c-key\r\n"), unknown);
    }
    assert_eq!(ask("/", "x-api-key: a-key\r\n"), limited);
    assert_eq!(ask("/", "x-api-key: b-key\r\n").0, 200, "another user's requests are not ann's");
    // Every token of a team counts for it; 7 and "7" are two teams.
    for nonce in 0..3 {
        assert_eq!(ask("/team", &team("7", nonce)).0, 200);
    }
    assert_eq!(ask("/team", &team("7", 3)), limited);
    assert_eq!(ask("/team", &team("\"7\"", 4)).0, 200);
}
