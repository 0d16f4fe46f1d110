//! Unix sockets: one socket that all workers share, at a path where a dead predecessor may have left its file.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;

use socket2::{Domain, SockAddr, Socket, Type};

use crate::bound::{BACKLOG, Bound};
use crate::{ListenAddress, ListenError};

/// Opens the socket. The file stays when the process ends, since a successor may be listening on it; the next start
/// finds nobody listening and replaces it.
pub(crate) fn open(address: &ListenAddress, path: &Path, mode: Option<u32>) -> Result<Bound, ListenError> {
    clear(address, path)?;
    listen(path, mode).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ListenError::Busy(address.clone()),
        _ => ListenError::Bind { address: address.clone(), error },
    })
}

/// Removes a socket file on which nobody listens.
fn clear(address: &ListenAddress, path: &Path) -> Result<(), ListenError> {
    let failed = |error| ListenError::Bind { address: address.clone(), error };
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => {}
        Ok(_) => return Err(ListenError::NotASocket(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    }
    match probe(path) {
        // A full queue (EAGAIN) belongs to a living listener too.
        Ok(()) => Err(ListenError::Busy(address.clone())),
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock => Err(ListenError::Busy(address.clone())),
            io::ErrorKind::ConnectionRefused => fs::remove_file(path).map_err(failed),
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(failed(error)),
        },
    }
}

fn probe(path: &Path) -> io::Result<()> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.connect(&SockAddr::unix(path)?)
}

fn listen(path: &Path, mode: Option<u32>) -> io::Result<Bound> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    // Before listen: nobody connects under the wider permissions that the umask may have left.
    if let Some(mode) = mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    socket.listen(BACKLOG)?;
    Bound::unix(socket.into())
}
