use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::connection::Connection;
use crate::script::End;
use crate::{Script, eventually};

/// A server that plays a script on every connection: the first script on the first connection, and so on; the last one
/// repeats.
#[derive(Debug)]
pub struct Peer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stopping: AtomicBool,
    connections: Mutex<Vec<Played>>,
}

#[derive(Debug)]
struct Played {
    state: Arc<State>,
    thread: JoinHandle<(Vec<u8>, Result<(), String>)>,
}

#[derive(Debug)]
struct State {
    /// For ending the connection from outside; the script's thread takes it out first, so that its close is the last.
    stream: Mutex<Option<TcpStream>>,
    /// The steps are over.
    holding: AtomicBool,
}

impl State {
    fn shutdown(&self, how: Shutdown) {
        if let Some(stream) = &*self.stream.lock().unwrap() {
            let _ = stream.shutdown(how);
        }
    }
}

impl Peer {
    /// Listens on a free port of 127.0.0.1.
    pub fn listen(scripts: impl IntoIterator<Item = Script>) -> Self {
        let scripts: Vec<Script> = scripts.into_iter().collect();
        assert!(!scripts.is_empty(), "a peer needs a script");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound listener has an address");
        let shared = Arc::new(Shared::default());
        let accepting = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &scripts, &shared)
        });
        Self { address, shared, accepting: Some(accepting) }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections it has accepted.
    pub fn connections(&self) -> usize {
        self.shared.connections.lock().unwrap().len()
    }

    /// Waits until it has accepted `count` connections.
    pub fn wait_connections(&self, count: usize) {
        eventually(&format!("{count} connections at the peer"), || (self.connections() >= count).then_some(()));
    }

    /// Stops listening, ends every connection whose script is over, and returns what each connection received. Panics if
    /// a script did not go as written.
    pub fn finish(mut self) -> Vec<Vec<u8>> {
        let played = self.stop();
        let mut received = Vec::with_capacity(played.len());
        for (at, one) in played.into_iter().enumerate() {
            // Every step has a deadline, so this ends.
            while !one.state.holding.load(SeqCst) && !one.thread.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
            }
            one.state.shutdown(Shutdown::Read);
            let (bytes, result) = one.thread.join().expect("a script's thread does not panic");
            if let Err(error) = result {
                panic!("connection {} of the peer, {error}", at + 1);
            }
            received.push(bytes);
        }
        received
    }

    fn stop(&mut self) -> Vec<Played> {
        self.shared.stopping.store(true, SeqCst);
        if let Some(accepting) = self.accepting.take() {
            // Accept has no deadline of its own; a connection wakes it.
            let _ = TcpStream::connect(self.address);
            let _ = accepting.join();
        }
        std::mem::take(&mut *self.shared.connections.lock().unwrap())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        for one in self.stop() {
            one.state.shutdown(Shutdown::Both);
        }
    }
}

fn accept(listener: &TcpListener, scripts: &[Script], shared: &Shared) {
    for number in 0.. {
        let Ok((stream, _)) = listener.accept() else { return };
        if shared.stopping.load(SeqCst) {
            return;
        }
        let Some(script) = scripts.get(number).or(scripts.last()).cloned() else { return };
        let Ok(copy) = stream.try_clone() else { return };
        let state = Arc::new(State { stream: Mutex::new(Some(copy)), holding: AtomicBool::new(false) });
        let thread = std::thread::spawn({
            let state = Arc::clone(&state);
            move || {
                let mut connection = Connection::new(stream);
                let result = script.play(&mut connection);
                if let Ok(End::Hold) = result {
                    state.holding.store(true, SeqCst);
                    connection.hold();
                }
                *state.stream.lock().unwrap() = None;
                (connection.into_received(), result.map(|_| ()))
            }
        });
        shared.connections.lock().unwrap().push(Played { state, thread });
    }
}
