use std::net::IpAddr;

use leat_gateway::config::Admin;
use leat_message::{Address, Head, Peer, Reason};

use super::call::Call;

/// Whether a request may be answered. A web page can reach the admin address through a browser that can: by a name of its own
/// that resolves to it (so names must be known), and by a plain form (so writes need a field that a form cannot send, and
/// nothing with an `Origin` writes).
///
/// # Errors
/// Why not.
pub(super) fn check(call: &Call, admin: Option<&Admin>, head: Head<'_>, peer: &Peer) -> Result<(), Reason> {
    let is_open = matches!(call, Call::Read(read) if read.is_open());
    if !is_open && peer.remote != Address::Unix && !is_known(head.host(), admin) {
        return Err(Reason::AdminHost);
    }
    if call.reads() {
        return Ok(());
    }
    if head.fields().get_named(b"origin").is_some() {
        return Err(Reason::AdminOrigin);
    }
    if !call.writes() {
        return Ok(());
    }
    let token = admin.and_then(Admin::token).ok_or(Reason::AdminReadOnly)?;
    let shown = head.fields().get_named(b"authorization").ok_or(Reason::AdminTokenMissing)?;
    let (scheme, shown) = shown.split_at_checked("Bearer ".len()).ok_or(Reason::AdminTokenMissing)?;
    if !scheme.eq_ignore_ascii_case(b"Bearer ") {
        return Err(Reason::AdminTokenMissing);
    }
    // One space or several stand between them (RFC 9110 section 11.4); a token has none.
    if token.is(shown.trim_ascii()) { Ok(()) } else { Err(Reason::AdminTokenWrong) }
}

/// A request without a host is no browser's.
fn is_known(host: &[u8], admin: Option<&Admin>) -> bool {
    let Ok(host) = str::from_utf8(host) else { return false };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_named = |name: &str| name.eq_ignore_ascii_case(host);
    host.is_empty()
        || bare.parse::<IpAddr>().is_ok()
        || is_named("localhost")
        || admin.is_some_and(|admin| admin.hosts().iter().any(|name| is_named(name)))
}
