//! Who is let in by address.

use leat_testkit::{Leat, Peer};

use crate::support::{OK, answers, config, is_problem, url};

fn gateway(root: &str, access: &str) -> Leat {
    let config = format!(
        "listeners: 127.0.0.1:0\nworkers: 1\n{root}\nroutes:\n  - {{ name: r, access: {{ {access} }}, respond: {{ body: in }} }}\n"
    );
    Leat::gateway(&config, 1)
}

#[test]
fn a_client_is_let_in_by_its_address() {
    for (access, wanted) in [
        ("allow: 127.0.0.0/8", 200),
        ("allow: [10.0.0.0/8, 127.0.0.1]", 200),
        ("allow: 10.0.0.0/8", 403),
        ("allow: \"::/0\"", 403),
        ("deny: 127.0.0.1", 403),
        ("deny: 10.0.0.0/8", 200),
        // IPv4 written as IPv6 is what it is.
        ("allow: \"::ffff:127.0.0.1\"", 200),
        ("deny: \"::ffff:127.0.0.0/104\"", 403),
        ("deny: \"::ffff:0:0/96\"", 403),
        ("allow: 127.0.0.0/8, deny: 127.0.0.1", 403),
    ] {
        let leat = gateway("", access);
        let response = leat.connect().get("/").response();
        match wanted {
            200 => assert_eq!((response.status, response.text()), (200, "in"), "{access}"),
            _ => is_problem(&response, 403, "access.address"),
        }
    }
}

#[test]
fn only_trusted_hops_say_where_a_client_is() {
    let trusting = |hops: u32, style: &str| format!("forwarded: {{ trusted_hops: {hops}, style: {style} }}");
    for (root, fields, wanted) in [
        (String::new(), "x-forwarded-for: 10.0.0.1\r\n", 403),
        (trusting(1, "x_forwarded"), "x-forwarded-for: 10.0.0.1\r\n", 200),
        (trusting(1, "x_forwarded"), "x-forwarded-for: 10.0.0.1, 192.0.2.1\r\n", 403),
        (trusting(1, "x_forwarded"), "x-forwarded-for: 10.0.0.1\r\nx-forwarded-for: 192.0.2.1\r\n", 403),
        (trusting(2, "x_forwarded"), "x-forwarded-for: 192.0.2.9, 10.0.0.1, 192.0.2.1\r\n", 200),
        (trusting(2, "x_forwarded"), "x-forwarded-for: 10.0.0.1\r\n", 200),
        (trusting(1, "x_forwarded"), "x-forwarded-for: unknown\r\n", 403),
        (trusting(1, "x_forwarded"), "forwarded: for=10.0.0.1\r\n", 403),
        (trusting(1, "forwarded"), "forwarded: for=\"10.0.0.1:80\";proto=http\r\n", 200),
        (trusting(1, "forwarded"), "x-forwarded-for: 10.0.0.1\r\n", 403),
        (trusting(1, "x_forwarded"), "", 403),
    ] {
        let leat = gateway(&root, "allow: 10.0.0.0/8");
        let mut client = leat.connect();
        client.send(format!("GET / HTTP/1.1\r\nhost: h\r\n{fields}\r\n"));
        assert_eq!(client.response().status, wanted, "{root} {fields}");
    }
}

#[test]
fn nobody_who_is_refused_reaches_the_upstream() {
    let peer = Peer::listen([answers(OK, 1)]);
    let leat = Leat::gateway(&config(url(&peer), "", "", "access: { deny: 127.0.0.1 }", ""), 1);
    let mut client = leat.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nhi");
    is_problem(&client.response(), 403, "access.address");
    // The connection lives: what was refused is the request.
    is_problem(&client.get("/").response(), 403, "access.address");
    assert_eq!(peer.connections(), 0);
}
