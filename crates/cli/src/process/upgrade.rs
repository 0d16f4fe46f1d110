use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use leat_listen::{ListenError, ListenerSet, hand_over};
use tokio::task::JoinHandle;

/// How long a new binary may take until it accepts connections.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// How often it is looked at whether the new binary is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How this process was started, so that it can be started again.
#[derive(Clone)]
pub(super) struct Invocation {
    binary: PathBuf,
    arguments: Vec<std::ffi::OsString>,
}

impl Invocation {
    /// Remembers the invocation; to be called at the start, before the binary may be replaced on disk.
    pub(super) fn remember() -> std::io::Result<Self> {
        Ok(Self { binary: std::env::current_exe()?, arguments: std::env::args_os().skip(1).collect() })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(&self.arguments);
        command
    }
}

/// A successor that is starting. Waited for on a thread of its own, so that signals are heard meanwhile.
pub(super) struct Upgrade {
    starting: JoinHandle<Result<u32, ListenError>>,
    is_unwanted: Arc<AtomicBool>,
}

impl Upgrade {
    /// Starts the binary anew with the same sockets.
    pub(super) fn start(invocation: &Invocation, sockets: Arc<ListenerSet>) -> Self {
        let command = invocation.command();
        let is_unwanted = Arc::new(AtomicBool::new(false));
        let unwanted = Arc::clone(&is_unwanted);
        let starting = tokio::task::spawn_blocking(move || start(command, sockets, &unwanted));
        Self { starting, is_unwanted }
    }

    /// Waits until the successor accepts connections; its process number. To be called until it has answered once.
    ///
    /// # Errors
    /// The new process can't be started, ends, or is too slow (then it is ended). This one goes on.
    pub(super) async fn ended(&mut self) -> Result<u32, ListenError> {
        let ended = (&mut self.starting).await;
        ended.unwrap_or_else(|error| Err(ListenError::HandOver(std::io::Error::other(error))))
    }

    /// Ends the successor.
    pub(super) async fn give_up(mut self) {
        self.is_unwanted.store(true, Ordering::Relaxed);
        // Why it ended is known.
        let _ = self.ended().await;
    }
}

fn start(command: Command, sockets: Arc<ListenerSet>, unwanted: &AtomicBool) -> Result<u32, ListenError> {
    let mut successor = hand_over(&sockets, command)?;
    // A drain that begins meanwhile closes the port with the last descriptor of this process.
    drop(sockets);
    let end = Instant::now() + READY_WITHIN;
    loop {
        let error = match successor.wait_ready(LOOK_EVERY) {
            Ok(()) if !unwanted.load(Ordering::Relaxed) => return Ok(successor.child().id()),
            Ok(()) => ListenError::SuccessorEnded,
            Err(ListenError::SuccessorSlow) if Instant::now() < end && !unwanted.load(Ordering::Relaxed) => continue,
            Err(error) => error,
        };
        // Ended already, or to be ended: either way it is not needed any more.
        let _ = successor.child().kill();
        let _ = successor.child().wait();
        return Err(error);
    }
}
