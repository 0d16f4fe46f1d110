use std::rc::Rc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use leat_policy::limit::{Decision, Gcra, Limit, Verdict};
use leat_redis::{Arguments, Numbers, Question, Script};

use super::counted::Counted;
use super::key::Asked;

/// Decides about several limits in one step of the server's.
pub(super) const SCRIPT: Script = Script { text: include_str!("limits.lua") };
/// How much of a key's SHA-256 tells it apart on the server: 128 bits, in hexadecimal digits.
const KEY_DIGITS: usize = 32;

/// A limit as the script is asked about it.
pub(super) struct Asking {
    pub(super) limit: Rc<Counted>,
    pub(super) cost: u64,
    /// What every key of the limit starts with on the server.
    prefix: String,
    /// The kind, the most, and the interval or window.
    law: Arguments,
    /// What a request costs, which is what is wanted as well.
    price: Arguments,
}

/// What a request's key is called on the server, behind the prefix: braces and digits of its hash. In a cluster the braces make
/// it the tag, so that limits with the same key and value have the same slot.
pub(super) type Tag = [u8; KEY_DIGITS + 2];

impl Asking {
    pub(super) fn new(limit: &Rc<Counted>, cost: u64) -> Self {
        // A tick of the script is an eighth of a microsecond.
        let ticks = |time: Duration| time.as_micros() * 8;
        let (kind, most, span, window) = match &limit.law {
            Limit::Gcra(law) => {
                // Rounded up, as the interval of `Gcra` is: the rate is never above what was asked for.
                ("g", law.burst(), ticks(law.per()).div_ceil(u128::from(law.quota())), String::new())
            }
            Limit::SlidingWindow(law) => ("w", law.limit(), ticks(law.window()), law.window().as_millis().to_string()),
        };
        let (most, span, price) = (most.to_string(), span.to_string(), cost.to_string());
        Self {
            limit: Rc::clone(limit),
            cost,
            prefix: format!("leat:limit:{}:{kind}{window}:", limit.name),
            law: Arguments::new([kind, &most, &span]),
            price: Arguments::new([price.as_str(), &price]),
        }
    }

    /// As the script is asked for units: by what the server lends out, under keys of their own, since a state that was counted
    /// with another burst would mean something else.
    pub(super) fn leased(limit: &Rc<Counted>, cost: u64, law: &Gcra) -> Self {
        let span = (law.per().as_micros() * 8).div_ceil(u128::from(law.quota())).to_string();
        let prefix = format!("leat:limit:{}:l:", limit.name);
        let law = Arguments::new(["g", law.burst().to_string().as_str(), span.as_str()]);
        Self { prefix, law, ..Self::new(limit, cost) }
    }

    /// Names the key of a request.
    pub(super) fn put_key(&self, tag: &Tag, question: &mut Question) {
        question.key(&[self.prefix.as_bytes(), tag]);
    }

    /// The arguments behind all keys.
    pub(super) fn put_arguments(&self, question: &mut Question) {
        question.arguments(&self.law);
        question.arguments(&self.price);
    }

    /// Asks for `want` units of which `need` are needed.
    pub(super) fn put_loan(&self, asked: &Asked<'_>, need: u64, want: u64, question: &mut Question) {
        question.clear();
        self.put_key(&self.tag(asked), question);
        question.arguments(&self.law);
        question.number(need);
        question.number(want);
    }

    /// What tells the request's key apart. A hash: a value may be long, or a credential. SHA-256, since a client that could
    /// make two keys equal would count against another one.
    pub(super) fn tag(&self, asked: &Asked<'_>) -> Tag {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let hash = self.limit.with_key(asked, |key| digest(&SHA256, key));
        let mut tag = [b'{'; KEY_DIGITS + 2];
        let (pairs, last) = tag[1..].split_at_mut(KEY_DIGITS);
        for (pair, byte) in pairs.chunks_exact_mut(2).zip(hash.as_ref()) {
            pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
        last.copy_from_slice(b"}");
        tag
    }
}

/// The limit that the script speaks of, by its place, and what it says.
pub(super) fn verdict_of(numbers: &Numbers) -> Option<(usize, Verdict)> {
    let &[admitted, number, remaining, reset_us, wait_us, _] = numbers.list() else { return None };
    let decision = match admitted {
        1 => Decision::Admit,
        0 => Decision::Refuse { retry_after: u64::try_from(wait_us).ok().map(Duration::from_micros) },
        _ => return None,
    };
    let reset = Duration::from_micros(u64::try_from(reset_us).ok()?);
    Some((usize::try_from(number).ok()?, Verdict { decision, remaining: u64::try_from(remaining).ok()?, reset }))
}
