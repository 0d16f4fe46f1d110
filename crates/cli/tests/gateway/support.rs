use std::fmt::Display;

use leat_testkit::{Leat, Peer, Response, Script};

/// A gateway that passes everything on to one endpoint and adds nothing of its own.
pub(crate) const BARE: &str = "forwarded: { style: off, via: off, request_id: off }";

/// A configuration with one route to one endpoint. `root` are lines of the file, `proxy`, `route` and `upstream` keys of
/// those sections, each as `key: value` in flow style.
pub(crate) fn config(endpoint: impl Display, root: &str, proxy: &str, route: &str, upstream: &str) -> String {
    let route = if route.is_empty() { String::new() } else { format!(", {route}") };
    let proxy = if proxy.is_empty() { String::new() } else { format!(", {proxy}") };
    let upstream = if upstream.is_empty() { String::new() } else { format!(", {upstream}") };
    format!(
        "listeners: 127.0.0.1:0
workers: 1
{root}
routes:
  - {{ name: all, proxy: {{ upstream: up{proxy} }}{route} }}
upstreams:
  up: {{ endpoints: [\"{endpoint}\"]{upstream} }}
"
    )
}

/// The gateway of [`BARE`] in front of `peer`.
pub(crate) fn bare(peer: &Peer) -> Leat {
    Leat::gateway(&config(url(peer), BARE, "", "", ""), 1)
}

/// The same with keys of the `proxy` section.
pub(crate) fn bare_with(peer: &Peer, proxy: &str) -> Leat {
    Leat::gateway(&config(url(peer), BARE, proxy, "", ""), 1)
}

pub(crate) fn url(peer: &Peer) -> String {
    format!("http://{}", peer.address())
}

/// A server that answers every head on a connection with `reply`.
pub(crate) fn answers(reply: &str, times: usize) -> Script {
    (0..times).fold(Script::new(), |script, _| script.expect_head().send(reply))
}

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// The lines of a head that was received, without its first line and the empty one.
pub(crate) fn lines(head: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(head).into_owned();
    let head = text.split("\r\n\r\n").next().unwrap_or_default();
    head.split("\r\n").skip(1).map(str::to_owned).collect()
}

/// The first line of what was received.
pub(crate) fn first_line(head: &[u8]) -> String {
    String::from_utf8_lossy(head).split("\r\n").next().unwrap_or_default().to_owned()
}

/// The response is an error reply of the gateway itself.
pub(crate) fn is_problem(response: &Response, status: u16, code: &str) {
    assert_eq!(response.status, status, "{}", response.text());
    assert_eq!(response.field("content-type"), Some("application/problem+json"));
    let wanted = format!("\"status\":{status},\"code\":\"{code}\"");
    assert!(response.text().contains(&wanted), "{wanted} is not in {}", response.text());
}
