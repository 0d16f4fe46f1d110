use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use super::passwords::Passwords;

/// Passwords that are checked at one time, in the whole process: each takes a processor for tens of milliseconds.
const AT_ONCE: usize = 2;
/// Passwords that may wait for that: at 50 ms each, the last one waits for some three seconds.
const WAITING_MAX: usize = 128;

/// Where passwords are checked: beside the cores, a few at a time, so that neither right nor wrong ones stop other
/// requests.
#[derive(Debug)]
pub(super) struct PasswordDesk {
    seats: Semaphore,
    waiting: AtomicUsize,
}

/// More wait than may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy;

impl Default for PasswordDesk {
    fn default() -> Self {
        Self { seats: Semaphore::new(AT_ONCE), waiting: AtomicUsize::new(0) }
    }
}

impl PasswordDesk {
    /// Checks a password on a thread of the runtime's own. Dropping the future gives the place in the queue up.
    ///
    /// # Errors
    /// [`Busy`] where too many wait already.
    pub(super) async fn verify(
        &self,
        passwords: &Arc<Passwords>,
        user: String,
        password: Vec<u8>,
    ) -> Result<bool, Busy> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING_MAX {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Busy);
        }
        let place = Place(&self.waiting);
        let seat = self.seats.acquire().await.map_err(|_| Busy)?;
        let passwords = Arc::clone(passwords);
        let checked = tokio::task::spawn_blocking(move || passwords.verify(&user, &password)).await;
        drop((seat, place));
        Ok(checked.unwrap_or(false))
    }
}

/// A place in the queue.
struct Place<'d>(&'d AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
