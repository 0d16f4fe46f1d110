use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leat_message::{Exchange, Head, Reason};
use leat_stream::clock::now_ms;
use tokio::sync::Notify;

use super::AuthState;
use super::credential::{self, Credential};
use super::generations::Generations;
use super::identity::Identity;
use super::passwords::{PASSWORD_BYTES_MAX, Passwords};
use super::scheme::Found;

/// Users that a core remembers as right, and for how long, in milliseconds.
const REMEMBERED_MAX: usize = 2_048;
const REMEMBERED_MS: u64 = 300_000;
/// Wrong passwords that it remembers, so that one that a broken program repeats is not computed each time.
const WRONG_MAX: usize = 512;
const WRONG_MS: u64 = 5_000;
/// The longest credential, decoded: a user and a password.
const CREDENTIAL_BYTES_MAX: usize = 512;

/// What a core remembers a credential by: its HMAC under a key that the process made for itself.
type Mark = [u8; 32];

/// Asks for a user and a password (Basic, RFC 7617).
pub(super) struct PasswordCheck {
    passwords: Arc<Passwords>,
    state: Arc<AuthState>,
    user_field: Option<Rc<str>>,
    challenge: Box<[u8]>,
    right: RefCell<Generations<Mark, (Rc<Identity>, u64)>>,
    wrong: RefCell<Generations<Mark, u64>>,
    /// Credentials that are being checked: others with the same wait for the result.
    flights: RefCell<HashMap<Mark, Rc<Flight>>>,
}

#[derive(Default)]
struct Flight {
    landed: Cell<bool>,
    on_landing: Notify,
}

impl PasswordCheck {
    pub(super) fn new(passwords: Arc<Passwords>, state: Arc<AuthState>, user_field: Option<&str>, realm: &str) -> Self {
        Self {
            passwords,
            state,
            user_field: user_field.map(Rc::from),
            challenge: format!("Basic realm=\"{realm}\", charset=\"UTF-8\"").into_bytes().into(),
            right: RefCell::new(Generations::new(REMEMBERED_MAX / 2, usize::MAX)),
            wrong: RefCell::new(Generations::new(WRONG_MAX / 2, usize::MAX)),
            flights: RefCell::default(),
        }
    }

    pub(super) fn challenge(&self) -> &[u8] {
        &self.challenge
    }

    pub(super) fn ask(&self, head: Head<'_>) -> Found {
        match credential::authorization(&head, "Basic") {
            Credential::Absent => Found::Absent,
            Credential::Repeated => Found::Refused(Reason::AuthMalformed),
            Credential::Shown(text) if text.len() > CREDENTIAL_BYTES_MAX * 4 / 3 => {
                Found::Refused(Reason::AuthCredentials)
            }
            Credential::Shown(text) => self.remembered(&self.mark(text)).unwrap_or(Found::Wait),
        }
    }

    pub(super) async fn wait<X: Exchange>(&self, x: &mut X) -> Found {
        let Credential::Shown(text) = credential::authorization(&x.request(), "Basic") else {
            return Found::Refused(Reason::AuthMalformed);
        };
        let mark = self.mark(text);
        let Some((user, password)) = parse(text) else { return Found::Refused(Reason::AuthMalformed) };
        loop {
            if let Some(found) = self.remembered(&mark) {
                return found;
            }
            let ahead = self.flights.borrow().get(&mark).map(Rc::clone);
            let Some(ahead) = ahead else { break };
            let landing = ahead.on_landing.notified();
            if !ahead.landed.get() {
                landing.await;
            }
        }
        let _landing = Landing { check: self, mark, flight: self.take_off(mark) };
        if password.len() > PASSWORD_BYTES_MAX {
            return Found::Refused(Reason::AuthCredentials);
        }
        match self.state.desk().verify(&self.passwords, user.clone(), password).await {
            Err(_) => Found::Refused(Reason::AuthBusy),
            Ok(false) => {
                self.wrong.borrow_mut().put(mark, now_ms() + WRONG_MS, 1);
                Found::Refused(Reason::AuthCredentials)
            }
            Ok(true) => {
                let mut identity = Identity::new(user.as_str());
                if let Some(field) = &self.user_field {
                    identity.tell(field, user.as_bytes());
                }
                let identity = Rc::new(identity);
                self.right.borrow_mut().put(mark, (Rc::clone(&identity), now_ms() + REMEMBERED_MS), 1);
                Found::Known(identity)
            }
        }
    }

    fn remembered(&self, mark: &Mark) -> Option<Found> {
        let now_ms = now_ms();
        if let Some((identity, until_ms)) = self.right.borrow_mut().get(mark)
            && now_ms < *until_ms
        {
            return Some(Found::Known(Rc::clone(identity)));
        }
        let is_wrong = self.wrong.borrow_mut().get(mark).is_some_and(|until_ms| now_ms < *until_ms);
        is_wrong.then_some(Found::Refused(Reason::AuthCredentials))
    }

    fn mark(&self, text: &[u8]) -> Mark {
        hmac::sign(self.state.mark_key(), text).as_ref().try_into().unwrap_or_default()
    }

    fn take_off(&self, mark: Mark) -> Rc<Flight> {
        let flight = Rc::new(Flight::default());
        self.flights.borrow_mut().insert(mark, Rc::clone(&flight));
        flight
    }
}

/// Tells those who wait that there is a result, or that nobody works on one any more.
struct Landing<'c> {
    check: &'c PasswordCheck,
    mark: Mark,
    flight: Rc<Flight>,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.check.flights.borrow_mut().remove(&self.mark);
        self.flight.landed.set(true);
        self.flight.on_landing.notify_waiters();
    }
}

/// User and password (RFC 7617 section 2): base64 of both with a colon between, which a user has none of.
fn parse(text: &[u8]) -> Option<(String, Vec<u8>)> {
    let decoded = STANDARD.decode(text).ok().filter(|decoded| decoded.len() <= CREDENTIAL_BYTES_MAX)?;
    let colon = decoded.iter().position(|&byte| byte == b':')?;
    let (user, password) = decoded.split_at_checked(colon)?;
    let user = std::str::from_utf8(user).ok().filter(|user| !user.is_empty() && !user.chars().any(char::is_control))?;
    Some((user.to_owned(), password.get(1..)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_taken_apart_at_the_first_colon() {
        let pair = |user: &str, password: &[u8]| Some((user.to_owned(), password.to_vec()));
        for (text, wanted) in [
            (STANDARD.encode("ann:secret"), pair("ann", b"secret")),
            (STANDARD.encode("ann:a:b"), pair("ann", b"a:b")),
            (STANDARD.encode("ann:"), pair("ann", b"")),
            (STANDARD.encode("Zoë:\u{e9}"), pair("Zoë", "\u{e9}".as_bytes())),
            (STANDARD.encode(b"ann:\xff"), pair("ann", b"\xff")),
            (STANDARD.encode(":secret"), None),
            (STANDARD.encode("ann"), None),
            (STANDARD.encode("an\nn:secret"), None),
            (STANDARD.encode(b"\xff:secret"), None),
            (STANDARD.encode(format!("a:{}", "x".repeat(CREDENTIAL_BYTES_MAX))), None),
            ("ann:secret".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(parse(text.as_bytes()), wanted, "{text}");
        }
    }
}
