//! The client against a scripted server on a real socket.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::future::Future;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use leat_redis::{Client, Failure, Numbers, Script, Server, Target};
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

fn server(port: u16) -> Server {
    let target = Target::Tcp("127.0.0.1".to_owned(), port);
    Server { target, username: None, password: None, database: 0, deadline_ms: 10_000 }
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        tokio::task::spawn_local(leat_stream::clock::run());
        work.await;
    });
}

fn list(answer: Result<Numbers, Failure>) -> Result<Vec<i64>, Failure> {
    answer.map(|numbers| numbers.list().to_vec())
}

#[test]
fn all_calls_of_a_turn_leave_in_one_write_and_each_gets_its_own_answer() {
    const CALLS: usize = 100;
    let (port, thread) = serve(vec![Box::new(|stream| {
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
        let client = Client::start(server(port), SCRIPT);
        client.started().await;
        let mut calls: Vec<_> = (0..CALLS).map(|number| client.eval(&[number.to_string().as_bytes()], &[])).collect();
        // What nobody waits for any more is answered all the same, and moves no other answer.
        drop(calls.remove(50));
        for (number, call) in (0..CALLS).filter(|number| *number != 50).zip(calls) {
            assert_eq!(list(call.unwrap().await), Ok(vec![number as i64, -1]));
        }
        assert_eq!(list(client.eval(&[b"last"], &[]).unwrap().await), Ok(vec![7]));
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
        let client = Client::start(server(port), SCRIPT);
        client.started().await;
        let (a, b) = (client.eval(&[b"a"], &[]).unwrap(), client.eval(&[b"b"], &[]).unwrap());
        assert_eq!(list(a.await), Ok(vec![1]));
        assert_eq!(list(b.await), Err(Failure::Lost));
        let c = loop {
            match client.eval(&[b"c"], &[]) {
                Ok(call) => break call,
                Err(failure) => assert_eq!(failure, Failure::Down),
            }
            leat_stream::clock::sleep(20).await;
        };
        assert_eq!(list(c.await), Ok(vec![3]));
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
        let client = Client::start(server(port), SCRIPT);
        client.started().await;
        assert_eq!(list(client.eval(&[b"a"], &[]).unwrap().await), Err(Failure::Refused));
        assert_eq!(list(client.eval(&[b"b"], &[]).unwrap().await), Err(Failure::NoScript));
        assert_eq!(list(client.eval(&[b"b"], &[]).unwrap().await), Ok(vec![2]));
        assert_eq!(list(client.eval(&[b"c"], &[]).unwrap().await), Err(Failure::Lost));
        assert!(client.eval(&[b"d"], &[]).is_err());
    });
    thread.join().unwrap();
}

#[test]
fn a_server_that_is_not_there_is_known_to_be_down() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    run(async move {
        let client = Client::start(server(free), SCRIPT);
        client.started().await;
        assert_eq!(client.eval(&[b"a"], &[]).err(), Some(Failure::Down));
    });
}

#[test]
fn a_core_has_one_connection_to_a_server_for_as_long_as_somebody_holds_it() {
    let (port, thread) = serve(vec![Box::new(|stream| drop(stream.read(&mut [0]))), Box::new(|_| {})]);
    run(async move {
        let one = Client::shared(&server(port), SCRIPT);
        let two = Client::shared(&server(port), SCRIPT);
        one.started().await;
        // It is the same line: what the first knows, the second knows at once.
        assert!(two.eval(&[b"a"], &[]).is_ok());
        drop((one, two));
        let three = Client::shared(&server(port), SCRIPT);
        three.started().await;
    });
    thread.join().unwrap();
}
