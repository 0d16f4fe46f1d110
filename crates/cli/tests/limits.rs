//! Who is let in, and how the process behaves where something runs out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use leat_testkit::{Client, DEADLINE, Leat, Peer, Script, eventually};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use support::{Load, Manner, Upstream, metric};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// The lines of the access log, once there are `count`.
fn access_log(leat: &Leat, count: usize) -> Vec<String> {
    let path = leat.folder().path().join("access.log");
    eventually(&format!("{count} lines in the access log"), || {
        let lines: Vec<String> =
            std::fs::read_to_string(&path).unwrap_or_default().lines().map(str::to_owned).collect();
        (lines.len() >= count).then_some(lines)
    })
}

#[test]
fn a_proxy_header_names_the_client_to_upstreams_and_in_the_access_log() {
    let v1 = b"PROXY TCP4 203.0.113.7 192.0.2.1 4711 443\r\n".to_vec();
    let mut v2 = b"\r\n\r\n\0\r\nQUIT\n\x21\x21\x00\x24".to_vec();
    v2.extend("2001:db8::7".parse::<std::net::Ipv6Addr>().unwrap().octets());
    v2.extend("2001:db8::1".parse::<std::net::Ipv6Addr>().unwrap().octets());
    v2.extend([0x12, 0x67, 0x01, 0xbb]);
    for (header, forwarded, remote) in
        [(v1, "203.0.113.7", "203.0.113.7:4711"), (v2, "2001:db8::7", "[2001:db8::7]:4711")]
    {
        let upstream = Peer::listen([Script::new().expect_head().send(OK)]);
        let config = format!(
            "listeners: {{ address: '127.0.0.1:0', proxy_protocol: {{ trust: 127.0.0.0/8 }} }}
access_log: access.log
routes: [{{ proxy: 'http://{}' }}]
",
            upstream.address()
        );
        let leat = Leat::gateway(&config, 1);
        let mut client = leat.connect();
        client.send(&header).get("/");
        assert_eq!(client.response().text(), "ok");
        let log = access_log(&leat, 1);
        assert!(log[0].contains(&format!("\"remote\":\"{remote}\"")), "{}", log[0]);
        drop((client, leat));
        let received = upstream.finish();
        let head = String::from_utf8(received[0].clone()).unwrap().to_lowercase();
        assert!(head.contains(&format!("x-forwarded-for: {forwarded}\r\n")), "{head}");
    }
}

#[test]
fn a_connection_without_a_proxy_header_is_closed_where_one_is_due_and_refused_where_none_is() {
    let config = "listeners:
  - { address: '127.0.0.1:0', proxy_protocol: { trust: 127.0.0.1/32 } }
  - { address: '127.0.0.1:0', proxy_protocol: { trust: 192.0.2.1/32 } }
admin: 127.0.0.1:0
routes: [{ respond: { body: x } }]
";
    let mut leat = Leat::gateway(config, 2);
    let admin = leat.admin();
    let mut client = leat.connect();
    client.get("/");
    assert!(client.rest().is_empty(), "not a byte for who is not named");
    let refused = "leat_refusals_total{reason=\"proxy_header.invalid\",blame=\"peer\"}";
    eventually("the refusal to be counted", || (metric(admin, refused) == 1).then_some(()));
    let mut pretender = Client::connect(leat.address(1));
    pretender.send("PROXY TCP4 203.0.113.7 192.0.2.1 4711 443\r\n").get("/");
    let reply = pretender.rest();
    assert!(!reply.windows(5).any(|window| window == b" 200 "), "nobody but the load balancer says who a client is");
    assert_eq!(Client::connect(leat.address(1)).get("/").response().status, 200);
}

#[test]
fn a_unix_socket_is_listened_on_with_its_mode_and_drained() {
    let folder = leat_testkit::Folder::new();
    let path = folder.path().join("leat.sock");
    let config = format!(
        "listeners: ['unix:{},mode=600', '127.0.0.1:0']\nworkers: 2\ndrain: {{ grace: 0ms }}\n\
         routes: [{{ respond: {{ body: local }} }}]\n",
        path.display()
    );
    for _ in 0..2 {
        // The second process finds the file of the first and replaces it.
        let mut leat = Leat::gateway(&config, 1);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        for _ in 0..4 {
            let mut stream = UnixStream::connect(&path).unwrap();
            stream.set_read_timeout(Some(DEADLINE)).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
            let mut reply = String::new();
            stream.read_to_string(&mut reply).unwrap();
            assert!(reply.starts_with("HTTP/1.1 200 ") && reply.ends_with("local"), "{reply}");
        }
        leat.terminate();
        assert_eq!(leat.wait().code(), Some(0));
        assert!(UnixStream::connect(&path).is_err());
    }
}

#[test]
fn every_core_gets_connections() {
    let upstream = Upstream::start("up");
    let config =
        format!("listeners: 127.0.0.1:0\nworkers: 2\nroutes: [{{ proxy: 'http://{}' }}]\n", upstream.address());
    let leat = Leat::gateway(&config, 1);
    for _ in 0..40 {
        assert_eq!(leat.connect().get("/").response().text(), "up");
    }
    // One after the other: each core needs one connection of its own, and no more.
    assert_eq!(upstream.connections(), 2);
}

#[test]
fn connections_above_the_caps_are_told_so_and_places_become_free_again() {
    let config = "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
workers: 1
limits: { connections_max: 4, connections_per_client_max: 3 }
routes: [{ respond: { body: x } }]
";
    let mut leat = Leat::gateway(config, 1);
    let (admin, address) = (leat.admin(), leat.address(0));
    let mut own: Vec<Client> = (0..3).map(|_| leat.connect()).collect();
    for client in &mut own {
        assert_eq!(client.get("/").response().status, 200);
    }
    let refusal = leat.connect().get("/").response();
    assert_eq!((refusal.status, refusal.field("connection")), (503, Some("close")));
    assert!(refusal.text().contains("limit.connections_per_client"), "{}", refusal.text());
    let mut other = connect_from(Ipv4Addr::new(127, 0, 0, 9), address);
    assert!(ask(&mut other).contains(" 200 "), "another client has places of its own");
    let mut third = connect_from(Ipv4Addr::new(127, 0, 0, 10), address);
    let refusal = ask(&mut third);
    assert!(refusal.contains(" 503 ") && refusal.contains("limit.connections\""), "{refusal}");
    drop(own.pop());
    eventually("a free place", || (leat.connect().get("/").response().status == 200).then_some(()));
    assert!(metric(admin, "leat_refusals_total{reason=\"limit.connections\",blame=\"us\"}") >= 1);
    assert!(metric(admin, "leat_refusals_total{reason=\"limit.connections_per_client\",blame=\"peer\"}") >= 1);
}

fn connect_from(source: Ipv4Addr, address: SocketAddr) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::new(IpAddr::V4(source), 0).into()).unwrap();
    socket.connect(&address.into()).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// What comes back for a request, up to the end of the head and whatever came with it.
fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut received = Vec::new();
    let mut block = [0; 1024];
    loop {
        let count = stream.read(&mut block).unwrap();
        received.extend_from_slice(&block[..count]);
        if count == 0 || received.ends_with(b"x") {
            return String::from_utf8(received).unwrap();
        }
    }
}

#[test]
fn out_of_descriptors_connections_wait_and_are_served_when_some_are_free() {
    let config = "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
workers: 1
access_log: off
routes: [{ respond: { body: x } }]
";
    let mut leat = Leat::gateway(config, 1);
    let mut admin = Client::connect(leat.admin());
    let mut pauses = || {
        let metrics = admin.get("/metrics").response();
        let line = metrics.text().lines().find_map(|line| line.strip_prefix("leat_accept_pauses_total "));
        line.unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(pauses(), 0);
    let pid = leat.pid();
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count() as u64;
    let limit = Some(open + 8);
    let process = Pid::from_raw(pid.cast_signed());
    let before = prlimit(process, Resource::Nofile, Rlimit { current: limit, maximum: limit }).unwrap();
    assert!(before.current > limit);
    let mut clients: Vec<Client> = (0..16).map(|_| leat.connect()).collect();
    for client in &mut clients {
        client.get("/");
    }
    let waiting = clients.split_off(6);
    for client in &mut clients {
        assert_eq!(client.response().status, 200, "there were descriptors for these");
    }
    eventually("a pause", || (pauses() > 0).then_some(()));
    assert_eq!(clients[0].get("/").response().status, 200, "who is in goes on");
    drop(clients);
    for mut client in waiting {
        assert_eq!(client.response().status, 200, "who waited is served");
    }
}

#[test]
fn over_the_memory_budget_requests_get_503_until_there_is_room_again() {
    let config = "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
workers: 1
access_log: access.log
limits: { memory_bytes_max: 1MiB, head_time: 60s }
routes: [{ respond: { body: x } }]
";
    let leat = Leat::gateway(config, 1);
    let mut client = leat.connect();
    assert_eq!(client.get("/").response().status, 200);
    let mut holding: Vec<Client> = (0..160).map(|_| leat.connect()).collect();
    for one in &mut holding {
        one.send("GET / HTTP/1.1\r\nhost: le");
    }
    let refusal = eventually("a refusal", || {
        let reply = leat.connect().get("/").response();
        (reply.status == 503).then_some(reply)
    });
    assert!(refusal.text().contains("limit.memory"), "{}", refusal.text());
    drop(holding);
    eventually("room again", || (leat.connect().get("/").response().status == 200).then_some(()));
}

#[test]
fn load_above_the_cap_of_connections_is_shed_and_the_rest_is_answered() {
    let upstream = Upstream::start("up");
    let config = format!(
        "listeners: 127.0.0.1:0
workers: 2
access_log: off
limits: {{ connections_max: 3 }}
routes: [{{ proxy: 'http://{}' }}]
",
        upstream.address()
    );
    let leat = Leat::gateway(&config, 1);
    let load =
        Load::start(leat.address(0), &[Manner::KeepAlive, Manner::KeepAlive, Manner::KeepAlive], &["/", "/slow"]);
    load.wait_answered(30);
    let start = Instant::now();
    for _ in 0..20 {
        assert_eq!(leat.connect().get("/").response().status, 503);
    }
    assert!(start.elapsed() < Duration::from_secs(5));
    load.wait_answered(10);
    let outcome = load.finish();
    assert_eq!((outcome.failures, outcome.refused), (Vec::new(), 0));
}

#[test]
fn the_process_may_open_as_many_descriptors_as_it_is_allowed_and_says_when_they_are_few() {
    let folder = leat_testkit::Folder::new();
    let limits = "limits: { connections_max: 1000 }\nroutes: [{ respond: { body: x } }]\n";
    let config = folder.write("leat.yaml", format!("listeners: 127.0.0.1:0\n{limits}"));
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -Sn 100 && ulimit -Hn 900 && exec \"$0\" gateway \"$1\""]);
    command.arg(leat_testkit::binary()).arg(config);
    let mut leat = Leat::spawn_by(folder, command);
    leat.wait_log("the start", |line| line.contains("\"event\":\"listening\""));
    let text = std::fs::read_to_string(format!("/proc/{}/limits", leat.pid())).unwrap();
    let line = text.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(line.split_whitespace().nth(3), Some("900"), "{line}");
    let warning = leat.wait_log("the warning", |line| line.contains("few_descriptors"));
    assert!(warning.contains("\"900\"") && warning.contains("\"1000\""), "{warning}");
}
