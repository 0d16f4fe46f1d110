//! Which node of a cluster is asked who has the slots, against scripted nodes on real sockets.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use leat_redis::{Client, Failure, Login, Place, Question, Script, Server, Servers, Target, follow};
use tokio::task::LocalSet;

const SCRIPT: Script = Script { text: "return 1" };
const HASH: &str = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
/// How long the client may take to find the right node; it looks every 100 ms at the earliest.
const FOUND: Duration = Duration::from_secs(20);

/// Who was asked for the slots, in that order.
type Asked = Arc<Mutex<Vec<&'static str>>>;

/// A master that is sure to have all slots, and answers calls with `reply`. It ends with the test's process.
fn node(name: &'static str, reply: &'static str, asked: &Asked) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::clone(asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let asked = Arc::clone(&asked);
            std::thread::spawn(move || answer(stream.unwrap(), name, reply, &asked));
        }
    });
    address
}

fn answer(mut stream: TcpStream, name: &'static str, reply: &str, asked: &Asked) {
    let port = stream.local_addr().unwrap().port();
    let mut bytes = [0; 4096];
    // Each command is one write that is waited for, so it arrives as one.
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        let command = String::from_utf8_lossy(&bytes[..count]).into_owned();
        let answer = if command.contains("CLUSTER") {
            asked.lock().unwrap().push(name);
            format!("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:{port}\r\n")
        } else if command.contains("EVALSHA") {
            reply.to_owned()
        } else {
            format!("$40\r\n{HASH}\r\n")
        };
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_node_that_is_cut_off_from_the_others_is_not_the_only_one_that_is_asked() {
    let asked = Asked::default();
    // The first one answers all questions, and knows nothing of the failover that took its slots.
    let cut_off = node("cut off", "-CLUSTERDOWN The cluster is down\r\n", &asked);
    let well = node("well", ":7\r\n", &asked);
    let seeds = [cut_off, well].map(|address| Target::Tcp("127.0.0.1".to_owned(), address.port()));
    let place = Place::Cluster { seeds: seeds.to_vec() };
    let (login, sentinel_login) = (Login::default(), Login::default());
    let server = Server { place, security: None, login, sentinel_login, database: 0, deadline_ms: 10_000 };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        tokio::task::spawn_local(leat_stream::clock::run());
        let servers = Arc::new(Servers::default());
        let followed = servers.followed(&server);
        let follow = tokio::task::spawn_local(follow(servers, |_| ()));
        let client = Client::start(&followed, SCRIPT);
        let mut question = Question::default();
        question.key(&[b"a"]);
        let began = Instant::now();
        loop {
            match client.call(&question).await {
                Ok(numbers) => break assert_eq!(numbers.list(), [7]),
                // Refused by the node that is cut off, or on the way from the one to the other.
                Err(Failure::Refused | Failure::Down | Failure::Lost) => {}
                Err(failure) => panic!("{failure}"),
            }
            assert!(began.elapsed() < FOUND, "asked: {:?}", asked.lock().unwrap());
            leat_stream::clock::sleep(20).await;
        }
        follow.abort();
    });
    let asked = asked.lock().unwrap();
    assert_eq!((asked.first(), asked.last()), (Some(&"cut off"), Some(&"well")), "{asked:?}");
}
