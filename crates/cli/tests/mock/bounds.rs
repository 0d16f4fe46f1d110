//! What a request may cost a mock.

use leat_testkit::{Client, Leat};

use super::support::{call, error, folder, mock};

const PROTO: &str = r#"syntax = "proto3";
package deep.v1;
service Trees {
  rpc Shown(Tree) returns (Tree);
  rpc Asked(Tree) returns (Tree);
  rpc Fixed(Tree) returns (Tree);
}
message Tree { int32 id = 1; repeated Tree trees = 2; }
"#;

const RULES: &str = r#"rules:
  - { method: deep.v1.Trees/Shown, reply: { message: { id: "{{ request.trees.size() }}" } } }
  - { method: deep.v1.Trees/Asked, match: { cel: "request.trees.size() > 5" }, reply: { message: { id: 5 } } }
  - { method: deep.v1.Trees/Fixed, reply: { message: { id: 6 } } }
"#;

/// The most memory that the process has had, in bytes.
fn peak_bytes(leat: &Leat) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", leat.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// `Tree { trees: [{ id: 7 }, …] }`, so many.
fn trees(count: usize) -> Vec<u8> {
    [0x12, 2, 0x08, 7].repeat(count)
}

/// HTTP status and body of a unary Connect call in binary form.
fn ask(leat: &Leat, method: &str, body: &[u8]) -> (u16, String) {
    let head = format!(
        "POST /deep.v1.Trees/{method} HTTP/1.1\r\nhost: h\r\ncontent-type: application/proto\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut client: Client = leat.connect();
    let reply = client.send([head.as_bytes(), body].concat()).response_to("POST");
    (reply.status, String::from_utf8_lossy(&reply.body).into_owned())
}

#[test]
fn a_message_that_would_take_too_much_memory_decoded_is_refused_before() {
    let folder = folder(RULES);
    folder.write("protos/deep.proto", PROTO);
    let leat = mock(folder, &[]);
    let few = trees(20_000);
    assert_eq!(ask(&leat, "Shown", &few), (200, "\u{8}\u{fffd}\u{fffd}\u{1}".to_owned()));
    let before = peak_bytes(&leat);
    let many = trees(1_000_000);
    for method in ["Shown", "Asked"] {
        let (status, body) = ask(&leat, method, &many);
        assert_eq!(status, 429, "{method}: {body}");
        assert!(body.contains("resource_exhausted") && body.contains("decoded_bytes_max"), "{method}: {body}");
    }
    // The request itself is here a few times; 850 MB was what it became.
    let grown = peak_bytes(&leat).saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more");
    assert_eq!(ask(&leat, "Fixed", &many).0, 200, "who does not look at it need not care");
    // The largest that is taken stays within the bound.
    let (status, body) = ask(&leat, "Shown", &trees(110_000));
    assert_eq!(status, 200, "{body}");
    let grown = peak_bytes(&leat).saturating_sub(before);
    assert!(grown < 160 << 20, "{grown} bytes more");
    let json = call(&leat, "Get", "", r#"{"id":"5"}"#);
    assert_eq!(error(&json).0, "unimplemented", "the other service has no rules here");
}
