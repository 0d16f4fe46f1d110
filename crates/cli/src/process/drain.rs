use std::time::{Duration, Instant};

use leat_listen::Supervisor;

use super::admin::Readiness;
use super::control::Control;
use super::core::CoreHandle;
use super::signals::Signals;
use crate::event::{Level, event};

/// How long the access log may take to be written out at the end.
const LOG_WITHIN: Duration = Duration::from_secs(2);

/// Why the process drains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It was asked to end.
    End,
    /// A successor accepts connections from the same sockets.
    Succeeded,
}

/// How the wait for the cores ended.
enum Waited {
    AllEnded,
    Deadline,
    Signal,
}

/// Lets what is under way end, up to the deadline; a second signal ends it at once.
pub(super) async fn drain(control: Control, signals: &mut Signals, cause: Cause) {
    let Control { supervisor, shared, mut cores, mut ended, plan, live, admin, exports, reloads, .. } = control;
    // Who asks for a reload from here on is told that there is none.
    drop(reloads);
    live.turn(Readiness::Draining);
    match cause {
        Cause::End => {
            // Not being told is the manager's problem, not a reason to stay.
            let _ = Supervisor::stopping(&supervisor);
        }
        Cause::Succeeded => {
            // Probes and scrapes are for the successor, which has the same socket; a service manager watches it too.
            admin.iter().for_each(tokio::task::JoinHandle::abort);
            leat_stream::begin_drain();
        }
    }
    let drain = plan.config.drain();
    let deadline = Instant::now() + Duration::from_millis(drain.deadline_ms());
    event(Level::Info, "draining", "draining: requests under way are answered, new connections refused", &[]);
    let log = plan.log.clone();
    // Before the cores are told: then theirs are the last descriptors of the listening sockets, and no connection
    // arrives between a core's last look and the moment the port closes.
    drop(plan);
    cores.iter().for_each(CoreHandle::drain);

    let all_ended = async {
        for _ in 0..cores.len() {
            ended.recv().await;
        }
    };
    let waited = tokio::select! {
        biased;
        () = all_ended => Waited::AllEnded,
        () = tokio::time::sleep_until(deadline.into()) => Waited::Deadline,
        () = signals.end() => Waited::Signal,
    };
    let message = match waited {
        Waited::AllEnded => None,
        Waited::Deadline => Some("connections are cut off at the drain deadline"),
        Waited::Signal => Some("connections are cut off by a second signal"),
    };
    match message {
        None => cores.iter_mut().for_each(CoreHandle::join),
        Some(message) => {
            let left = shared.gate.connections().to_string();
            event(Level::Warn, "drain_cut", message, &[("connections", &left)]);
        }
    }
    if let Some(exports) = exports {
        exports.finish().await;
    }
    if let Some(log) = log {
        log.finish(LOG_WITHIN);
    }
    event(Level::Info, "ended", "ended", &[]);
}
