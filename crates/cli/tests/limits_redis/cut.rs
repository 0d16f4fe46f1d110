use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a [`Cut`] does to what the server says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Manner {
    /// Nothing.
    Pass,
    /// Nothing passes in either direction, and nobody is told: a partition.
    Silence,
    /// New connections end at once, and those that are as soon as something is said.
    End,
    /// Of each answer the first bytes, then the end of the connection.
    Half,
    /// Something else instead.
    Garbage,
    /// Later.
    Slow(Duration),
}

/// A proxy before a server that fails as it is told. Its threads end with the connections.
pub(crate) struct Cut {
    pub(crate) address: SocketAddr,
    manner: Arc<Mutex<Manner>>,
}

impl Cut {
    pub(crate) fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, manner) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Manner::Pass)));
        let told = Arc::clone(&manner);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, now) = (client.unwrap(), *told.lock().unwrap());
                let Some(server) = TcpStream::connect(server).ok().filter(|_| now != Manner::End) else { continue };
                for (from, to, is_answer) in [(&client, &server, false), (&server, &client, true)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let told = Arc::clone(&told);
                    std::thread::spawn(move || pass(from, to, is_answer, &told));
                }
            }
        });
        Self { address, manner }
    }

    pub(crate) fn set(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, is_answer: bool, told: &Mutex<Manner>) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let manner = *told.lock().unwrap();
        let (said, ends): (&[u8], bool) = match manner {
            Manner::Silence => continue,
            Manner::End => (b"", true),
            Manner::Half if is_answer => (&bytes[..count / 2], true),
            Manner::Garbage if is_answer => (b"HTTP/1.1 200 OK\r\n\r\n", false),
            Manner::Slow(time) if is_answer => {
                std::thread::sleep(time);
                (&bytes[..count], false)
            }
            Manner::Pass | Manner::Half | Manner::Garbage | Manner::Slow(_) => (&bytes[..count], false),
        };
        if to.write_all(said).is_err() || ends {
            break;
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}
