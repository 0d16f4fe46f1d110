//! The script that Redis decides by, on a real server, against the limits of `base/policy`: random histories, with a clock
//! of the test's.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use leat_policy::limit::{Decision, Gcra, Grant, Leasing, Limit, SlidingWindow, Verdict};
use leat_policy::{Instant, Random, SplitMix64};
use leat_testkit::{Folder, eventually, skip};

/// Seconds from 1970 to 2020, from when the script counts.
const EPOCH_S: u64 = 1_577_836_800;
/// Some time in 2026, in microseconds since 2020.
const START_US: u64 = 217_000_000_000_000;

struct Redis {
    _folder: Folder,
    process: Child,
    stream: BufReader<UnixStream>,
    script: String,
}

impl Redis {
    fn start() -> Option<Self> {
        let folder = Folder::new();
        let socket = folder.path().join("redis.sock");
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--unixsocket"]).arg(&socket).arg("--dir").arg(folder.path());
        let Ok(process) = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn() else {
            skip("the script of rate limits", "redis-server is not installed");
            return None;
        };
        let stream = eventually("Redis", || UnixStream::connect(&socket).ok());
        let text = include_str!("../src/admit/limit/limits.lua");
        let mut script = text.to_owned();
        // The clock is the test's, and states must not end by the server's own.
        for (there, here) in [
            ("redis.call('TIME')", "{ ARGV[#ARGV - 1], ARGV[#ARGV] }"),
            (", 'PX', string.format('%.0f', write[3]))", ")"),
        ] {
            assert!(script.contains(there), "the script has another clock now");
            script = script.replace(there, here);
        }
        Some(Self { _folder: folder, process, stream: BufReader::new(stream), script })
    }

    /// The first five numbers of the answer: nobody wants more than the cost.
    fn ask(&mut self, keys: &[String], arguments: &[u64], kinds: &[&str], now_us: u64) -> [i64; 5] {
        let with_want: Vec<u64> = arguments.chunks(3).flat_map(|of| [of[0], of[1], of[2], of[2]]).collect();
        let [numbers @ .., units] = self.lend(keys, &with_want, kinds, now_us);
        assert!(units >= 0);
        numbers
    }

    /// The six numbers of the answer.
    fn lend(&mut self, keys: &[String], arguments: &[u64], kinds: &[&str], now_us: u64) -> [i64; 6] {
        let mut parts = vec!["EVAL".to_owned(), self.script.clone(), keys.len().to_string()];
        parts.extend(keys.iter().cloned());
        for (kind, numbers) in kinds.iter().zip(arguments.chunks(4)) {
            parts.push((*kind).to_owned());
            parts.extend(numbers.iter().map(u64::to_string));
        }
        parts.extend([(EPOCH_S + now_us / 1_000_000).to_string(), (now_us % 1_000_000).to_string()]);
        let mut bytes = format!("*{}\r\n", parts.len());
        parts.iter().for_each(|part| bytes.push_str(&format!("${}\r\n{part}\r\n", part.len())));
        self.stream.get_mut().write_all(bytes.as_bytes()).unwrap();
        let mut line = || {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let head = line();
        assert_eq!(head, "*6");
        std::array::from_fn(|_| line()[1..].parse().unwrap())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A limit, and how the script is told of it: its kind, the most, and the ticks.
fn cases() -> Vec<(Limit, &'static str, u64, u64)> {
    let second = Duration::from_secs(1);
    let gcra =
        |quota, per: Duration, burst, ticks| (Limit::Gcra(Gcra::new(quota, per, burst).unwrap()), "g", burst, ticks);
    let window = |limit, time: Duration| {
        let ticks = time.as_micros() as u64 * 8;
        (Limit::SlidingWindow(SlidingWindow::new(limit, time).unwrap()), "w", limit, ticks)
    };
    vec![
        gcra(10, second, 10, 800_000),
        gcra(1_000_000, second, 50, 8),
        gcra(8_000_000, second, 1_000, 1),
        gcra(1, Duration::from_secs(3_600), 3, 28_800_000_000),
        gcra(5, second, 100, 1_600_000),
        window(10, second),
        window(3, Duration::from_secs(60)),
        window(4_000_000, Duration::from_millis(7)),
        window(7, Duration::from_millis(13)),
    ]
}

/// The script's answer and the model's are the same; a wait, which the script knows in doubles, to two microseconds.
fn agree(found: [i64; 5], number: usize, wanted: &Verdict, what: &str) {
    let up = |time: Duration| time.as_nanos().div_ceil(1_000) as i64;
    let told = [found[1], found[2], found[3]];
    assert_eq!(told, [number as i64, wanted.remaining as i64, up(wanted.reset)], "{what}: {found:?} {wanted:?}");
    match wanted.decision {
        Decision::Admit => assert_eq!((found[0], found[4]), (1, 0), "{what}"),
        Decision::Refuse { retry_after: None } => assert_eq!((found[0], found[4]), (0, -1), "{what}"),
        Decision::Refuse { retry_after: Some(time) } => {
            assert_eq!(found[0], 0, "{what}");
            assert!((found[4] - up(time)).abs() <= 2, "{what}: {found:?} {wanted:?}");
        }
    }
}

#[test]
fn the_script_decides_as_the_model_does() {
    let Some(mut redis) = Redis::start() else { return };
    for (number, (limit, kind, most, ticks)) in cases().into_iter().enumerate() {
        let mut random = SplitMix64::new(number as u64 + 1);
        let (mut state, mut now_us, mut refused) = (0, START_US, 0);
        for step in 0..600 {
            // Steps around the time of a few units, and now and then one that lets everything come back.
            let unit_us = if kind == "g" { ticks / 8 } else { ticks / 8 / most.min(10) }.max(1);
            now_us += match random.below(20) {
                0 => unit_us * (most + 1) * 2,
                1..10 => 0,
                _ => random.part(unit_us * 3),
            };
            let cost = match random.below(10) {
                0 => most + 1,
                1 => most,
                _ => 1 + random.part(most.div_ceil(3)),
            };
            let next = limit.next(state, Instant::from_micros(now_us), cost);
            state = next.state;
            refused += usize::from(!next.verdict.is_admitted());
            let found = redis.ask(&[format!("k{number}")], &[most, ticks, cost], &[kind], now_us);
            agree(found, 0, &next.verdict, &format!("limit {number}, step {step}"));
        }
        assert!((100..550).contains(&refused), "limit {number}: {refused} of 600 refused");
    }
}

#[test]
fn several_limits_are_debited_in_one_step_or_not_at_all() {
    let Some(mut redis) = Redis::start() else { return };
    let cases = cases();
    let chosen = [&cases[0], &cases[5], &cases[4]];
    let mut random = SplitMix64::new(7);
    let (mut states, mut now_us) = ([0; 3], START_US);
    let keys: Vec<String> = (0..3).map(|number| format!("several-{number}")).collect();
    let kinds: Vec<&str> = chosen.iter().map(|case| case.1).collect();
    let mut by = [0; 4];
    for step in 0..2_000 {
        now_us += random.part(400_000);
        let costs = [1 + random.part(6), 1 + random.part(4), 1];
        let nexts: Vec<_> = (0..3)
            .map(|number| chosen[number].0.next(states[number], Instant::from_micros(now_us), costs[number]))
            .collect();
        let wait = |verdict: &Verdict| match verdict.decision {
            Decision::Admit => 0,
            Decision::Refuse { retry_after } => retry_after.map_or(u128::MAX, |time| time.as_nanos()),
        };
        let refusing = (0..3).filter(|number| !nexts[*number].verdict.is_admitted());
        let longest = refusing.reduce(|a, b| if wait(&nexts[b].verdict) > wait(&nexts[a].verdict) { b } else { a });
        let told = match longest {
            Some(number) => number,
            None => {
                states = std::array::from_fn(|number| nexts[number].state);
                (0..3).min_by_key(|number| nexts[*number].verdict.remaining).unwrap()
            }
        };
        by[longest.map_or(3, |number| number)] += 1;
        let arguments: Vec<u64> = chosen.iter().zip(costs).flat_map(|(case, cost)| [case.2, case.3, cost]).collect();
        let found = redis.ask(&keys, &arguments, &kinds, now_us);
        agree(found, told, &nexts[told].verdict, &format!("step {step}"));
    }
    assert!(by[0] > 20 && by[1] > 20 && by[3] > 200, "each of the first two refused, and all admitted: {by:?}");
}

#[test]
fn units_are_lent_as_the_model_lends_them() {
    let Some(mut redis) = Redis::start() else { return };
    // Intervals that are whole ticks; the model's server counts by the law without the reserve.
    for (number, (quota, burst)) in [(100, 100), (1_000, 400), (10, 40)].into_iter().enumerate() {
        let terms = Leasing::new(&Gcra::new(quota, Duration::from_secs(1), burst).unwrap()).unwrap();
        let (most, ticks) = (terms.law().burst(), terms.law().interval_ns() / 125);
        let mut random = SplitMix64::new(number as u64);
        let (mut state, mut now_us, mut lent) = (0, START_US, [0; 3]);
        for step in 0..500 {
            now_us += random.part(ticks);
            let need = if random.below(3) == 0 { random.part(most) } else { random.part(4) };
            let want = random.part(most / 2);
            let (grant, next) = terms.grant(state, Instant::from_micros(now_us), need, want);
            state = next;
            let keys = [format!("lent-{number}")];
            let [admitted, _, _, _, _, units] = redis.lend(&keys, &[most, ticks, need, want.max(need)], &["g"], now_us);
            let wanted = match grant {
                Grant::Lent(units) => (1, units as i64),
                Grant::Refused { .. } => (0, 0),
            };
            assert_eq!((admitted, units), wanted, "limit {number}, step {step}: {need} of {want}");
            lent[match grant {
                Grant::Lent(units) if units > need => 0,
                Grant::Lent(_) => 1,
                Grant::Refused { .. } => 2,
            }] += 1;
        }
        assert!(lent[0] > 20 && lent[1] > 20 && lent[2] > 20, "{lent:?}");
    }
}

#[test]
fn a_clock_that_steps_back_admits_no_more() {
    let Some(mut redis) = Redis::start() else { return };
    for (kind, most, ticks) in [("g", 5, 1_600_000), ("w", 5, 8_000_000)] {
        let key = [format!("back-{kind}")];
        for _ in 0..5 {
            assert_eq!(redis.ask(&key, &[most, ticks, 1], &[kind], START_US)[0], 1);
        }
        for back_us in [1, 100_000, 999_999, 3_000_000] {
            let found = redis.ask(&key, &[most, ticks, 1], &[kind], START_US - back_us);
            assert_eq!(found[0], 0, "{kind}, {back_us} us back");
        }
    }
}
