use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use leat_message::{Fault, Reason};
use leat_stream::{Plain, Socket, Timer};
use leat_trust::Distrust;
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::{TlsConnector, TlsStream};

use crate::endpoint::Tls;

/// Time between starting one attempt and the next (RFC 8305 section 8, "Connection Attempt Delay").
const STAGGER_MS: u64 = 250;
/// Addresses that are tried for one connection.
const ATTEMPTS_MAX: usize = 16;

/// Connects to the first of `addresses` that answers, v6 and v4 in turn, each a moment after the one before or as soon as
/// that one has failed (RFC 8305). `turn` rotates the addresses of each family, so that connections spread over them.
///
/// # Errors
/// `UpstreamConnect` once every attempt has failed.
pub(crate) async fn connect_tcp(addresses: &[IpAddr], port: u16, turn: usize) -> Result<(TcpStream, IpAddr), Reason> {
    let list = in_order(addresses, turn);
    let mut race = Race { waiting: list.into_iter(), port, running: Vec::new(), next: Timer::default() };
    let (stream, ip) = std::future::poll_fn(|cx| race.poll(cx)).await?;
    // A head and a small body leave in one write; waiting for more would only delay them.
    stream.set_nodelay(true).map_err(|_| Reason::UpstreamConnect)?;
    Ok((stream, ip))
}

/// Connects to a Unix socket.
///
/// # Errors
/// `UpstreamConnect`.
pub(crate) async fn connect_unix(path: &Path) -> Result<UnixStream, Reason> {
    UnixStream::connect(path).await.map_err(|_| Reason::UpstreamConnect)
}

/// Does the TLS handshake. With HTTP/2 the endpoint must have chosen it; with HTTP/1.1 it may have chosen nothing.
///
/// # Errors
/// `UpstreamTls`, with what was wrong with the certificate or the protocol.
pub(crate) async fn secure(plain: Plain, tls: &Tls, is_h2: bool) -> Result<Socket, Fault> {
    let connector = TlsConnector::from(tls.trust.config(is_h2).clone());
    let failed = |detail| Fault { reason: Reason::UpstreamTls, detail };
    let shaken = connector.connect(tls.server_name.clone(), plain).await;
    let stream = shaken.map_err(|error| failed(Distrust::of(&error).map(detail)))?;
    let chosen = stream.get_ref().1.alpn_protocol();
    if is_h2 && chosen != Some(b"h2") {
        return Err(failed(Some(Reason::TlsProtocol)));
    }
    Ok(Socket::from(TlsStream::Client(stream)))
}

fn detail(distrust: Distrust) -> Reason {
    match distrust {
        Distrust::Expired => Reason::CertificateExpired,
        Distrust::NotYetValid => Reason::CertificateNotYetValid,
        Distrust::Name => Reason::CertificateName,
        Distrust::Issuer => Reason::CertificateIssuer,
        Distrust::Invalid => Reason::CertificateInvalid,
    }
}

/// v6 first, then one of each family in turn (RFC 8305 section 4), each family rotated by `turn`.
fn in_order(addresses: &[IpAddr], turn: usize) -> Vec<IpAddr> {
    let family = |v6: bool| {
        let list: Vec<IpAddr> = addresses.iter().copied().filter(|ip| ip.is_ipv6() == v6).collect();
        let skip = if list.is_empty() { 0 } else { turn % list.len() };
        let count = list.len();
        list.into_iter().cycle().skip(skip).take(count)
    };
    let (mut v6, mut v4) = (family(true), family(false));
    let mut list = Vec::new();
    while list.len() < ATTEMPTS_MAX {
        let pair = [v6.next(), v4.next()];
        if pair == [None, None] {
            break;
        }
        list.extend(pair.into_iter().flatten());
    }
    list.truncate(ATTEMPTS_MAX);
    list
}

type Attempt = Pin<Box<dyn Future<Output = io::Result<TcpStream>>>>;

struct Race {
    waiting: std::vec::IntoIter<IpAddr>,
    port: u16,
    running: Vec<(IpAddr, Attempt)>,
    next: Timer,
}

impl Race {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(TcpStream, IpAddr), Reason>> {
        loop {
            let mut failed = self.running.is_empty();
            let mut won = None;
            self.running.retain_mut(|(ip, attempt)| match attempt.as_mut().poll(cx) {
                Poll::Pending => true,
                Poll::Ready(Ok(stream)) => {
                    won.get_or_insert((stream, *ip));
                    false
                }
                Poll::Ready(Err(_)) => {
                    failed = true;
                    false
                }
            });
            if let Some(won) = won {
                return Poll::Ready(Ok(won));
            }
            if !failed && (self.waiting.len() == 0 || self.next.poll_due(cx).is_pending()) {
                return Poll::Pending;
            }
            match self.waiting.next() {
                Some(ip) => {
                    self.running.push((ip, Box::pin(TcpStream::connect(SocketAddr::new(ip, self.port)))));
                    self.next.set_after(STAGGER_MS);
                }
                None if self.running.is_empty() => return Poll::Ready(Err(Reason::UpstreamConnect)),
                None => return Poll::Pending,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ips(list: &[&str]) -> Vec<IpAddr> {
        list.iter().map(|ip| ip.parse().unwrap()).collect()
    }

    #[test]
    fn families_take_turns_and_each_is_rotated() {
        let addresses = ips(&["10.0.0.1", "10.0.0.2", "10.0.0.3", "::1", "::2"]);
        assert_eq!(in_order(&addresses, 0), ips(&["::1", "10.0.0.1", "::2", "10.0.0.2", "10.0.0.3"]));
        assert_eq!(in_order(&addresses, 1), ips(&["::2", "10.0.0.2", "::1", "10.0.0.3", "10.0.0.1"]));
        assert!(in_order(&[], 1).is_empty());
    }
}
