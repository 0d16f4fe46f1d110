use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::{Value, json};

use crate::reply;

/// Longest wait for the first answer, and for the end of a process that was told to stop.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Args)]
pub(crate) struct Options {
    address: SocketAddr,
    #[arg(long, default_value = "/")]
    path: String,
    /// Core that the server is started on.
    #[arg(long, default_value_t = 0)]
    core: usize,
    /// Core that asks.
    #[arg(long, default_value_t = 1)]
    asking_core: usize,
    /// How often to start it.
    #[arg(long, default_value_t = 1)]
    times: usize,
    /// The server's command line, after `--`.
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Starts the server, asks until it answers 200, stops it; so many times. Milliseconds from just before exec.
pub(crate) fn run(options: &Options) -> io::Result<Value> {
    let request = reply::request(&options.address.to_string(), &options.path);
    let mut ms = Vec::new();
    for _ in 0..options.times {
        pin(options.core)?;
        let begin = Instant::now();
        let mut child = spawn(&options.command)?;
        pin(options.asking_core)?;
        let answered = first_answer(&mut child, options.address, &request, begin);
        stop(&mut child)?;
        ms.push(answered?.as_secs_f64() * 1e3);
    }
    Ok(json!({ "first_answer_ms": ms }))
}

/// A child inherits the affinity, so no `taskset` stands between the clock and exec.
fn pin(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

fn spawn(command: &[String]) -> io::Result<Child> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0).spawn()
}

fn first_answer(child: &mut Child, address: SocketAddr, request: &[u8], begin: Instant) -> io::Result<Duration> {
    let mut buffer = Vec::new();
    while begin.elapsed() < PATIENCE {
        let Ok(mut socket) = TcpStream::connect(address) else {
            if let Some(status) = child.try_wait()? {
                return Err(io::Error::other(format!("the server ended before it answered: {status}")));
            }
            continue;
        };
        socket.set_read_timeout(Some(PATIENCE))?;
        if let Ok(true) = reply::ask(&mut socket, request, &mut buffer) {
            return Ok(begin.elapsed());
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "the server never answered 200"))
}

fn stop(child: &mut Child) -> io::Result<()> {
    let group = Pid::from_child(child);
    let _ = kill_process_group(group, Signal::TERM);
    let begin = Instant::now();
    while child.try_wait()?.is_none() {
        if begin.elapsed() > PATIENCE {
            let _ = kill_process_group(group, Signal::KILL);
            child.wait()?;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
