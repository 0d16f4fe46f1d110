use std::env;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use rustix::time::{ClockId, clock_gettime};
use socket2::SockAddr;

/// The service manager that wants to know how the process is doing (sd_notify(3); a unit with `Type=notify` or
/// `notify-reload`). Without one, every call does nothing.
#[derive(Clone, Debug, Default)]
pub struct Supervisor {
    address: Option<SockAddr>,
}

impl Supervisor {
    /// The one that `NOTIFY_SOCKET` names.
    ///
    /// # Errors
    /// A name that no socket can have.
    pub fn from_env() -> io::Result<Self> {
        match env::var_os("NOTIFY_SOCKET") {
            Some(name) if !name.is_empty() => Ok(Self { address: Some(address_of(PathBuf::from(name))?) }),
            _ => Ok(Self::default()),
        }
    }

    /// Says that the process accepts connections, at its start or after a reload.
    ///
    /// # Errors
    /// Those of the socket, here and below; worth a warning, never a reason to stop.
    pub fn ready(&self) -> io::Result<()> {
        self.send("READY=1")
    }

    /// Says that a reload begins.
    ///
    /// # Errors
    /// As [`Supervisor::ready`].
    pub fn reloading(&self) -> io::Result<()> {
        let now = clock_gettime(ClockId::Monotonic);
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={}", now.tv_sec * 1_000_000 + now.tv_nsec / 1_000))
    }

    /// Says that the process drains.
    ///
    /// # Errors
    /// As [`Supervisor::ready`].
    pub fn stopping(&self) -> io::Result<()> {
        self.send("STOPPING=1")
    }

    /// Says that a successor is the service's main process from now on. From the old process, which the manager still
    /// listens to, before it ends.
    ///
    /// # Errors
    /// As [`Supervisor::ready`].
    pub fn succeeded_by(&self, process: u32) -> io::Result<()> {
        self.send(&format!("MAINPID={process}"))
    }

    fn send(&self, state: &str) -> io::Result<()> {
        let Some(address) = &self.address else { return Ok(()) };
        let socket = socket2::Socket::from(std::os::fd::OwnedFd::from(UnixDatagram::unbound()?));
        // A manager that does not read must not hold the process up.
        socket.set_nonblocking(true)?;
        socket.send_to(state.as_bytes(), address).map(|_| ())
    }
}

/// A path, or with `@` a name in Linux's abstract name space.
fn address_of(name: PathBuf) -> io::Result<SockAddr> {
    match name.to_str().and_then(|text| text.strip_prefix('@')) {
        Some(name) => SockAddr::unix(format!("\0{name}")),
        None => SockAddr::unix(name),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;

    use super::*;

    fn said(manager: &UnixDatagram) -> String {
        let mut bytes = [0; 256];
        let count = manager.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..count].to_vec()).unwrap()
    }

    #[test]
    fn the_manager_hears_every_state() {
        let path = std::env::temp_dir().join(format!("leat-notify-{}", std::process::id()));
        let name = format!("leat-notify-{}", std::process::id());
        for (manager, address) in [
            (UnixDatagram::bind(&path).unwrap(), path.clone()),
            (
                UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap(),
                PathBuf::from(format!("@{name}")),
            ),
        ] {
            let supervisor = Supervisor { address: Some(address_of(address).unwrap()) };
            supervisor.ready().unwrap();
            assert_eq!(said(&manager), "READY=1");
            supervisor.reloading().unwrap();
            let reloading = said(&manager);
            let time = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap();
            assert!(time.parse::<u64>().unwrap() > 0);
            supervisor.stopping().unwrap();
            assert_eq!(said(&manager), "STOPPING=1");
            supervisor.succeeded_by(7).unwrap();
            assert_eq!(said(&manager), "MAINPID=7");
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn without_a_manager_nothing_happens() {
        assert!(Supervisor::default().ready().is_ok());
        let gone = Supervisor { address: Some(address_of(PathBuf::from("/nonexistent/notify")).unwrap()) };
        assert!(gone.ready().is_err());
    }
}
