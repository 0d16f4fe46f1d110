use std::collections::HashMap;
use std::fmt;

/// bcrypt looks at no more of a password (with its final zero).
pub(crate) const PASSWORD_BYTES_MAX: usize = 72;
/// The dearest hash that is taken, as the logarithm of its rounds: 2^14 take about a second.
pub(crate) const COST_MAX: u32 = 14;
/// The cheapest one: what Apache's `htpasswd -B` makes unless it is told another.
pub(crate) const COST_MIN: u32 = 5;
/// Below it a stolen file is guessed from quickly.
pub(crate) const COST_GOOD: u32 = 8;

/// Users and their passwords as bcrypt, the one strong hash that `htpasswd -B` and all of its kin write. Checking one takes
/// tens of milliseconds on purpose, which is why it never happens on a core's thread.
pub(crate) struct Passwords {
    by_user: HashMap<Box<str>, Box<str>>,
    /// A hash that no password has, at the dearest cost of the file: an unknown user takes as long as a known one.
    nobody: Box<str>,
    /// The line with the cheapest hash, and its cost.
    cheapest: (usize, u32),
}

/// Why a line of a password file is of no use. Never says what stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PasswordLine {
    /// There is no `:` in it, or no user before it.
    NoUser,
    /// The hash is not bcrypt's.
    NotBcrypt,
    /// Its cost is too low or too high.
    Cost(u32),
    /// The user stands there twice.
    Twice,
}

impl Passwords {
    /// Reads lines of `user:hash`; empty ones and those that start with `#` are passed over.
    ///
    /// # Errors
    /// Every line that is of no use, by its number from 1.
    pub(crate) fn parse(text: &str) -> Result<Self, Vec<(usize, PasswordLine)>> {
        let mut by_user = HashMap::new();
        let mut wrong = Vec::new();
        let (mut dearest, mut cheapest) = (COST_MIN, (0, COST_MAX));
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let read = match line.split_once(':') {
                Some((user, hash)) if !user.is_empty() => cost(hash).map(|cost| (user, hash, cost)),
                _ => Err(PasswordLine::NoUser),
            };
            match read {
                Ok((user, hash, cost)) => {
                    dearest = dearest.max(cost);
                    if cost < cheapest.1 {
                        cheapest = (number + 1, cost);
                    }
                    if by_user.insert(user.into(), hash.into()).is_some() {
                        wrong.push((number + 1, PasswordLine::Twice));
                    }
                }
                Err(why) => wrong.push((number + 1, why)),
            }
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        // 22 characters of salt and 31 of a hash that is no password's but by a chance of 2^-184.
        let nobody = format!("$2b${dearest:02}${}{}", "abcdefghijklmnopqrstuu", "0".repeat(31));
        Ok(Self { by_user, nobody: nobody.into(), cheapest })
    }

    /// The first line whose hash is quick to guess from, and its cost.
    pub(crate) fn weak(&self) -> Option<(usize, u32)> {
        Some(self.cheapest).filter(|(_, cost)| *cost < COST_GOOD)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_user.is_empty()
    }

    /// Whether the user has this password. Takes tens of milliseconds, also for a user who is not there.
    pub(crate) fn verify(&self, user: &str, password: &[u8]) -> bool {
        let (hash, known) = match self.by_user.get(user) {
            Some(hash) => (hash, true),
            None => (&self.nobody, false),
        };
        bcrypt::verify(password, hash).unwrap_or(false) && known
    }
}

/// The cost of a bcrypt hash: `$2y$` (also `2a`, `2b`, `2x` is broken), two digits, `$`, 53 characters.
fn cost(hash: &str) -> Result<u32, PasswordLine> {
    let rest = ["$2y$", "$2b$", "$2a$"].iter().find_map(|start| hash.strip_prefix(start));
    let (cost, rest) = rest.and_then(|rest| rest.split_once('$')).ok_or(PasswordLine::NotBcrypt)?;
    let is_whole = rest.len() == 53 && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'/');
    match cost.parse() {
        Ok(cost) if is_whole && (COST_MIN..=COST_MAX).contains(&cost) => Ok(cost),
        Ok(cost) if is_whole => Err(PasswordLine::Cost(cost)),
        _ => Err(PasswordLine::NotBcrypt),
    }
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passwords").field("users", &self.by_user.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `open sesame`, at cost 8 and in the form of `htpasswd -B`.
    fn line(user: &str) -> String {
        let parts = bcrypt::hash_with_result("open sesame", 8).unwrap();
        format!("{user}:{}", parts.format_for_version(bcrypt::Version::TwoY))
    }

    #[test]
    fn a_password_is_its_users_alone() {
        let passwords = Passwords::parse(&format!("# staff\n\n{}\n{}\n", line("ann"), line("Zoë"))).unwrap();
        for (user, password, is_right) in [
            ("ann", "open sesame", true),
            ("Zoë", "open sesame", true),
            ("ann", "open sesam", false),
            ("ann", "", false),
            ("bob", "open sesame", false),
            ("", "open sesame", false),
        ] {
            assert_eq!(passwords.verify(user, password.as_bytes()), is_right, "{user} {password}");
        }
        assert_eq!(format!("{passwords:?}"), "Passwords { users: 2, .. }");
    }

    #[test]
    fn lines_of_no_use_are_told_by_number() {
        let weak = line("ann").replace("$08$", "$04$");
        let dear = line("ann").replace("$08$", "$31$");
        for (text, wrong) in [
            ("ann".to_owned(), PasswordLine::NoUser),
            (format!(":{}", line("")), PasswordLine::NoUser),
            ("ann:secret".to_owned(), PasswordLine::NotBcrypt),
            ("ann:$apr1$abc$def".to_owned(), PasswordLine::NotBcrypt),
            (line("ann").replace("$2y$", "$2x$"), PasswordLine::NotBcrypt),
            (format!("{}x", line("ann")), PasswordLine::NotBcrypt),
            (weak, PasswordLine::Cost(4)),
            (dear, PasswordLine::Cost(31)),
        ] {
            assert_eq!(Passwords::parse(&format!("\n{text}")).unwrap_err(), [(2, wrong)], "{text}");
        }
        let (good, usual) = (line("ann"), line("bob").replace("$08$", "$05$"));
        assert_eq!(Passwords::parse(&good).unwrap().weak(), None);
        assert_eq!(Passwords::parse(&format!("{good}\n{usual}")).unwrap().weak(), Some((2, 5)));
        let twice = format!("{}\n{}", line("ann"), line("ann"));
        assert_eq!(Passwords::parse(&twice).unwrap_err(), [(2, PasswordLine::Twice)]);
    }
}
