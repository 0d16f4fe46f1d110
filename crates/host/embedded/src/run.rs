//! Runs a program from its first line to its exit code.

use std::io;
use std::sync::Arc;

use tokio::task::LocalSet;

<<<<<<< HEAD
use crate::host::{Host, OnError};
use crate::modules;
use crate::world::World;

/// What a program is run with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program's file.
    pub app: PathBuf,
    /// What stands behind it on the command line.
    pub arguments: Vec<String>,
    /// What an error does that nobody caught.
    pub on_error: OnError,
}
=======
use crate::options::Options;
use crate::process::Process;
use crate::worker;

/// The stack of a worker's thread, as the system gives the first one.
const STACK_BYTES: usize = 8 * 1024 * 1024;
>>>>>>> cli

/// Runs a program until it ends; gives its exit code. The first worker has this thread.
///
/// # Errors
/// An event loop or a thread can't start.
pub fn run(options: &Options) -> io::Result<i32> {
    let process = Process::new(options.clone());
    let mut threads = Vec::new();
    for worker in 1..options.workers.get() {
        let process = Arc::clone(&process);
        let thread = std::thread::Builder::new().name(format!("leat-worker-{worker}")).stack_size(STACK_BYTES);
        threads.push(thread.spawn(move || one(&process, worker))?);
    }
    let mut code = one(&process, 0)?;
    for thread in threads {
        // A worker that ends with an error has ended the process.
        let other = thread.join().map_or(Ok(1), |ended| ended)?;
        code = if code == 0 { other } else { code };
    }
    Ok(code)
}

<<<<<<< HEAD
async fn main(options: &Options) -> i32 {
    tokio::task::spawn_local(leat_stream::clock::run());
    let app = std::path::absolute(&options.app).unwrap_or_else(|_| options.app.clone());
    let mut arguments = vec![app.to_string_lossy().into_owned()];
    arguments.extend_from_slice(&options.arguments);
    let host = Host::new(arguments, options.on_error);
    let world = match World::new(host) {
        Ok(world) => world,
        Err(error) => {
            eprintln!("leat: JavaScript can't start: {error}");
            return 1;
        }
    };
    world.enter(|ctx| modules::start(ctx, &app));
    let host = world.host();
    loop {
        host.over().await;
        if let Some(code) = host.exited() {
            return code;
        }
        // Listeners of 'beforeExit' may find something to do.
        world.enter(|ctx| host.hook(ctx, "beforeExit")?.call::<_, ()>(()));
        if !host.is_held() && host.exited().is_none() {
            world.enter(|ctx| host.hook(ctx, "exit")?.call::<_, ()>(()));
            return host.exited().unwrap_or(0);
        }
=======
fn one(process: &Arc<Process>, worker: usize) -> io::Result<i32> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = LocalSet::new().block_on(&runtime, worker::work(process, worker));
    if code != 0 {
        // An error of one worker ends the process, as an error of a program without workers does.
        std::process::exit(code);
>>>>>>> cli
    }
    Ok(code)
}
