use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use leat_listen::{ListenError, ListenerSet, hand_over};

/// How long a new binary may take until it accepts connections.
const READY_WITHIN: Duration = Duration::from_secs(30);

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

    /// Starts the binary anew with the same sockets and waits until it accepts connections; returns its process number.
    ///
    /// # Errors
    /// The new process can't be started, ends, or is too slow (then it is ended). This one goes on.
    pub(super) async fn start_successor(self, sockets: Arc<ListenerSet>) -> Result<u32, ListenError> {
        let started = tokio::task::spawn_blocking(move || {
            let mut command = Command::new(self.binary);
            command.args(self.arguments);
            let mut successor = hand_over(&sockets, command)?;
            if let Err(error) = successor.wait_ready(READY_WITHIN) {
                // Ended already, or to be ended: either way it is not needed any more.
                let _ = successor.child().kill();
                let _ = successor.child().wait();
                return Err(error);
            }
            Ok(successor.child().id())
        });
        started.await.unwrap_or_else(|error| Err(ListenError::HandOver(std::io::Error::other(error))))
    }
}
