use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;
use serde_json::{Value, json};

use crate::reply::{self, Progress};

/// Largest number of connections.
const CONNECTIONS_MAX: usize = 10_000;
/// Largest number of requests that one run may send.
const REQUESTS_MAX: f64 = 5e7;
/// After the last arrival, how long answers are waited for.
const TAIL: Duration = Duration::from_secs(5);

#[derive(Args)]
pub(crate) struct Options {
    address: SocketAddr,
    #[arg(long, default_value = "/")]
    path: String,
    /// Mean arrivals a second; the gaps are exponential, as from many independent clients.
    #[arg(long)]
    rate: f64,
    #[arg(long)]
    seconds: f64,
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Start of the arrival sequence: the same seed asks at the same moments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Asks at the scheduled moments and measures every reply from its scheduled moment, so that a server that stalls is
/// charged for all who had to wait. An arrival takes a free connection, else it waits in line for one.
pub(crate) fn run(options: &Options) -> io::Result<Value> {
    if options.connections == 0 || options.connections > CONNECTIONS_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("connections: 1 to {CONNECTIONS_MAX}")));
    }
    if !(options.rate > 0.0 && options.rate * options.seconds <= REQUESTS_MAX) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "rate × seconds: above 0, at most 50,000,000"));
    }
    // A timer slack of 50 µs, the default, would be the largest part of what is measured.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    let mut load = Load::connect(options)?;
    load.drive(options)?;
    Ok(load.report(options))
}

struct Load {
    epoll: OwnedFd,
    connections: Vec<Connection>,
    free: Vec<usize>,
    waiting: VecDeque<Duration>,
    request: Vec<u8>,
    begin: Instant,
    latencies_ns: Vec<u64>,
    late_ns: Vec<u64>,
    errors: usize,
}

struct Connection {
    socket: TcpStream,
    scheduled: Duration,
    reply: Vec<u8>,
}

impl Load {
    fn connect(options: &Options) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut connections = Vec::with_capacity(options.connections);
        for index in 0..options.connections {
            let socket = TcpStream::connect(options.address)?;
            socket.set_nodelay(true)?;
            socket.set_nonblocking(true)?;
            epoll::add(&epoll, &socket, epoll::EventData::new_u64(index as u64), epoll::EventFlags::IN)?;
            connections.push(Connection { socket, scheduled: Duration::ZERO, reply: Vec::with_capacity(4096) });
        }
        let expected = (options.rate * options.seconds * 1.1) as usize;
        Ok(Self {
            epoll,
            free: (0..connections.len()).collect(),
            connections,
            waiting: VecDeque::new(),
            request: reply::request(&options.address.to_string(), &options.path),
            begin: Instant::now(),
            latencies_ns: Vec::with_capacity(expected),
            late_ns: Vec::with_capacity(expected),
            errors: 0,
        })
    }

    fn drive(&mut self, options: &Options) -> io::Result<()> {
        let end = Duration::from_secs_f64(options.seconds);
        let mut gaps = Gaps { state: options.seed.max(1), rate: options.rate };
        let mut next = gaps.next();
        let mut events = Vec::with_capacity(256);
        self.begin = Instant::now();
        loop {
            let mut now = self.begin.elapsed();
            while next < end && next <= now {
                self.arrive(next, now);
                next += gaps.next();
                now = self.begin.elapsed();
            }
            let under_way = self.free.len() < self.connections.len();
            if next >= end && (!under_way || now > end + TAIL) {
                break;
            }
            let until = if next < end { next.saturating_sub(now) } else { TAIL };
            let timeout = Timespec { tv_sec: until.as_secs() as i64, tv_nsec: i64::from(until.subsec_nanos()) };
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                self.read(event.data.u64() as usize)?;
            }
        }
        self.errors += self.waiting.len() + self.connections.len() - self.free.len();
        Ok(())
    }

    fn arrive(&mut self, scheduled: Duration, now: Duration) {
        self.late_ns.push((now - scheduled).as_nanos() as u64);
        match self.free.pop() {
            Some(index) => self.send(index, scheduled),
            None => self.waiting.push_back(scheduled),
        }
    }

    fn send(&mut self, index: usize, scheduled: Duration) {
        let Some(connection) = self.connections.get_mut(index) else { return };
        connection.scheduled = scheduled;
        connection.reply.clear();
        // A request is far smaller than an empty send buffer; a short write can only mean a dead peer, which `read` sees.
        let _ = connection.socket.write(&self.request);
    }

    fn read(&mut self, index: usize) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(index) else { return Ok(()) };
        let mut piece = [0; 16 * 1024];
        let count = match connection.socket.read(&mut piece) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed a connection")),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        connection.reply.extend_from_slice(piece.get(..count).unwrap_or_default());
        match Progress::of(&connection.reply) {
            Progress::More => return Ok(()),
            Progress::Whole { ok: true } => {
                self.latencies_ns.push((self.begin.elapsed() - connection.scheduled).as_nanos() as u64);
            }
            Progress::Whole { ok: false } => self.errors += 1,
            Progress::Wrong => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a reply without content-length"));
            }
        }
        match self.waiting.pop_front() {
            Some(scheduled) => self.send(index, scheduled),
            None => self.free.push(index),
        }
        Ok(())
    }

    fn report(mut self, options: &Options) -> Value {
        self.latencies_ns.sort_unstable();
        self.late_ns.sort_unstable();
        let at = |share| percentile_us(&self.latencies_ns, share);
        json!({
            "requests": self.latencies_ns.len(),
            "errors": self.errors,
            "rps": self.latencies_ns.len() as f64 / options.seconds,
            "p50_us": at(0.5),
            "p99_us": at(0.99),
            "p999_us": at(0.999),
            "max_us": at(1.0),
            "generator_late_p99_us": percentile_us(&self.late_ns, 0.99),
        })
    }
}

/// Exponential gaps from a xorshift generator.
struct Gaps {
    state: u64,
    rate: f64,
}

impl Gaps {
    fn next(&mut self) -> Duration {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let uniform = ((self.state >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        Duration::from_secs_f64(-uniform.ln() / self.rate)
    }
}

/// The nearest-rank percentile of sorted values; 0 without values.
fn percentile_us(sorted_ns: &[u64], share: f64) -> f64 {
    let rank = (share * sorted_ns.len() as f64).ceil().max(1.0) as usize;
    sorted_ns.get(rank - 1).map_or(0.0, |&ns| ns as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::{Gaps, percentile_us};

    #[test]
    fn percentiles_are_nearest_rank() {
        let sorted: Vec<u64> = (1..=1000).map(|n| n * 1000).collect();
        for (share, expected) in [(0.5, 500.0), (0.99, 990.0), (0.999, 999.0), (1.0, 1000.0)] {
            assert_eq!(percentile_us(&sorted, share), expected);
        }
        assert_eq!(percentile_us(&[], 0.5), 0.0);
    }

    #[test]
    fn gaps_have_the_mean_of_the_rate() {
        let mut gaps = Gaps { state: 1, rate: 1000.0 };
        let total: f64 = (0..100_000).map(|_| gaps.next().as_secs_f64()).sum();
        assert!((total - 100.0).abs() < 2.0, "{total}");
    }
}
