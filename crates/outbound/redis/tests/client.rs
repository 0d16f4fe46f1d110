//! The client against a scripted server on a real socket.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::future::Future;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use leat_redis::{Client, Failure, Followed, Login, Place, Question, Script, Server, Servers, Target};
use tokio::task::LocalSet;

const SCRIPT: Script = Script { text: "return 1" };
const HASH: &str = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";

/// What a server does on one connection.
type Part = Box<dyn FnOnce(&mut TcpStream) + Send>;

/// A server that takes one connection after another, each by its own part.
fn serve(parts: Vec<Part>) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        for part in parts {
            let (mut stream, _) = listener.accept().unwrap();
            expect(&mut stream, "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$8\r\nreturn 1\r\n");
            stream.write_all(format!("$40\r\n{HASH}\r\n").as_bytes()).unwrap();
            part(&mut stream);
        }
    });
    (port, thread)
}

fn expect(stream: &mut TcpStream, wanted: &str) {
    let mut found = vec![0; wanted.len()];
    stream.read_exact(&mut found).unwrap();
    assert_eq!(String::from_utf8(found).unwrap(), wanted);
}

fn command(key: &str) -> String {
    format!("*4\r\n$7\r\nEVALSHA\r\n$40\r\n{HASH}\r\n$1\r\n1\r\n${}\r\n{key}\r\n", key.len())
}

fn server(port: u16) -> Arc<Followed> {
    let target = Target::Tcp("127.0.0.1".to_owned(), port);
    let (login, sentinel_login) = (Login::default(), Login::default());
    let place = Place::One(target);
    let server = Server { place, security: None, login, sentinel_login, database: 0, deadline_ms: 10_000 };
    Servers::default().followed(&server)
}

fn question(key: &str) -> Question {
    let mut question = Question::default();
    question.key(&[key.as_bytes()]);
    question
}

async fn ask(client: &Client, key: &str) -> Result<Vec<i64>, Failure> {
    client.call(&question(key)).await.map(|numbers| numbers.list().to_vec())
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        tokio::task::spawn_local(leat_stream::clock::run());
        work.await;
    });
}

/// Asks at once and waits elsewhere.
fn start(client: &Client, key: &str) -> tokio::task::JoinHandle<Result<Vec<i64>, Failure>> {
    let (client, key) = (client.clone(), key.to_owned());
    tokio::task::spawn_local(async move { ask(&client, &key).await })
}

#[test]
fn all_calls_of_a_turn_leave_in_one_write_and_each_gets_its_own_answer() {
    const CALLS: usize = 100;
    let (port, thread) = serve(vec![Box::new(|stream| {
        expect(stream, &command("first"));
        stream.write_all(b":0\r\n").unwrap();
        let wanted: String = (0..CALLS).map(|number| command(&number.to_string())).collect();
        // One read: what is written at once to a connection on this machine arrives at once.
        let mut found = vec![0; 2 * wanted.len()];
        let count = stream.read(&mut found).unwrap();
        assert_eq!(String::from_utf8_lossy(&found[..count]), wanted);
        for number in 0..CALLS {
            stream.write_all(format!("*2\r\n:{number}\r\n:-1\r\n").as_bytes()).unwrap();
        }
        expect(stream, &command("last"));
        stream.write_all(b":7\r\n").unwrap();
    })]);
    run(async move {
        let client = Client::start(&server(port), SCRIPT);
        assert_eq!(ask(&client, "first").await, Ok(vec![0]));
        let mut calls: Vec<_> = (0..CALLS).map(|number| start(&client, &number.to_string())).collect();
        tokio::task::yield_now().await;
        // What nobody waits for any more is answered all the same, and moves no other answer.
        calls.remove(50).abort();
        for (number, call) in (0..CALLS).filter(|number| *number != 50).zip(calls) {
            assert_eq!(call.await.unwrap(), Ok(vec![number as i64, -1]));
        }
        assert_eq!(ask(&client, "last").await, Ok(vec![7]));
    });
    thread.join().unwrap();
}

#[test]
fn a_lost_connection_fails_its_calls_and_is_made_anew() {
    let (port, thread) = serve(vec![
        Box::new(|stream| {
            expect(stream, &(command("a") + &command("b")));
            stream.write_all(b":1\r\n").unwrap();
        }),
        Box::new(|stream| {
            expect(stream, &command("c"));
            stream.write_all(b":3\r\n").unwrap();
        }),
    ]);
    run(async move {
        let client = Client::start(&server(port), SCRIPT);
        let (a, b) = (start(&client, "a"), start(&client, "b"));
        assert_eq!(a.await.unwrap(), Ok(vec![1]));
        assert_eq!(b.await.unwrap(), Err(Failure::Lost));
        loop {
            match ask(&client, "c").await {
                Err(failure) => assert_eq!(failure, Failure::Down),
                answer => break assert_eq!(answer, Ok(vec![3])),
            }
            leat_stream::clock::sleep(20).await;
        }
    });
    thread.join().unwrap();
}

#[test]
fn errors_and_forgotten_scripts_are_told_apart_and_nonsense_ends_the_connection() {
    let (port, thread) = serve(vec![Box::new(|stream| {
        expect(stream, &command("a"));
        stream.write_all(b"-OOM command not allowed\r\n").unwrap();
        expect(stream, &command("b"));
        stream.write_all(b"-NOSCRIPT No matching script.\r\n").unwrap();
        expect(stream, "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$8\r\nreturn 1\r\n");
        expect(stream, &command("b"));
        stream.write_all(format!("$40\r\n{HASH}\r\n:2\r\n").as_bytes()).unwrap();
        expect(stream, &command("c"));
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n").unwrap();
        // Its end, and not ours, is what the client must see.
        let _ = stream.read(&mut [0]);
    })]);
    run(async move {
        let client = Client::start(&server(port), SCRIPT);
        assert_eq!(ask(&client, "a").await, Err(Failure::Refused));
        // Asked again by itself.
        assert_eq!(ask(&client, "b").await, Ok(vec![2]));
        assert_eq!(ask(&client, "c").await, Err(Failure::Lost));
        assert_eq!(ask(&client, "d").await, Err(Failure::Down));
    });
    thread.join().unwrap();
}

#[test]
fn a_forgotten_script_is_told_once_for_all_calls_that_miss_it_at_once() {
    const CALLS: usize = 50;
    let (port, thread) = serve(vec![Box::new(|stream| {
        let commands: String = (0..CALLS).map(|number| command(&number.to_string())).collect();
        // It is told again each time it has forgotten.
        for _ in 0..2 {
            expect(stream, &commands);
            stream.write_all("-NOSCRIPT No matching script.\r\n".repeat(CALLS).as_bytes()).unwrap();
            expect(stream, &format!("*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$8\r\nreturn 1\r\n{commands}"));
            let numbers: String = (0..CALLS).map(|number| format!(":{number}\r\n")).collect();
            stream.write_all(format!("$40\r\n{HASH}\r\n{numbers}").as_bytes()).unwrap();
        }
    })]);
    run(async move {
        let client = Client::start(&server(port), SCRIPT);
        for _ in 0..2 {
            let calls: Vec<_> = (0..CALLS).map(|number| start(&client, &number.to_string())).collect();
            for (number, call) in calls.into_iter().enumerate() {
                assert_eq!(call.await.unwrap(), Ok(vec![number as i64]));
            }
        }
    });
    thread.join().unwrap();
}

#[test]
fn a_server_that_is_not_there_is_known_to_be_down() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    run(async move {
        let client = Client::start(&server(free), SCRIPT);
        assert_eq!(ask(&client, "a").await, Err(Failure::Down));
    });
}

#[test]
fn a_core_has_one_connection_to_a_server_for_as_long_as_somebody_holds_it() {
    let (port, thread) = serve(vec![
        Box::new(|stream| {
            for (key, answer) in [("a", b":1\r\n"), ("b", b":2\r\n")] {
                expect(stream, &command(key));
                stream.write_all(answer).unwrap();
            }
            // Its end.
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        }),
        Box::new(|stream| {
            expect(stream, &command("c"));
            stream.write_all(b":3\r\n").unwrap();
        }),
    ]);
    run(async move {
        let server = server(port);
        let (one, two) = (Client::shared(&server, SCRIPT), Client::shared(&server, SCRIPT));
        assert_eq!(ask(&one, "a").await, Ok(vec![1]));
        assert_eq!(ask(&two, "b").await, Ok(vec![2]));
        drop((one, two));
        assert_eq!(ask(&Client::shared(&server, SCRIPT), "c").await, Ok(vec![3]));
    });
    thread.join().unwrap();
}

#[test]
fn a_slot_that_moved_or_is_moving_is_followed_and_a_server_that_is_no_cluster_sends_nobody_elsewhere() {
    let (there, other) = serve(vec![Box::new(|stream| {
        expect(stream, &command("a"));
        stream.write_all(b":1\r\n").unwrap();
        expect(stream, &format!("*1\r\n$6\r\nASKING\r\n{}", command("b")));
        stream.write_all(b"+OK\r\n-TRYAGAIN later\r\n").unwrap();
    })]);
    let (port, thread) = serve(vec![Box::new(move |stream| {
        expect(stream, &command("a"));
        stream.write_all(format!("-MOVED 15495 127.0.0.1:{there}\r\n").as_bytes()).unwrap();
        expect(stream, &command("b"));
        stream.write_all(format!("-ASK 3300 :{there}\r\n").as_bytes()).unwrap();
        expect(stream, &command("b"));
        stream.write_all(b":2\r\n").unwrap();
        expect(stream, &command("c"));
        stream.write_all(b"-MOVED 7365 nowhere\r\n").unwrap();
    })]);
    // Says once who has the slots.
    let seed = TcpListener::bind("127.0.0.1:0").unwrap();
    let seed_port = seed.local_addr().unwrap().port();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = seed.accept().unwrap();
        expect(&mut stream, "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n");
        let slots = format!("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:{port}\r\n");
        stream.write_all(slots.as_bytes()).unwrap();
        // Silent from now on: what is known stays known.
        while stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {}
    });
    run(async move {
        let servers = Arc::new(Servers::default());
        let seeds = vec![Target::Tcp("127.0.0.1".to_owned(), seed_port)];
        let server = Server { place: Place::Cluster { seeds }, ..server(port).server().clone() };
        let followed = servers.followed(&server);
        let follow = tokio::task::spawn_local(leat_redis::follow(servers, |_| ()));
        let client = Client::start(&followed, SCRIPT);
        assert_eq!(ask(&client, "a").await, Ok(vec![1]));
        assert_eq!(ask(&client, "b").await, Ok(vec![2]));
        assert_eq!(ask(&client, "c").await, Err(Failure::Refused));
        follow.abort();
    });
    for thread in [thread, other, asked] {
        thread.join().unwrap();
    }
    let (port, thread) = serve(vec![Box::new(|stream| {
        expect(stream, &command("a"));
        stream.write_all(b"-MOVED 1 127.0.0.1:1\r\n").unwrap();
    })]);
    run(async move {
        assert_eq!(ask(&Client::start(&server(port), SCRIPT), "a").await, Err(Failure::Refused));
    });
    thread.join().unwrap();
}
