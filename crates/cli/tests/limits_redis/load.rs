use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use leat_testkit::Client;

use crate::server::ask;

/// Clients that ask one after another until they are told to stop.
pub(crate) struct Load {
    started: Instant,
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Seen>>,
}

/// What the clients saw.
#[derive(Default)]
pub(crate) struct Seen {
    /// When each request was asked that passed, since the start of the load.
    pub(crate) passed: Vec<Duration>,
    pub(crate) refused: u64,
    pub(crate) failed: u64,
}

impl Load {
    /// Two clients for each address; `fields` by a client's number and its request's.
    pub(crate) fn start(addresses: &[SocketAddr], fields: fn(usize, usize) -> String) -> Self {
        let (started, stop) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let clients = (0..addresses.len() * 2).map(|number| {
            let (address, stop) = (addresses[number % addresses.len()], Arc::clone(&stop));
            std::thread::spawn(move || {
                let (mut client, mut seen) = (Client::connect(address), Seen::default());
                for request in 0.. {
                    if stop.load(Relaxed) {
                        break;
                    }
                    let at = started.elapsed();
                    match ask(&mut client, &fields(number, request)).status {
                        200 => seen.passed.push(at),
                        429 => seen.refused += 1,
                        503 => seen.failed += 1,
                        other => panic!("{other}"),
                    }
                }
                seen
            })
        });
        Self { started, clients: clients.collect(), stop }
    }

    /// Waits until so much time is over since the start.
    pub(crate) fn until(&self, time: Duration) {
        std::thread::sleep(time.saturating_sub(self.started.elapsed()));
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn stop(self) -> Seen {
        self.stop.store(true, Relaxed);
        let mut all = Seen::default();
        for client in self.clients {
            let seen = client.join().unwrap();
            all.passed.extend(seen.passed);
            all.refused += seen.refused;
            all.failed += seen.failed;
        }
        all.passed.sort();
        all
    }
}

impl Seen {
    /// By how many requests the worst window is over `bursts + rate × T`. A request is admitted after it was asked, so
    /// a window may seem shorter than it was by what an answer takes: `slack`.
    pub(crate) fn excess(&self, bursts: u64, rate: u64, slack: Duration) -> i64 {
        let mut worst = i64::MIN;
        for (first, start) in self.passed.iter().enumerate() {
            for (last, end) in self.passed.iter().enumerate().skip(first) {
                let allowed = bursts as f64 + (*end - *start + slack).as_secs_f64() * rate as f64;
                worst = worst.max((last - first + 1) as i64 - allowed.floor() as i64);
            }
        }
        worst
    }
}
