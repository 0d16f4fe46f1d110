//! The testkit against itself: a scripted peer on one end, the raw client on the other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use leat_testkit::{Client, Counting, Folder, Gate, Peer, Script};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn responses_of_every_framing_are_read() {
    for (bytes, method, status, body) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", "GET", 200, "hi"),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\na\r\n0123456789\r\n0\r\n\r\n",
            "GET",
            200,
            "hi0123456789",
        ),
        ("HTTP/1.1 200 OK\r\n\r\nto the end", "GET", 200, "to the end"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", "HEAD", 200, ""),
        ("HTTP/1.1 304 Not Modified\r\ncontent-length: 2\r\n\r\n", "GET", 304, ""),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "POST", 204, ""),
    ] {
        let peer = Peer::listen([Script::new().expect_head().send(bytes).close()]);
        let mut client = Client::connect(peer.address());
        let response = client.get("/").response_to(method);
        assert_eq!((response.status, response.text()), (status, body), "{bytes:?}");
        client.expect_end();
        peer.finish();
    }
}

#[test]
fn trailers_and_interim_responses_are_kept_apart() {
    let bytes = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: 1\r\nx:2 \r\n\r\n0\r\nt: v\r\n\r\n";
    let peer = Peer::listen([Script::new().expect_head().send(bytes)]);
    let mut client = Client::connect(peer.address());
    let response = client.get("/").response();
    assert_eq!(response.interim, [103]);
    assert_eq!(response.fields_named("x"), ["1", "2"]);
    assert_eq!(response.trailers, [("t".to_owned(), b"v".to_vec())]);
}

#[test]
fn a_reset_is_told_from_a_close() {
    let peer = Peer::listen([Script::new().expect_head().reset(), Script::new().expect_head().close()]);
    for expected in [true, false] {
        let mut client = Client::connect(peer.address());
        client.get("/");
        assert_eq!(client.was_reset(), expected);
    }
    peer.wait_connections(2);
    peer.finish();
}

#[test]
fn a_peer_says_what_it_received() {
    let gate = Gate::new();
    let peer = Peer::listen([Script::new().expect("one").wait(&gate).send("two").expect_bytes(100_000).expect_end()]);
    let mut client = Client::connect(peer.address());
    client.send_pieces(["o", "ne"]);
    gate.open();
    assert_eq!(client.until("two"), b"two");
    client.send_bytes(100_000).close_write();
    client.expect_end();
    assert_eq!(peer.finish(), [b"one".to_vec()]);
}

#[test]
#[should_panic(expected = "expected \"GET\", got \"PUT\"")]
fn a_script_that_goes_wrong_fails_the_test() {
    let peer = Peer::listen([Script::new().expect("GET")]);
    Client::connect(peer.address()).send("PUT").rest();
    peer.finish();
}

#[test]
#[should_panic(expected = "the body ended after 2 of 5 bytes")]
fn a_body_that_is_cut_off_fails_the_test() {
    let peer = Peer::listen([Script::new().send("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhi").close()]);
    Client::connect(peer.address()).response();
}

#[test]
fn large_bodies_need_no_memory_on_either_side() {
    let count = 8 * 1024 * 1024;
    let peer = Peer::listen([Script::new().send_bytes(count).close()]);
    let mut client = Client::connect(peer.address());
    let (spent, ()) = Counting::count(|| {
        client.discard(count);
    });
    client.expect_end();
    assert!(spent.bytes < 1024 * 1024, "{spent:?}");
    peer.finish();
}

#[test]
fn allocations_are_counted_for_one_thread() {
    let (none, _) = Counting::count(|| 1 + 1);
    assert_eq!((none.count, none.bytes), (0, 0));
    let (two, _) = Counting::count(|| (Box::new([0u8; 100]), Vec::<u8>::with_capacity(28)));
    assert_eq!((two.count, two.bytes), (2, 128));
    let before = Counting::of_process();
    std::thread::spawn(|| drop(Vec::<u8>::with_capacity(1000))).join().unwrap();
    assert!(Counting::of_process().since(before).bytes >= 1000);
}

#[test]
fn a_folder_goes_away_with_its_value() {
    let folder = Folder::new();
    let path = folder.write("a/b.txt", "text");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "text");
    let root = folder.path().to_owned();
    drop(folder);
    assert!(!root.exists());
}
