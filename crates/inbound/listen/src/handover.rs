use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};

use crate::inherited::{FIRST_DESCRIPTOR, READY_NAME, encode};
use crate::{ListenError, ListenerSet};

/// A new process that was started with our listening sockets.
#[derive(Debug)]
pub struct Successor {
    child: Child,
    ready: UnixStream,
}

/// Starts `command` (the new binary) with every socket of the set, under the variables that systemd uses, so that it
/// inherits the connections that wait in them. Both processes accept until this one drains.
///
/// # Errors
/// [`ListenError::HandOver`]; this process goes on as it was.
pub fn hand_over(set: &ListenerSet, mut command: Command) -> Result<Successor, ListenError> {
    let (ready, told) = UnixStream::pair().map_err(ListenError::HandOver)?;
    let mut descriptors: Vec<OwnedFd> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for endpoint in set.endpoints() {
        for bound in endpoint.sockets() {
            descriptors.push(bound.try_clone().map_err(ListenError::HandOver)?.into());
            names.push(encode(&endpoint.address().to_string()));
        }
    }
    descriptors.push(told.into());
    names.push(READY_NAME.to_owned());

    command
        .env("LISTEN_FDS", descriptors.len().to_string())
        .env("LISTEN_FDNAMES", names.join(":"))
        // Its value would be a process id that nobody knows before the start.
        .env_remove("LISTEN_PID")
        .env_remove("LISTEN_FDS_FIRST_FD");
    let mappings = descriptors
        .into_iter()
        .zip(FIRST_DESCRIPTOR.cast_signed()..)
        .map(|(parent_fd, child_fd)| FdMapping { parent_fd, child_fd })
        .collect();
    command.fd_mappings(mappings).map_err(|error| ListenError::HandOver(io::Error::other(error)))?;
    let child = command.spawn().map_err(ListenError::HandOver)?;
    // `command` holds this process's end of what the child got; without it, the child's death is an end of stream.
    drop(command);
    Ok(Successor { child, ready })
}

impl Successor {
    /// Waits until the new process says that it is ready ([`crate::ReadySignal::send`]). Blocks: for a control thread.
    ///
    /// # Errors
    /// [`ListenError::SuccessorEnded`] or [`ListenError::SuccessorSlow`]; the caller goes on serving (and may end the
    /// slow one).
    pub fn wait_ready(&mut self, within: Duration) -> Result<(), ListenError> {
        self.ready.set_read_timeout(Some(within.max(Duration::from_millis(1)))).map_err(ListenError::HandOver)?;
        let mut byte = [0];
        match self.ready.read(&mut byte) {
            Ok(1) => Ok(()),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Err(ListenError::SuccessorSlow)
            }
            Ok(_) | Err(_) => Err(ListenError::SuccessorEnded),
        }
    }

    /// The process.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }
}
