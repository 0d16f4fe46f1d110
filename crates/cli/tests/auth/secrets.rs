//! What is secret stands in no output: not where a configuration is checked, not in logs, errors or metrics.

use leat_testkit::{Client, Folder, Leat};

use crate::support::{get, htpasswd, sha256};

const SECRET: &str = "very-secret-0123456789abcdef-text";

fn config(routes: &str) -> String {
    format!(
        "listeners: 127.0.0.1:0\nadmin: 127.0.0.1:0\nworkers: 1\nauth:\n  users: {{ jwt: {{ secret_file: secret, issuer: i, audience: a }} }}\n\
         \x20 staff: {{ basic: htpasswd }}\n  programs: {{ api_keys: {{ keys: {{ shop: {} }} }} }}\n{routes}\n",
        sha256("key-of-the-shop")
    )
}

/// What must not be seen, and how each is called.
fn secrets(password_line: &str) -> [(&'static str, String); 5] {
    let hash = password_line.trim().split_once(':').unwrap().1.to_owned();
    [
        ("the token secret", SECRET.to_owned()),
        ("the password's hash", hash),
        ("the API key's hash", sha256("key-of-the-shop")),
        ("an API key", "key-of-the-shop".to_owned()),
        ("a password", "b3BlbiBzZXNhbWU".to_owned()),
    ]
}

#[test]
fn secrets_are_in_no_output() {
    let line = htpasswd();
    let folder = Folder::new();
    folder.write("secret", SECRET);
    folder.write("htpasswd", &line);
    let routes = "routes: [{ auth: [users, staff, programs], respond: { body: in } }]";
    folder.write("leat.yaml", config(routes));
    let mut seen = Vec::new();
    for arguments in [&["gateway", "leat.yaml", "--check"][..], &["check", "leat.yaml"]] {
        let output = Leat::run(folder.path(), arguments);
        seen.push(format!("{output:?}"));
    }
    let mut leat = Leat::gateway_in(folder, &config(routes), 1);
    let mut client = leat.connect();
    for fields in [
        "x-api-key: key-of-the-shop\r\n",
        "x-api-key: key-of-the-shop-and-more\r\n",
        // ann:open sesame, and a wrong one.
        "authorization: Basic YW5uOm9wZW4gc2VzYW1l\r\n",
        "authorization: Basic YW5uOm9wZW4gc2VzYW1lIQ==\r\n",
        "authorization: Bearer very-secret-0123456789abcdef-text\r\n",
    ] {
        seen.push(get(&mut client, fields).text().to_owned());
    }
    seen.push(Client::connect(leat.admin()).get("/metrics").response().text().to_owned());
    leat.reload();
    leat.wait_log("reload", |line| line.contains("\"event\":\"reloaded\""));
    leat.terminate();
    leat.wait();
    seen.extend(leat.log());
    assert!(seen.iter().any(|text| text.contains("auth.credentials")), "the log tells of the refusals");
    for (what, secret) in secrets(&line) {
        for text in &seen {
            assert!(!text.contains(&secret), "{what} stands in {text}");
        }
    }
}

#[test]
fn a_wrong_configuration_says_what_is_wrong_and_shows_no_secret() {
    for (what, auth, files, wanted) in [
        (
            "a secret where a file should be",
            format!("u: {{ jwt: {{ secret_env: \"{SECRET}\" }} }}"),
            vec![],
            "not the name of a variable",
        ),
        (
            "a variable that is not set",
            "u: { jwt: { secret_env: NO_SUCH_VARIABLE_HERE } }".into(),
            vec![],
            "no variable of this name",
        ),
        ("a missing file", "u: { jwt: { secret_file: nowhere } }".into(), vec![], "`nowhere` does not exist"),
        (
            "a short secret",
            "u: { jwt: { secret_file: s } }".into(),
            vec![("s", "very-secret")],
            "shorter than 32 bytes",
        ),
        (
            "a key in place of its hash",
            format!("u: {{ api_keys: {{ keys: {{ a: \"{SECRET}\" }} }} }}"),
            vec![],
            "not a SHA-256",
        ),
        (
            "a key file with keys",
            "u: { api_keys: { file: k } }".into(),
            vec![("k", "a:very-secret-key")],
            "line 1 of the file `k`: this is not a SHA-256",
        ),
        ("a secret in place of a scheme", format!("u: {SECRET}"), vec![], "a text that is not shown"),
        (
            "a key in place of owners",
            format!("u: {{ api_keys: {{ keys: {SECRET} }} }}"),
            vec![],
            "a text that is not shown",
        ),
        ("no keys", "u: { api_keys: {} }".into(), vec![], "nobody would be let in"),
        (
            "plain passwords",
            "u: { basic: p }".into(),
            vec![("p", "ann:very-secret")],
            "line 1 of the file `p`: the password is not in bcrypt",
        ),
        (
            "a JWK set without keys",
            "u: { jwt: { keys_file: k } }".into(),
            vec![("k", "{\"keys\":[]}")],
            "has no key that",
        ),
        ("an unknown algorithm", "u: { jwt: { keys_file: k, algorithms: none } }".into(), vec![("k", "")], "anybody's"),
        (
            "a password in a URL",
            "u: { jwt: { jwks_url: \"https://me:very-secret@i.example/x\" } }".into(),
            vec![],
            "user information",
        ),
        (
            "no client is asked",
            "u: { client_certificate: {} }".into(),
            vec![],
            "no listener asks clients for certificates",
        ),
        ("an unknown scheme", "v: { basic: nowhere }".into(), vec![], "unknown scheme `u`"),
        ("two kinds", "u: { basic: p, api_keys: {} }".into(), vec![("p", "")], "beside"),
    ] {
        let folder = Folder::new();
        for (name, content) in files {
            folder.write(name, content);
        }
        folder.write("leat.yaml", format!("auth:\n  {auth}\nroutes: [{{ auth: u, respond: {{ body: in }} }}]\n"));
        let output = Leat::run(folder.path(), &["gateway", "leat.yaml", "--check"]);
        let text = format!("{output:?}");
        assert!(text.contains(wanted), "{what}: {text}");
        assert!(text.contains("leat.yaml:"), "{what}: with a place: {text}");
        assert!(!text.contains("very-secret"), "{what}: {text}");
    }
}
