//! The load that wrk and h2load cannot make: an open loop with true arrival times, idle connections by the thousand,
//! and the time from exec to the first answer. Every command prints one line of JSON.

mod idle;
mod open;
mod reply;
mod start;

use std::io;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Requests at a fixed mean rate, whether or not the answers keep up.
    Open(open::Options),
    /// Keep-alive connections that asked once and then stay silent until standard input ends.
    Idle(idle::Options),
    /// Starts a server and waits for its first answer.
    Start(start::Options),
}

fn main() -> io::Result<()> {
    let result = match Options::parse().command {
        Command::Open(options) => open::run(&options)?,
        Command::Idle(options) => return idle::run(&options),
        Command::Start(options) => start::run(&options)?,
    };
    println!("{result}");
    Ok(())
}
