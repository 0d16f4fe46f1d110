use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use ipnet::IpNet;

/// Longest path of a Unix socket, in bytes: `sun_path` on Linux less its NUL.
const UNIX_PATH_BYTES_MAX: usize = 107;

/// Where to listen. Written as `IP:PORT`, `localhost:PORT` or `PORT` (both 127.0.0.1), `unix:PATH` or
/// `unix:PATH,mode=660`, `fd:NUMBER` (a descriptor passed by whoever started the process), or `systemd:NAME` (a socket
/// unit's `FileDescriptorName`). Displays as it is written, so it also names the listener in messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ListenAddress {
    /// A TCP address; port 0 lets the system choose. `[::]` takes IPv4 as well, unless `0.0.0.0` is listed beside it.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix {
        /// Path of the socket file.
        path: PathBuf,
        /// Permission bits of the file; `None` leaves them to the umask.
        mode: Option<u32>,
    },
    /// The inherited descriptor of this number, a listening socket.
    Descriptor(u32),
    /// The inherited sockets of this name.
    Named(String),
}

impl FromStr for ListenAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let wrong = |problem| AddressError { text: text.to_owned(), problem };
        if let Some(rest) = text.strip_prefix("unix:") {
            return unix(rest).map_err(wrong);
        }
        if let Some(number) = text.strip_prefix("fd:") {
            return match number.parse() {
                Ok(number) if number >= 3 => Ok(Self::Descriptor(number)),
                _ => Err(wrong(Problem::Descriptor)),
            };
        }
        if let Some(name) = text.strip_prefix("systemd:") {
            let legal =
                !name.is_empty() && name.len() <= 255 && name.bytes().all(|b| b.is_ascii_graphic() && b != b':');
            return if legal { Ok(Self::Named(name.to_owned())) } else { Err(wrong(Problem::Name)) };
        }
        tcp(text).map_err(wrong)
    }
}

fn unix(rest: &str) -> Result<ListenAddress, Problem> {
    let (path, mode) = match rest.rsplit_once(",mode=") {
        Some((path, digits)) => match u32::from_str_radix(digits, 8) {
            Ok(bits) if bits <= 0o777 && !digits.starts_with('+') => (path, Some(bits)),
            _ => return Err(Problem::Mode),
        },
        None => (rest, None),
    };
    if path.is_empty() || path.bytes().any(|b| b == 0) {
        return Err(Problem::PathMissing);
    }
    if path.len() > UNIX_PATH_BYTES_MAX {
        return Err(Problem::PathLong);
    }
    Ok(ListenAddress::Unix { path: PathBuf::from(path), mode })
}

fn tcp(text: &str) -> Result<ListenAddress, Problem> {
    if let Ok(address) = text.parse() {
        return Ok(ListenAddress::Tcp(address));
    }
    if text.contains("://") {
        return Err(Problem::Url);
    }
    if text.starts_with('/') || text.starts_with("./") {
        return Err(Problem::Path);
    }
    if text.parse::<IpAddr>().is_ok() || text == "localhost" || bracketed(text) {
        return Err(Problem::PortMissing);
    }
    let (host, port) = text.rsplit_once(':').unwrap_or(("localhost", text));
    let Some(port) = port_number(port) else {
        return Err(if text.contains(':') || text.starts_with(|c: char| c.is_ascii_digit()) {
            Problem::Port
        } else {
            Problem::Host
        });
    };
    match host {
        "localhost" => Ok(ListenAddress::Tcp((Ipv4Addr::LOCALHOST, port).into())),
        "" | "*" => Err(Problem::Everywhere(port)),
        _ if host.contains(':') && !host.starts_with('[') => Err(Problem::Brackets),
        _ => Err(Problem::Host),
    }
}

fn bracketed(text: &str) -> bool {
    text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some()
}

/// A port as people write it; no sign.
fn port_number(text: &str) -> Option<u16> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix { path, mode: None } => write!(f, "unix:{}", path.display()),
            Self::Unix { path, mode: Some(mode) } => write!(f, "unix:{},mode={mode:03o}", path.display()),
            Self::Descriptor(number) => write!(f, "fd:{number}"),
            Self::Named(name) => write!(f, "systemd:{name}"),
        }
    }
}

/// Why a text is not a [`ListenAddress`], and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError {
    text: String,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Url,
    Path,
    PortMissing,
    Port,
    Host,
    Everywhere(u16),
    Brackets,
    PathMissing,
    PathLong,
    Mode,
    Descriptor,
    Name,
    Source,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = if self.problem == Problem::Source { "a range of addresses" } else { "an address to listen on" };
        write!(f, "`{}` is not {wanted}: ", self.text)?;
        match self.problem {
            Problem::Url => f.write_str("it is a URL; write only host and port, such as 127.0.0.1:8080"),
            Problem::Path => write!(f, "for a Unix socket write unix:{}", self.text),
            Problem::PortMissing => {
                write!(f, "the port is missing; write {}:8080", Bracketed(&self.text))
            }
            Problem::Port => f.write_str("the port is not a number from 0 to 65535; write, say, 127.0.0.1:8080"),
            Problem::Host => f.write_str(
                "names are not looked up here; write an IP address with a port such as 127.0.0.1:8080, \
                 or 0.0.0.0:8080 for every IPv4 address of this machine",
            ),
            Problem::Everywhere(port) => write!(
                f,
                "write 127.0.0.1:{port} for this machine only, or 0.0.0.0:{port} or [::]:{port} for everybody"
            ),
            Problem::Brackets => f.write_str("an IPv6 address stands in brackets, such as [::1]:8080"),
            Problem::PathMissing => f.write_str("the path is missing; write, say, unix:/run/leat.sock"),
            Problem::PathLong => {
                write!(f, "the path of a Unix socket has at most {UNIX_PATH_BYTES_MAX} bytes; choose a shorter one")
            }
            Problem::Mode => {
                f.write_str("the mode is not three octal digits; write, say, unix:/run/leat.sock,mode=660")
            }
            Problem::Descriptor => {
                f.write_str("a passed descriptor has a number from 3 on; write fd:3 for the first one")
            }
            Problem::Name => f.write_str(
                "the name is what FileDescriptorName= says in the socket unit (1 to 255 visible characters, no colon); \
                 write, say, systemd:web",
            ),
            Problem::Source => f.write_str("write an IP address such as 10.0.0.7, or a network such as 10.0.0.0/8"),
        }
    }
}

impl std::error::Error for AddressError {}

/// Addresses that are believed what they say of others: one IP address, or a network such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustedSource(IpNet);

impl TrustedSource {
    /// The network of the first `bits` bits of `address`; `None` if it has not so many.
    pub fn network(address: IpAddr, bits: u8) -> Option<Self> {
        IpNet::new(address, bits).ok().map(Self)
    }

    /// Whether `address` is one of them. An IPv4 address mapped to IPv6 counts as what it is.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl FromStr for TrustedSource {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map(Self).map_err(|_| AddressError { text: text.to_owned(), problem: Problem::Source })
    }
}

/// An address in the form that takes a port behind it.
struct Bracketed<'a>(&'a str);

impl fmt::Display for Bracketed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.contains(':') && !self.0.starts_with('[') { write!(f, "[{}]", self.0) } else { f.write_str(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_display_as_they_are_written() {
        for text in [
            "127.0.0.1:8080",
            "0.0.0.0:0",
            "[::1]:80",
            "[::]:443",
            "unix:/run/leat.sock",
            "unix:leat.sock,mode=660",
            "unix:/run/a,mode=x/b,mode=007",
            "fd:3",
            "systemd:web",
        ] {
            assert_eq!(text.parse::<ListenAddress>().map(|a| a.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn short_forms_mean_this_machine_only() {
        for text in ["8080", "localhost:8080"] {
            assert_eq!(text.parse::<ListenAddress>().unwrap().to_string(), "127.0.0.1:8080");
        }
    }

    #[test]
    fn a_source_is_an_address_or_a_network() {
        for (source, address, inside) in [
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.8", false),
            ("::1", "::1", true),
            ("2001:db8::/32", "2001:db8:1::1", true),
            ("0.0.0.0/0", "::1", false),
        ] {
            let source: TrustedSource = source.parse().unwrap();
            assert_eq!(source.contains(address.parse().unwrap()), inside, "{source:?} {address}");
        }
        for text in ["", "10.0.0.0/33", "localhost", "10.0.0.1:80"] {
            assert!(text.parse::<TrustedSource>().unwrap_err().to_string().contains("10.0.0.0/8"));
        }
    }

    #[test]
    fn a_wrong_address_says_what_to_write() {
        for (text, advice) in [
            ("", "127.0.0.1:8080"),
            ("http://127.0.0.1:80", "only host and port"),
            ("/run/leat.sock", "unix:/run/leat.sock"),
            ("127.0.0.1", "127.0.0.1:8080"),
            ("localhost", "localhost:8080"),
            ("::1", "[::1]:8080"),
            ("[::1]", "[::1]:8080"),
            ("fe80::1:x:80", "[::1]:8080"),
            ("127.0.0.1:http", "0 to 65535"),
            ("127.0.0.1:+80", "0 to 65535"),
            ("127.0.0.1:70000", "0 to 65535"),
            ("70000", "0 to 65535"),
            ("example.com:80", "names are not looked up"),
            ("web", "names are not looked up"),
            (":80", "0.0.0.0:80"),
            ("*:80", "[::]:80"),
            ("unix:", "unix:/run/leat.sock"),
            ("unix:/a,mode=9", "mode=660"),
            ("unix:/a,mode=1777", "mode=660"),
            ("fd:2", "fd:3"),
            ("fd:x", "fd:3"),
            ("systemd:", "systemd:web"),
            ("systemd:a:b", "systemd:web"),
        ] {
            let error = text.parse::<ListenAddress>().expect_err(text).to_string();
            assert!(error.contains(advice), "{error}");
        }
        let long = format!("unix:/{}", "a".repeat(107)).parse::<ListenAddress>().expect_err("long");
        assert!(long.to_string().contains("shorter"));
    }
}
