use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};

use leat_message::{Head, Phase, Phases};

use super::record::Entry;
use super::ring::Slot;
use super::text::Text;

/// Fields of the request that a line may carry besides the usual ones.
pub const FIELDS_MAX: usize = 8;
/// The most that is kept of each, in bytes.
const FIELD_BYTES_MAX: usize = 256;
/// And of all together.
pub(super) const FIELDS_BYTES_MAX: usize = FIELDS_MAX * FIELD_BYTES_MAX;

const TRACE: u64 = 1;
const PHASES: u64 = 2;
const FIELDS: u64 = 4;
const CLIENT: u64 = 8;
/// From this bit of the first word on: which of the fields were cut.
const CUT_SHIFT: usize = 8;

/// The words of each part.
const TRACE_WORDS: usize = 3;
const PHASES_WORDS: usize = 3;
const LENGTHS_WORDS: usize = 2;
const CLIENT_WORDS: usize = 2;

/// Where the time of an exchange went, in tenths of a microsecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimes {
    /// Parsing, and behind earlier requests of the same read.
    pub parse: u32,
    /// Finding the route.
    pub route: u32,
    /// Authentication, and who may use the route at all.
    pub auth: u32,
    /// Rate limits.
    pub limit: u32,
    /// Plug-ins, until they have decided.
    pub plugin: u32,
    /// From the upstream's head to the end of the reply.
    pub send: u32,
}

impl PhaseTimes {
    /// What an exchange's marks say. `parse` and `send` are the caller's to know: they touch its ends.
    pub fn of(phases: &Phases, parse: u32, send: u32) -> Self {
        Self {
            parse,
            route: phases.time(Phase::Route),
            auth: phases.time(Phase::Auth),
            limit: phases.time(Phase::Limit),
            plugin: phases.time(Phase::Plugin),
            send,
        }
    }

    /// All phases in their order; those of the upstream are measured in microseconds.
    pub(super) fn named(&self, connect_us: u32, upstream_us: u32) -> [(&'static str, u64); 8] {
        [
            ("parse", u64::from(self.parse)),
            ("route", u64::from(self.route)),
            ("auth", u64::from(self.auth)),
            ("limit", u64::from(self.limit)),
            ("plugin", u64::from(self.plugin)),
            ("connect", u64::from(connect_us) * 10),
            ("upstream", u64::from(upstream_us) * 10),
            ("send", u64::from(self.send)),
        ]
    }
}

/// What only some records have, behind their texts: a log without it pays a comparison.
pub(super) struct Tail<'a> {
    flags: u64,
    entry: &'a Entry<'a>,
    fields: Option<Fields<'a>>,
}

/// The fields of one request that the log wants.
struct Fields<'a> {
    lengths: [u64; LENGTHS_WORDS],
    values: [&'a [u8]; FIELDS_MAX],
    words: usize,
}

impl<'a> Tail<'a> {
    #[inline]
    pub(super) fn of(entry: &'a Entry<'a>, names: &[Box<str>]) -> Self {
        let mut flags = 0;
        if entry.record.trace.is_some() {
            flags |= TRACE;
        }
        if entry.phases.is_some() {
            flags |= PHASES;
        }
        if entry.client.is_some() {
            flags |= CLIENT;
        }
        match entry.request {
            Some(head) if !names.is_empty() => {
                let (fields, cut) = look_up(head, names);
                Self { flags: flags | FIELDS | cut << CUT_SHIFT, entry, fields: Some(fields) }
            }
            _ => Self { flags, entry, fields: None },
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.flags == 0
    }

    /// How many words it takes.
    #[inline]
    pub(super) fn words(&self) -> usize {
        if self.flags == 0 {
            return 0;
        }
        let part = |flag: u64, words: usize| if self.flags & flag == 0 { 0 } else { words };
        let fields = self.fields.as_ref().map_or(0, |fields| LENGTHS_WORDS + fields.words);
        1 + part(TRACE, TRACE_WORDS) + part(PHASES, PHASES_WORDS) + part(CLIENT, CLIENT_WORDS) + fields
    }

    #[inline]
    pub(super) fn write(&self, slot: &mut Slot<'_>) {
        if self.flags == 0 {
            return;
        }
        slot.words([self.flags]);
        if let Some(trace) = &self.entry.record.trace {
            let [high, low] = trace.id;
            slot.words([high, low, trace.span]);
        }
        if let Some(times) = &self.entry.phases {
            let PhaseTimes { parse, route, auth, limit, plugin, send } = *times;
            let pairs = [[parse, route], [auth, limit], [plugin, send]];
            slot.words(pairs.map(|[low, high]| u64::from(low) | u64::from(high) << 32));
        }
        if let Some(client) = self.entry.client {
            let bits = match client {
                IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                IpAddr::V6(v6) => v6,
            }
            .to_bits();
            slot.words([bits as u64, (bits >> 64) as u64]);
        }
        if let Some(fields) = &self.fields {
            slot.words(fields.lengths);
            fields.values.iter().for_each(|value| slot.bytes(value));
        }
    }
}

/// The fields of that name, and which of them were cut.
fn look_up<'a>(head: Head<'a>, names: &[Box<str>]) -> (Fields<'a>, u64) {
    let mut fields = Fields { lengths: [0; LENGTHS_WORDS], values: [b""; FIELDS_MAX], words: 0 };
    let mut cut = 0;
    for (at, (name, value)) in names.iter().zip(&mut fields.values).enumerate() {
        let all = head.fields().get_named(name.as_bytes()).unwrap_or_default();
        *value = all.get(..FIELD_BYTES_MAX).unwrap_or(all);
        cut |= u64::from(value.len() < all.len()) << at;
        if let Some(word) = fields.lengths.get_mut(at / 4) {
            *word |= (value.len() as u64) << (at % 4 * 16);
        }
        fields.words += value.len().div_ceil(8);
    }
    (fields, cut)
}

/// The same as the writer reads it.
#[derive(Debug, Default)]
pub(super) struct TailLine<'a> {
    pub(super) trace: Option<([u64; 2], u64)>,
    pub(super) phases: Option<PhaseTimes>,
    pub(super) client: Option<IpAddr>,
    /// In the order that they were asked for in; those that the request has not are empty.
    pub(super) fields: Option<[Text<'a>; FIELDS_MAX]>,
}

impl<'a> TailLine<'a> {
    /// `words` are what comes behind the texts.
    #[inline]
    pub(super) fn read(words: &'a [AtomicU64]) -> Self {
        let mut line = Self::default();
        let Some((flags, mut rest)) = words.split_first() else { return line };
        let flags = flags.load(Ordering::Relaxed);
        if flags & TRACE != 0
            && let Some(([high, low, span], behind)) = take(rest)
        {
            line.trace = Some(([high, low], span));
            rest = behind;
        }
        if flags & PHASES != 0
            && let Some((words, behind)) = take::<PHASES_WORDS>(rest)
        {
            let [[parse, route], [auth, limit], [plugin, send]] = words.map(|word| [word as u32, (word >> 32) as u32]);
            line.phases = Some(PhaseTimes { parse, route, auth, limit, plugin, send });
            rest = behind;
        }
        if flags & CLIENT != 0
            && let Some(([low, high], behind)) = take::<CLIENT_WORDS>(rest)
        {
            let bits = u128::from(low) | u128::from(high) << 64;
            line.client = Some(IpAddr::V6(Ipv6Addr::from_bits(bits)).to_canonical());
            rest = behind;
        }
        if flags & FIELDS != 0
            && let Some((lengths, mut rest)) = take::<LENGTHS_WORDS>(rest)
        {
            let fields = line.fields.insert(Default::default());
            for (at, field) in fields.iter_mut().enumerate() {
                let length = lengths.get(at / 4).map_or(0, |word| usize::from((word >> (at % 4 * 16)) as u16));
                let Some((words, behind)) = rest.split_at_checked(length.div_ceil(8)) else { break };
                *field = Text { words, length, cut: flags >> (CUT_SHIFT + at) & 1 == 1 };
                rest = behind;
            }
        }
        line
    }
}

/// The first words, and what is behind them.
#[inline]
pub(super) fn take<const N: usize>(words: &[AtomicU64]) -> Option<([u64; N], &[AtomicU64])> {
    let (first, rest) = words.split_first_chunk::<N>()?;
    let mut out = [0; N];
    out.iter_mut().zip(first).for_each(|(out, word)| *out = word.load(Ordering::Relaxed));
    Some((out, rest))
}
