//! Addresses as people write them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::config::model::{Bind, Network};
use crate::config::table::{Reader, Text, shorten};

/// The longest path of a Unix socket, in bytes: `sun_path` less its final NUL.
const UNIX_PATH_MAX: usize = 107;
/// The first descriptor that a process inherits beside its standard streams.
const FIRST_DESCRIPTOR: u32 = 3;

/// Reads an address to listen on.
pub(super) fn bind(reader: &Reader, text: Text<'_>) -> Option<Bind> {
    if let Some(path) = text.value.strip_prefix("unix:") {
        let (path, mode) = match path.rsplit_once(",mode=") {
            Some((path, digits)) => (path, Some(mode(reader, text, digits)?)),
            None => (path, None),
        };
        return unix(reader, Text { value: path, ..text }).map(|path| Bind::Unix { path, mode });
    }
    // A bare port, and the name that every machine has for itself.
    let local = text.value.strip_prefix("localhost:").unwrap_or(text.value);
    if let Ok(address) = text.value.parse::<SocketAddr>() {
        return Some(Bind::Tcp(address));
    }
    if let Some(port) = port_number(local) {
        return Some(Bind::Tcp((Ipv4Addr::LOCALHOST, port).into()));
    }
    if let Some(number) = text.value.strip_prefix("fd:").and_then(|number| number.parse().ok())
        && number >= FIRST_DESCRIPTOR
    {
        return Some(Bind::Descriptor(number));
    }
    if let Some(name) = text.value.strip_prefix("systemd:")
        && !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_graphic() && b != b':')
    {
        return Some(Bind::Systemd(name.to_owned()));
    }
    let (message, help) = bind_mistake(text.value);
    reader.problem_help(text.place, format!("the address `{}` {message}", shorten(text.value)), help);
    None
}

fn mode(reader: &Reader, text: Text<'_>, digits: &str) -> Option<u32> {
    let octal = !digits.is_empty() && digits.bytes().all(|b| matches!(b, b'0'..=b'7'));
    let mode = u32::from_str_radix(digits, 8).ok().filter(|mode| octal && *mode <= 0o777);
    if mode.is_none() {
        reader.problem_help(
            text.place,
            format!("the mode `{}` of the Unix socket is not three octal digits", shorten(digits)),
            "write for example `unix:/run/leat.sock,mode=660`",
        );
    }
    mode
}

fn port_number(text: &str) -> Option<u16> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn bind_mistake(text: &str) -> (&'static str, String) {
    const NOT_HOST_PORT: &str = "is not `host:port`";
    let examples = || "write for example `127.0.0.1:8080` or `unix:/run/leat.sock`".to_owned();
    if let Some((_, rest)) = text.split_once("://") {
        let rest = rest.trim_end_matches('/');
        return ("is a URL", format!("write `{rest}`; encryption is switched on by `tls`"));
    }
    if text.starts_with(['/', '.']) {
        return ("is a path", format!("write `unix:{text}` for a Unix socket"));
    }
    if text.starts_with("fd:") {
        return ("has no number of an inherited descriptor", format!("write `fd:{FIRST_DESCRIPTOR}`"));
    }
    if text.starts_with("systemd:") {
        return ("has no name of a systemd socket", "write for example `systemd:web`".to_owned());
    }
    if text.parse::<IpAddr>().is_ok() {
        let host = if text.contains(':') { format!("[{text}]") } else { text.to_owned() };
        return ("has no port", format!("write `{host}:8080`"));
    }
    let Some((host, port)) = text.rsplit_once(':') else {
        if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() {
            return ("is not a port from 0 to 65535", examples());
        }
        return (NOT_HOST_PORT, examples());
    };
    if port_number(port).is_none() {
        return ("has a port that is not a number from 0 to 65535", format!("write `{host}:8080`"));
    }
    match host {
        "" | "*" => {
            ("has no IP address", format!("write `127.0.0.1:{port}`, or `0.0.0.0:{port}` to be reached from elsewhere"))
        }
        _ if host.matches(':').count() > 1 && !host.starts_with('[') => {
            (NOT_HOST_PORT, format!("put an IPv6 address in brackets: `[{host}]:{port}`"))
        }
        _ if host.contains(':') && !host.starts_with('[') => (NOT_HOST_PORT, examples()),
        _ => (
            "needs an IP address to listen on",
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
    Some(plain(network))
}

/// A network of IPv4 addresses that are written as IPv6 ones (RFC 4291 section 2.5.5.2), as what it is: so clients are looked at.
fn plain(network: Network) -> Network {
    match (network.address.to_canonical(), network.bits.checked_sub(96)) {
        (address @ IpAddr::V4(_), Some(bits)) if network.address.is_ipv6() => Network { address, bits },
        _ => network,
    }
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
