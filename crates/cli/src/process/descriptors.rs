use rustix::process::{Resource, getrlimit, setrlimit};

use crate::event::{Level, event};

/// Lets the process open as many descriptors as it may: the soft limit is low by default for the sake of programs that
/// use select(2), which this one does not.
pub(super) fn raise_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return;
    }
    limit.current = limit.maximum;
    // Then it stays as it is; accepting pauses where descriptors run out.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Says so where the process may not open as many descriptors as the configuration allows connections.
pub(super) fn warn_if_few(connections_max: usize) {
    let Some(may_open) = getrlimit(Resource::Nofile).current else { return };
    if may_open >= connections_max as u64 {
        return;
    }
    event(
        Level::Warn,
        "few_descriptors",
        "the process may open fewer descriptors than limits.connections_max lets connections in, and each needs one, or \
         two with an upstream: raise the limit (ulimit -n, LimitNOFILE=) or lower connections_max",
        &[("descriptors", &may_open.to_string()), ("connections_max", &connections_max.to_string())],
    );
}
