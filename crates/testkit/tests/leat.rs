//! The built gateway as a child process: started, asked, reloaded, ended.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use leat_testkit::{Folder, Leat, Peer, Script, built, eventually, skip};

const ONE: &str = "listeners: [127.0.0.1:0]\naccess_log: \"off\"\nroutes:\n  - respond: { body: one }\n";

fn is_built() -> bool {
    let is_built = built().is_some();
    if !is_built {
        skip("the built gateway", "run: cargo build -p leat-cli");
    }
    is_built
}

#[test]
fn a_gateway_answers_reloads_and_ends() {
    if !is_built() {
        return;
    }
    let mut leat = Leat::gateway(ONE, 1);
    assert_eq!(leat.connect().get("/").response().text(), "one");

    leat.rewrite(&ONE.replace("one", "two"));
    leat.reload();
    eventually("the new reply", || (leat.connect().get("/").response().text() == "two").then_some(()));

    leat.terminate();
    assert!(leat.wait().success(), "{:?}", leat.log());
}

#[test]
fn a_gateway_passes_on_what_a_scripted_peer_says() {
    if !is_built() {
        return;
    }
    let peer = Peer::listen([Script::new().expect_head().send("HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nhi")]);
    let config = format!(
        "listeners: [127.0.0.1:0]\naccess_log: \"off\"\nroutes:\n  - proxy: {{ upstream: \"http://{}\" }}\n",
        peer.address()
    );
    let leat = Leat::gateway(&config, 1);
    let response = leat.connect().get("/").response();
    assert_eq!((response.status, response.text()), (201, "hi"));
    let received = peer.finish();
    assert!(received[0].starts_with(b"GET / HTTP/1.1\r\n"), "{}", received[0].escape_ascii());
}

#[test]
fn a_command_runs_to_its_end() {
    if !is_built() {
        return;
    }
    let folder = Folder::new();
    folder.write("wrong.yaml", "routs: []\n");
    let output = Leat::run(folder.path(), &["gateway", "wrong.yaml", "--check"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("wrong.yaml:1:1"), "{output:?}");
}
