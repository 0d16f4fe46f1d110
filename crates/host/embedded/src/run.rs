//! Runs a program from its first line to its exit code.

use std::io;
use std::sync::Arc;

use tokio::task::LocalSet;

use crate::admin;
use crate::options::Options;
use crate::process::Process;
use crate::worker;

/// The stack of a worker's thread, as the system gives the first one.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// Runs a program until it ends; gives its exit code. The first worker has this thread.
///
/// # Errors
/// An event loop or a thread can't start, or the address for metrics is in use.
pub fn run(options: &Options) -> io::Result<i32> {
    let process = Process::new(options.clone());
    if let Some(address) = &options.metrics {
        // Before the program runs: what it does could not be undone.
        let _ = process.admin.set(admin::bind(address)?);
    }
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

fn one(process: &Arc<Process>, worker: usize) -> io::Result<i32> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = LocalSet::new().block_on(&runtime, worker::work(process, worker));
    if code != 0 {
        // An error of one worker ends the process, as an error of a program without workers does.
        std::process::exit(code);
    }
    Ok(code)
}
