//! The thread for what is the process's and not a worker's: signals, metrics, changed files. A worker may be busy for
//! seconds with one turn of JavaScript; this thread never is.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::{LocalSet, spawn_local};

use crate::admin;
use crate::process::{Phase, Process};
use crate::watch::{LOOK_EVERY, Watch};

/// How long what is under way may take after a signal asked for the end.
pub(crate) const DRAIN: Duration = Duration::from_secs(10);
/// Its stack: nothing runs here that recurses.
const STACK_BYTES: usize = 512 * 1024;

/// Starts it.
///
/// # Errors
/// No thread, or signals can't be heard.
pub(crate) fn start(process: &Arc<Process>) -> io::Result<()> {
    // Heard from here on, before the thread runs.
    let terminate = signal(SignalKind::terminate())?;
    let interrupt = signal(SignalKind::interrupt())?;
    let process = Arc::clone(process);
    let thread = std::thread::Builder::new().name("leat-control".into()).stack_size(STACK_BYTES);
    thread.spawn(move || {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return eprintln!("leat: signals can't be heard: {error}"),
        };
        LocalSet::new().block_on(&runtime, run(process, terminate, interrupt));
    })?;
    Ok(())
}

async fn run(process: Arc<Process>, mut terminate: Signal, mut interrupt: Signal) {
    if process.admin.get().is_some() {
        spawn_local(leat_stream::clock::run());
        admin::start(&process);
    }
    if process.options.watch {
        spawn_local(watch(Arc::clone(&process)));
    }
    loop {
        let (number, name) = tokio::select! {
            Some(()) = terminate.recv() => (SignalKind::terminate().as_raw_value(), "SIGTERM"),
            Some(()) = interrupt.recv() => (SignalKind::interrupt().as_raw_value(), "SIGINT"),
            else => return,
        };
        if process.hears(number) {
            continue;
        }
        if *process.phase.borrow() == Phase::Drain {
            eprintln!("leat: a second signal, {name}: what was under way is cut off");
            std::process::exit(0);
        }
        process.phase.send_replace(Phase::Drain);
        spawn_local(async {
            tokio::time::sleep(DRAIN).await;
            eprintln!("leat: what was under way took more than {} s and is cut off", DRAIN.as_secs());
            std::process::exit(0);
        });
    }
}

async fn watch(process: Arc<Process>) {
    let mut watch = Watch::new(&process.options.app, Arc::clone(&process.loaded));
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(path) = watch.changed() else { continue };
        process.phase.send_if_modified(|phase| match phase {
            Phase::Run(generation) => {
                eprintln!("leat: {} has changed, the program starts again", path.display());
                *generation += 1;
                true
            }
            Phase::Drain => false,
        });
    }
}
