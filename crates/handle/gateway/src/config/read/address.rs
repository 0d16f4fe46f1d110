//! Addresses as people write them.

use std::net::{IpAddr, SocketAddr};

use crate::config::model::{Bind, Network};
use crate::config::table::{Reader, Text};

/// The longest path of a Unix socket, in bytes: `sun_path` less its final NUL.
const UNIX_PATH_MAX: usize = 107;

/// Reads an address to listen on.
pub(super) fn bind(reader: &Reader, text: Text<'_>) -> Option<Bind> {
    if let Some(path) = text.value.strip_prefix("unix:") {
        return unix(reader, Text { value: path, ..text }).map(Bind::Unix);
    }
    if let Ok(address) = text.value.parse::<SocketAddr>() {
        return Some(Bind::Tcp(address));
    }
    let (message, help) = bind_mistake(text.value);
    reader.problem_help(text.place, format!("the address `{}` {message}", text.value), help);
    None
}

fn bind_mistake(text: &str) -> (String, String) {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return (
            "is a port without a host".to_owned(),
            format!("write `127.0.0.1:{text}`, or `0.0.0.0:{text}` to be reached from elsewhere"),
        );
    }
    if text.contains("://") {
        let rest = text.split_once("://").map_or("", |(_, rest)| rest).trim_end_matches('/');
        return ("is a URL".to_owned(), format!("write `{rest}`; encryption is switched on by `tls`"));
    }
    if text.parse::<IpAddr>().is_ok() {
        let host = if text.contains(':') { format!("[{text}]") } else { text.to_owned() };
        return ("has no port".to_owned(), format!("write `{host}:8080`"));
    }
    let Some((host, port)) = text.rsplit_once(':') else {
        return (
            "is not host:port".to_owned(),
            "write for example `127.0.0.1:8080` or `unix:/run/leat.sock`".to_owned(),
        );
    };
    if port.parse::<u16>().is_err() {
        return (format!("has a port (`{port}`) that is not a number from 0 to 65535"), format!("write `{host}:8080`"));
    }
    match host {
        "localhost" => {
            ("names a host, but an IP address is needed to listen on".to_owned(), format!("write `127.0.0.1:{port}`"))
        }
        "" | "*" => (
            "has no IP address".to_owned(),
            format!("write `127.0.0.1:{port}`, or `0.0.0.0:{port}` to be reached from elsewhere"),
        ),
        _ if host.contains(':') => {
            ("is not host:port".to_owned(), format!("put an IPv6 address in brackets: `[{host}]:{port}`"))
        }
        _ => (
            "needs an IP address to listen on".to_owned(),
            format!("write `127.0.0.1:{port}`, or `0.0.0.0:{port}` to be reached from elsewhere"),
        ),
    }
}

/// Reads the path of a Unix socket.
pub(super) fn unix(reader: &Reader, text: Text<'_>) -> Option<std::path::PathBuf> {
    // `unix:///run/x` is how URLs of such sockets are often written.
    let path = text.value.strip_prefix("//").unwrap_or(text.value);
    let full = reader.path(path);
    let message = if path.is_empty() {
        "the path of the Unix socket is empty".to_owned()
    } else if full.as_os_str().len() > UNIX_PATH_MAX {
        format!("the path of the Unix socket is longer than {UNIX_PATH_MAX} bytes")
    } else {
        return Some(full);
    };
    reader.problem_help(text.place, message, "write for example `unix:/run/app.sock`");
    None
}

/// Reads `10.0.0.0/8`, or a single address.
pub(super) fn network(reader: &Reader, text: Text<'_>) -> Option<Network> {
    let (address, bits) = match text.value.split_once('/') {
        Some((address, bits)) => (address, Some(bits)),
        None => (text.value, None),
    };
    let Ok(address) = address.parse::<IpAddr>() else {
        reader.problem_help(
            text.place,
            format!("`{}` is not a network", text.value),
            "write for example `10.0.0.0/8` or `::1`",
        );
        return None;
    };
    let bits_max = if address.is_ipv4() { 32 } else { 128 };
    let bits = match bits.map(str::parse::<u8>) {
        None => bits_max,
        Some(Ok(bits)) if bits <= bits_max => bits,
        Some(_) => {
            reader.problem_help(
                text.place,
                format!("`{}` has a prefix length that is not from 0 to {bits_max}", text.value),
                "write for example `10.0.0.0/8`",
            );
            return None;
        }
    };
    let network = Network { address: masked(address, bits), bits };
    if network.address != address {
        reader.problem_help(
            text.place,
            format!("`{}` has bits set behind its prefix", text.value),
            format!("write `{}/{bits}`, or `{address}` for the one address", network.address),
        );
        return None;
    }
    Some(network)
}

fn masked(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4((v4.to_bits() & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6((v6.to_bits() & mask).into())
        }
    }
}
