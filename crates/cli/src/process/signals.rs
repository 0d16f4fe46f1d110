use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// SIGTERM or SIGINT.
    End,
    /// SIGHUP.
    Reload,
    /// SIGUSR1, as programs that rotate logs send it.
    Reopen,
    /// SIGUSR2.
    Upgrade,
}

/// The signals that are heard. Registered before anything else, so that one during the start is a clean end too.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
    reopen: Signal,
    upgrade: Signal,
}

impl Signals {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            reopen: signal(SignalKind::user_defined1())?,
            upgrade: signal(SignalKind::user_defined2())?,
        })
    }

    /// The next signal.
    pub(super) async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.terminate.recv() => Wish::End,
            _ = self.interrupt.recv() => Wish::End,
            _ = self.hang_up.recv() => Wish::Reload,
            _ = self.reopen.recv() => Wish::Reopen,
            _ = self.upgrade.recv() => Wish::Upgrade,
        }
    }

    /// The next signal that asks for the end; others are not heard.
    pub(super) async fn end(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
