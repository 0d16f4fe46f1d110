//! What the commands print, and what they exit with.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use leat_testkit::{Folder, Leat, binary, skip};

const GOOD: &str = "listeners: 127.0.0.1:0\nroutes: [{ respond: { body: hi } }]\n";
const BAD: &str = "listeners: 127.0.0.1:0
workers: lots
routes:
  - match: { path: /a }
    respond: { status: 700, bdy: x }
  - match: { path: /a }
    proxy: nowhere
  - match: { path: /f }
    files: ./not-there
  - match: { prefix: b }
    redirect: /c
upstreams:
  up: { endpoints: \"ftp://x\" }
";

#[test]
fn every_mistake_is_printed_with_its_place_and_the_fix() {
    let folder = Folder::new();
    folder.write("bad.yaml", BAD);
    for arguments in [&["gateway", "bad.yaml", "--check"][..], &["check", "bad.yaml"], &["gateway", "bad.yaml"]] {
        let output = Leat::run(folder.path(), arguments);
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        let places: Vec<&str> = output.stderr.lines().filter_map(|line| line.strip_prefix("bad.yaml:")).collect();
        let wanted = [
            "2:10: `workers`",
            "5:24: `status` must be from 200 to 599",
            "5:29: unknown key `bdy`",
            "6:5: this route is never reached",
            "7:12: unknown upstream `nowhere`",
            "9:12: `./not-there` does not exist",
            "10:22: `prefix`: a path starts with `/`",
            "13:20: unknown scheme `ftp`",
        ];
        for (place, wanted) in places.iter().zip(wanted) {
            assert!(place.starts_with(wanted), "{place} is not {wanted}");
        }
        assert!(output.stderr.ends_with("bad.yaml: 8 problems to mend\n"), "{}", output.stderr);
        assert_eq!(output.stderr.matches("\n  help: ").count(), 8);
    }
}

#[test]
fn certificates_are_looked_into_before_anything_starts() {
    let folder = Folder::new();
    let make = || rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
    let (one, two) = (make(), make());
    folder.write("one.pem", one.cert.pem());
    folder.write("one.key", one.signing_key.serialize_pem());
    folder.write("two.key", two.signing_key.serialize_pem());
    folder.write("broken.pem", "-----BEGIN CERTIFICATE-----\nZ2FyYmFnZQ==\n-----END CERTIFICATE-----\n");
    let config = |cert: &str, key: &str, ca: &str| {
        format!(
            "listeners:\n  - address: 127.0.0.1:0\n    tls:\n      certificates:\n        - {{ cert: {cert}, key: {key} }}\n\
             routes: [{{ match: {{ prefix: / }}, proxy: up }}]\nupstreams:\n  up: {{ endpoints: \"https://a.test\", tls: {{ ca: {ca} }} }}\n"
        )
    };
    folder.write("good.yaml", config("one.pem", "one.key", "one.pem"));
    assert_eq!(Leat::run(folder.path(), &["check", "good.yaml"]).code, Some(0));
    folder.write("bad.yaml", config("one.pem", "two.key", "broken.pem"));
    for arguments in [&["check", "bad.yaml"][..], &["gateway", "bad.yaml"]] {
        let output = Leat::run(folder.path(), arguments);
        assert_eq!(output.code, Some(2));
        assert!(
            output.stderr.contains("bad.yaml:5:11: ") && output.stderr.contains("key does not belong"),
            "{}",
            output.stderr
        );
        assert!(output.stderr.contains("bad.yaml:8:3: upstream up: "), "{}", output.stderr);
    }
}

#[test]
fn several_files_are_looked_over_at_once() {
    let folder = Folder::new();
    folder.write("good.yaml", GOOD);
    folder.write("bad.yaml", "nonsense: 1\n");
    let output = Leat::run(folder.path(), &["check", "good.yaml", "bad.yaml", "none.yaml"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), "good.yaml: good; 1 listener, 1 route, 0 upstreams\n"));
    assert!(output.stderr.contains("bad.yaml:1:1: unknown key `nonsense`"), "{}", output.stderr);
    assert!(output.stderr.contains("none.yaml: there is no such file"), "{}", output.stderr);
    assert_eq!(Leat::run(folder.path(), &["gateway", "good.yaml", "--check"]).code, Some(0));
}

#[test]
fn plugins_are_looked_over_as_one_plan() {
    let folder = Folder::new();
    let plugin = |name: &str, more: &str| {
        format!(
            "import {{ middleware }} from 'leat/middleware';\nexport default middleware({{ name: '{name}', scope: 'call', {more} }});\n"
        )
    };
    folder.write("a.mjs", plugin("a", "onRequest() {}"));
    folder.write("b.mts", plugin("b", "before: 'a', onResponse(): undefined {}"));
    folder.write("c.mjs", plugin("c", "onRequst() {}"));
    let output = Leat::run(folder.path(), &["check", "--plugins", "a.mjs", "b.mts"]);
    let names: Vec<&str> = output.stdout.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!((output.code, names), (Some(0), vec!["name", "b", "a", "(send)"]), "{}", output.stderr);
    let output = Leat::run(folder.path(), &["check", "--plugins", "a.mjs", "c.mjs"]);
    assert_eq!(output.code, Some(2));
    let wanted = "c.mjs:2:16: MiddlewareError: middleware \"c\" has no \"onRequst\"; hooks are onRequest, onResponse";
    assert!(output.stderr.contains(wanted), "{}", output.stderr);
    let output = Leat::run(folder.path(), &["check", "--plugins", "b.mts"]);
    let wanted = "middleware[0] \"b\" has before: \"a\", and there is none";
    assert!(output.code == Some(2) && output.stderr.contains(wanted), "{}", output.stderr);
}

#[test]
fn bad_usage_exits_with_2_and_says_how_to_do_it() {
    let folder = Folder::new();
    for arguments in [
        &[][..],
        &["gatewy"],
        &["gateway"],
        &["gateway", "a", "b"],
        &["gateway", "a", "--workers", "0"],
        &["completions", "x"],
        &["doctor", "a", "b"],
        &["doctor", "--yaml"],
    ] {
        let output = Leat::run(folder.path(), arguments);
        assert_eq!(output.code, Some(2), "{arguments:?}");
        assert!(output.stderr.contains("--help"), "{arguments:?}: {}", output.stderr);
    }
}

#[test]
fn help_version_and_completions_are_there() {
    let folder = Folder::new();
    for (arguments, wanted) in [
        (&["--help"][..], "Exit codes: 0 done, 1 failed, 2 bad usage or configuration."),
        (&["gateway", "--help"], "leat gateway leat.yaml --check"),
        (&["check", "--help"], "leat check leat.yaml other.yaml"),
        (&["demo", "--help"], "--listen"),
        (&["doctor", "--help"], "leat doctor apps/web --json"),
        (&["completions", "--help"], "leat completions bash"),
        (&["version"], concat!("leat ", env!("CARGO_PKG_VERSION"), "\n")),
        (&["--version"], concat!("leat ", env!("CARGO_PKG_VERSION"), "\n")),
        (&["completions", "bash"], "complete -F _leat"),
        (&["completions", "zsh"], "#compdef leat"),
        (&["completions", "fish"], "complete -c leat"),
    ] {
        let output = Leat::run(folder.path(), arguments);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(output.stdout.contains(wanted), "{arguments:?}: {}", output.stdout);
    }
}

#[test]
fn doctor_tells_of_an_app_in_words_and_in_json() {
    let folder = Folder::new();
    folder.write("app/package.json", r#"{ "name": "shop", "dependencies": { "express": "^4.18.0" } }"#);
    let output = Leat::run(folder.path(), &["doctor", "app"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    assert!(output.stdout.starts_with("shop (.), Express ^4.18.0\n"), "{}", output.stdout);
    assert!(output.stdout.contains("leat/express4"), "{}", output.stdout);
    let output = Leat::run(folder.path(), &["doctor", "app", "--json"]);
    assert!(output.stdout.contains(r#""module":"leat/express4""#), "{}", output.stdout);
    folder.write("package.json", r#"{ "dependencies": { "express": "^3.0.0" } }"#);
    assert_eq!(Leat::run(folder.path(), &["doctor"]).code, Some(1));
    let output = Leat::run(folder.path(), &["doctor", "nowhere"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""));
    assert!(output.stderr.contains("write the folder of an app"), "{}", output.stderr);
}

#[test]
fn a_busy_port_exits_with_1_and_names_the_address() {
    let folder = Folder::new();
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = busy.local_addr().unwrap().to_string();
    folder.write("listener.yaml", format!("listeners: {address}\nroutes: [{{ respond: {{ body: hi }} }}]\n"));
    folder.write(
        "admin.yaml",
        format!("listeners: 127.0.0.1:0\nadmin: {address}\nroutes: [{{ respond: {{ body: hi }} }}]\n"),
    );
    for arguments in [&["gateway", "listener.yaml"][..], &["gateway", "admin.yaml"], &["demo", "--listen", &address]] {
        let output = Leat::run(folder.path(), arguments);
        assert_eq!(output.code, Some(1), "{arguments:?}");
        assert!(output.stderr.contains(&address), "{arguments:?}: {}", output.stderr);
    }
}

#[test]
fn a_signal_ends_the_process_cleanly_at_any_time() {
    for ms in [1, 3, 6, 10, 20, 40] {
        let folder = Folder::new();
        folder.write("leat.yaml", GOOD);
        let mut leat = Leat::spawn(folder, &["gateway", "leat.yaml"]);
        std::thread::sleep(Duration::from_millis(ms));
        leat.terminate();
        let status = leat.wait();
        // Before its first instruction it cannot catch a signal yet; it has done nothing then either.
        let unborn = status.signal() == Some(15) && leat.log().is_empty();
        assert!(status.success() || unborn, "after {ms} ms: {status}");
    }
    let mut leat = Leat::gateway(GOOD, 1);
    leat.terminate();
    assert!(leat.wait().success());
}

/// Ends the process when the test does.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_line_of_the_demo_works() {
    if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
        return skip("every_line_of_the_demo_works", "curl is not installed");
    }
    let folder = Folder::new();
    let mut demo = Running(
        Command::new(binary())
            .args(["demo", "--listen", "127.0.0.1:0"])
            .env("TMPDIR", folder.path())
            // What the app on Node.js shows is tried where the npm package is built: tools/demo.test.mjs.
            .env("LEAT_PACKAGE", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let lines = BufReader::new(demo.0.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut tried = 0;
    let mut missing = None;
    for line in lines.take_while(|line| !line.starts_with("Ctrl-C")) {
        if line.starts_with("No Node.js app: ") {
            missing = Some(line.clone());
        }
        let Some(line) = line.strip_prefix("  curl ") else { continue };
        let (command, _) = line.split_once("   ").unwrap_or_else(|| panic!("no remark behind `{line}`"));
        let output = Command::new("sh").args(["-c", &format!("curl -sS --max-time 5 {command}")]).output().unwrap();
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        // Events go on until somebody has seen enough.
        let ended = output.status.success() || command.contains("/events") && output.status.code() == Some(28);
        assert!(ended, "curl {command}: {}: {errors}", output.status);
        let wanted = match command {
            _ if command.contains("/any/path") => "\"target\":\"/any/path?q=1\"",
            _ if command.contains("/echo") => "some bytes",
            _ if command.contains("/events") => "id: 1\ndata: ",
            _ if command.contains("/partners") && command.contains(" -d ") => "say idempotency-key",
            _ if command.contains("mill-key") => "[\"x-partner\",\"mill\"]",
            _ if command.contains("/partners") => "\"code\":\"auth.missing\"",
            _ if command.contains("/upstreams") => "\"breaker\"",
            _ if command.contains("/shop.v1.Orders/") => "\"item\":\"flour\"",
            _ if command.contains("/mock/calls") => "\"rule\": \"flour\"",
            _ if command.contains("/metrics") => "leat_requests_total",
            _ if command.contains("--http2-prior-knowledge") => "HTTP/2 200",
            _ if command.contains("/notices --json") => "HTTP/1.1 201 Created",
            _ if command.contains("/notices") => "[{\"id\":1,\"text\":\"the mill is open\"",
            _ => "Hello from Leat",
        };
        assert!(text.contains(wanted), "curl {command}: {text}");
        tried += 1;
    }
    assert_eq!(tried, 15);
    let missing = missing.unwrap();
    assert!(missing.contains(folder.path().to_str().unwrap()) && missing.contains("make build"), "{missing}");
}
