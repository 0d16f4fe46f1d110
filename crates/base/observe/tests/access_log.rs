//! The access log from the core's side to the written line.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Read;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use leat_message::{
    Address, Field, Head, Method, Name, Peer, Reason, Record, RequestLines, Scheme, Span, Trace, Version,
};
use leat_observe::access_log::{AccessLog, Entry, Format, PhaseTimes, Settings, Sink, Tally, Target};
use serde_json::{Value, json};

const DEADLINE: Duration = Duration::from_secs(20);

/// A file in a directory of its own, removed afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("leat-observe-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir(&directory).unwrap();
        Self(directory)
    }

    fn file(&self) -> PathBuf {
        self.0.join("access.log")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn start(target: Target, format: Format, tally: &Arc<Tally>) -> AccessLog {
    AccessLog::start(Settings::new(target, format), Arc::clone(tally)).unwrap()
}

/// A request whose parts are these bytes.
struct Request {
    bytes: Vec<u8>,
    lines: RequestLines,
}

impl Request {
    fn new(target: &[u8], host: &[u8], agent: &[u8]) -> Self {
        let mut bytes = Vec::new();
        let mut put = |part: &[u8]| {
            let start = bytes.len();
            bytes.extend_from_slice(part);
            Span::new(start, bytes.len())
        };
        let lines = RequestLines {
            method: Method::Get,
            method_span: put(b"GET"),
            target: put(target),
            authority: put(host),
            version: Version::Http11,
            fields: vec![Field { id: Name::UserAgent, name: put(b"User-Agent"), value: put(agent) }],
            ..RequestLines::default()
        };
        Self { bytes, lines }
    }

    fn head(&self) -> Head<'_> {
        Head::new(&self.bytes, &self.lines)
    }
}

fn peer(address: &str) -> Peer {
    let remote = address.parse::<SocketAddr>().map_or(Address::Unix, Address::Ip);
    Peer { remote, local: Address::Unix, scheme: Scheme::Http, tls: None }
}

fn append(sink: &Sink, request: Option<Head<'_>>, id: &[u8], record: &Record) {
    let entry = Entry {
        time_ms: 1_767_323_045_678,
        duration_us: 1_234,
        peer: &peer("192.0.2.7:5001"),
        client: None,
        request,
        request_id: id,
        record,
        route: "api",
        endpoint: "",
        phases: None,
    };
    sink.append(&entry);
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn a_json_line_has_every_field() {
    let place = Place::new("fields");
    let log = start(Target::File(place.file()), Format::Json, &Arc::default());
    let request = Request::new(b"/a?b=c", b"example.org:8080", b"curl/8");
    log.sink().append(&Entry {
        time_ms: 1_767_323_045_678,
        duration_us: 1_234,
        peer: &peer("[2001:db8::1]:443"),
        client: None,
        request: Some(request.head()),
        request_id: b"r-1",
        record: &Record {
            reason: Some(Reason::UpstreamInvalid),
            detail: Some(Reason::ChunkSizeInvalid),
            status: 502,
            bytes_in: 1 << 40,
            bytes_out: 12,
            connect_us: 88,
            upstream_us: 99,
            attempts: 2,
            ..Record::default()
        },
        route: "api",
        endpoint: "10.0.0.1:80",
        phases: None,
    });
    assert!(log.finish(DEADLINE));
    let expected = json!({
        "time": "2026-01-02T03:04:05.678Z", "id": "r-1", "remote": "[2001:db8::1]:443", "method": "GET",
        "host": "example.org:8080", "target": "/a?b=c", "version": "HTTP/1.1", "status": 502,
        "reason": "upstream.invalid", "blame": "upstream", "detail": "chunk.size_invalid", "bytes_in": 1u64 << 40, "bytes_out": 12, "duration_us": 1234,
        "route": "api", "endpoint": "10.0.0.1:80", "upstream_us": 99, "connect_us": 88, "attempts": 2,
        "user_agent": "curl/8",
    });
    assert_eq!(lines(&place.file()), [expected]);
}

#[test]
fn fields_that_have_nothing_to_say_are_left_out() {
    let place = Place::new("least");
    let log = start(Target::File(place.file()), Format::Json, &Arc::default());
    let record = Record { reason: Some(Reason::HeadBareLf), status: 400, ..Record::default() };
    let entry = Entry {
        time_ms: 0,
        duration_us: 0,
        peer: &peer("unix"),
        client: None,
        request: None,
        request_id: b"",
        record: &record,
        route: "",
        endpoint: "",
        phases: None,
    };
    log.sink().append(&entry);
    assert!(log.finish(DEADLINE));
    let expected = json!({
        "time": "1970-01-01T00:00:00.000Z", "remote": "unix", "status": 400, "reason": "head.bare_lf", "blame": "peer",
        "bytes_in": 0, "bytes_out": 0, "duration_us": 0,
    });
    assert_eq!(lines(&place.file()), [expected]);
}

#[test]
fn no_byte_of_a_peer_leaves_its_field() {
    let long = [b'x'; 3_000];
    let cases: [(&[u8], &str); 10] = [
        (b"/plain~!*'();:@&=+$,", "/plain~!*'();:@&=+$,"),
        (b"/\"},{\"status\":200", "/\\x22},{\\x22status\\x22:200"),
        (b"/a\r\n{\"status\":200}\n", "/a\\x0d\\x0a{\\x22status\\x22:200}\\x0a"),
        (b"/\x1b[2J\x07", "/\\x1b[2J\\x07"),
        (b"/\0\x7f", "/\\x00\\x7f"),
        (b"/back\\slash\\x22", "/back\\x5cslash\\x5cx22"),
        ("/é\u{202e}\u{2028}".as_bytes(), "/\\xc3\\xa9\\xe2\\x80\\xae\\xe2\\x80\\xa8"),
        (b"/\xff\xfe\xc3", "/\\xff\\xfe\\xc3"),
        (b"/with space", "/with space"),
        (&long, &format!("{}...", "x".repeat(1_024))),
    ];
    let place = Place::new("escaping");
    let log = start(Target::File(place.file()), Format::Json, &Arc::default());
    let human = place.0.join("human.log");
    let for_people = start(Target::File(human.clone()), Format::Human, &Arc::default());
    let (sink, second) = (log.sink(), for_people.sink());
    for (bytes, _) in cases {
        let request = Request::new(bytes, bytes, bytes);
        append(&sink, Some(request.head()), bytes, &Record::default());
        append(&second, Some(request.head()), bytes, &Record::default());
    }
    assert!(log.finish(DEADLINE) && for_people.finish(DEADLINE));
    let written = lines(&place.file());
    assert_eq!(written.len(), cases.len());
    for ((_, text), line) in cases.iter().zip(&written) {
        assert_eq!(line["target"], *text);
        assert_eq!(line.as_object().unwrap().len(), 13);
        for (field, max) in [("id", 64), ("host", 255), ("user_agent", 256)] {
            let expected = if text.len() > 1_024 { format!("{}...", "x".repeat(max)) } else { (*text).into() };
            assert_eq!(line[field], expected);
        }
    }
    let text = std::fs::read(&human).unwrap();
    assert_eq!(text.iter().filter(|&&byte| byte == b'\n').count(), cases.len());
    assert!(text.iter().all(|&byte| byte == b'\n' || (b' '..=b'~').contains(&byte)));
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        assert_eq!(line.iter().filter(|&&byte| byte == b'"').count(), 2, "only the quotes of the agent");
    }
}

#[test]
fn a_human_line_reads_from_left_to_right() {
    let place = Place::new("human");
    let log = start(Target::File(place.file()), Format::Human, &Arc::default());
    let request = Request::new(b"/a", b"example.org", b"a b");
    append(&log.sink(), Some(request.head()), b"id 1", &Record { status: 200, bytes_out: 5, ..Record::default() });
    assert!(log.finish(DEADLINE));
    assert_eq!(
        std::fs::read_to_string(place.file()).unwrap(),
        "2026-01-02T03:04:05.678Z 200 GET example.org /a HTTP/1.1 1.234ms in=0 out=5 route=api \
         from=192.0.2.7:5001 id=id\\x201 agent=\"a b\"\n"
    );
}

#[test]
fn nothing_is_lost_below_the_cap_and_each_core_stays_in_order() {
    const CORES: u64 = 4;
    const EACH: u64 = 3_000;
    let place = Place::new("order");
    let tally = Arc::<Tally>::default();
    let log = Arc::new(start(Target::File(place.file()), Format::Json, &tally));
    let threads: Vec<_> = (0..CORES)
        .map(|core| {
            let log = Arc::clone(&log);
            thread::spawn(move || {
                let sink = log.sink();
                let request = Request::new(b"/", b"h", b"");
                for i in 0..EACH {
                    // Stays within what a ring holds, as a core does that is not overloaded.
                    if i % 500 == 0 {
                        thread::sleep(Duration::from_millis(20));
                    }
                    append(
                        &sink,
                        Some(request.head()),
                        b"",
                        &Record { bytes_in: core, bytes_out: i, ..Record::default() },
                    );
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(Arc::into_inner(log).unwrap().finish(DEADLINE));
    let mut next = [0; CORES as usize];
    for line in lines(&place.file()) {
        let core = line["bytes_in"].as_u64().expect("no record was dropped") as usize;
        assert_eq!(line["bytes_out"].as_u64().unwrap(), next[core]);
        next[core] += 1;
    }
    assert_eq!(next, [EACH; CORES as usize]);
    assert_eq!((tally.records.get(), tally.dropped.get(), tally.write_errors.get()), (CORES * EACH, 0, 0));
}

#[test]
fn a_stuck_target_drops_counts_tells_and_never_blocks_the_core() {
    const RECORDS: u64 = 30_000;
    let (mut reader, pipe) = std::io::pipe().unwrap();
    let path = PathBuf::from(format!("/proc/self/fd/{}", pipe.as_raw_fd()));
    let tally = Arc::<Tally>::default();
    let log = start(Target::File(path), Format::Json, &tally);
    drop(pipe);
    let sink = log.sink();
    let request = Request::new(b"/", b"h", b"");
    for i in 0..RECORDS {
        append(&sink, Some(request.head()), b"", &Record { bytes_out: i, ..Record::default() });
    }
    assert!(tally.dropped.get() > 0, "the pipe was never full");
    drop(sink);
    // Somebody reads again: the rest comes out, and how many are missing.
    let reading = thread::spawn(move || {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    });
    assert!(log.finish(DEADLINE));
    let (mut kept, mut dropped) = (0, 0);
    for line in reading.join().unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        match line["dropped"].as_u64() {
            Some(more) => dropped += more,
            None => kept += 1,
        }
    }
    assert_eq!((dropped, kept), (tally.dropped.get(), RECORDS - tally.dropped.get()));
    assert_eq!(tally.records.get(), kept);
}

#[test]
fn finishing_gives_up_at_the_deadline_when_the_target_is_stuck() {
    let (_reader, pipe) = std::io::pipe().unwrap();
    let path = PathBuf::from(format!("/proc/self/fd/{}", pipe.as_raw_fd()));
    let log = start(Target::File(path), Format::Json, &Arc::default());
    let sink = log.sink();
    (0..5_000).for_each(|_| append(&sink, None, b"", &Record::default()));
    let begin = Instant::now();
    assert!(!log.finish(Duration::from_millis(50)));
    assert!(begin.elapsed() < Duration::from_secs(5));
    // Appending afterwards is harmless.
    (0..5_000).for_each(|_| append(&sink, None, b"", &Record::default()));
}

#[test]
fn reopening_goes_on_in_a_new_file() {
    let place = Place::new("reopen");
    let log = start(Target::File(place.file()), Format::Json, &Arc::default());
    let sink = log.sink();
    let appended_to = |path: &Path, count: usize| {
        append(&sink, None, b"", &Record::default());
        let end = Instant::now() + DEADLINE;
        while lines(path).len() < count {
            assert!(Instant::now() < end, "{} does not grow to {count} lines", path.display());
            thread::sleep(Duration::from_millis(5));
        }
    };
    appended_to(&place.file(), 1);
    let rotated = place.0.join("access.log.1");
    std::fs::rename(place.file(), &rotated).unwrap();
    appended_to(&rotated, 2);
    log.reopen();
    let end = Instant::now() + DEADLINE;
    while !place.file().exists() {
        assert!(Instant::now() < end);
        thread::sleep(Duration::from_millis(5));
    }
    appended_to(&place.file(), 1);
    assert_eq!(lines(&rotated).len(), 2);
}

#[test]
fn a_file_that_cannot_be_reopened_is_counted_and_the_old_one_goes_on() {
    let place = Place::new("noreopen");
    let tally = Arc::<Tally>::default();
    let log = start(Target::File(place.file()), Format::Json, &tally);
    let rotated = place.0.join("access.log.1");
    std::fs::rename(place.file(), &rotated).unwrap();
    std::fs::create_dir(place.file()).unwrap();
    log.reopen();
    let sink = log.sink();
    append(&sink, None, b"", &Record::default());
    assert!(log.finish(DEADLINE));
    assert_eq!((tally.write_errors.get(), lines(&rotated).len()), (1, 1));
}

#[test]
fn write_errors_are_counted() {
    let tally = Arc::<Tally>::default();
    let log = start(Target::File("/dev/full".into()), Format::Json, &tally);
    append(&log.sink(), None, b"", &Record::default());
    assert!(log.finish(DEADLINE));
    assert_eq!((tally.write_errors.get(), tally.records.get()), (1, 0));
    assert_eq!(tally.last_error().kind(), std::io::ErrorKind::StorageFull);
}

#[test]
fn a_pipe_that_nobody_reads_yet_is_not_waited_for() {
    let place = Place::new("pipe");
    let made = std::process::Command::new("mkfifo").arg(place.file()).status();
    assert!(made.unwrap().success());
    let tally = Arc::<Tally>::default();
    let log = start(Target::File(place.file()), Format::Json, &tally);
    append(&log.sink(), None, b"", &Record::default());
    let reader = std::fs::File::open(place.file()).unwrap();
    assert!(log.finish(DEADLINE));
    assert_eq!((tally.write_errors.get(), tally.records.get()), (0, 1));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(reader), &mut line).unwrap();
    assert!(line.ends_with("}\n"), "{line}");
}

#[test]
fn a_log_that_cannot_be_opened_is_an_error() {
    let settings = Settings::new(Target::File("/".into()), Format::Json);
    assert!(AccessLog::start(settings, Arc::default()).is_err());
}

#[test]
fn a_sleeping_writer_is_woken_by_the_next_record() {
    let place = Place::new("asleep");
    let log = start(Target::File(place.file()), Format::Json, &Arc::default());
    let sink = log.sink();
    // Longer than the writer gathers for.
    thread::sleep(Duration::from_millis(1_300));
    append(&sink, None, b"", &Record::default());
    let end = Instant::now() + DEADLINE;
    while lines(&place.file()).is_empty() {
        assert!(Instant::now() < end);
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn traces_phases_and_chosen_fields_stand_behind_the_rest_and_secrets_do_not() {
    let place = Place::new("tail");
    let settings = Settings {
        fields: vec!["referer".into(), "x-missing".into(), "x-tenant".into()],
        redact: vec!["token".into()],
        ..Settings::new(Target::File(place.file()), Format::Json)
    };
    let log = AccessLog::start(settings, Arc::default()).unwrap();
    let mut request = Request::new(b"/a?token=s3cret&b=c", b"h", b"agent/1");
    let long = "t".repeat(300);
    for (name, value) in [("Referer", "https://e/?TOKEN=s3cret"), ("X-Tenant", long.as_str())] {
        let start = request.bytes.len();
        request.bytes.extend_from_slice(name.as_bytes());
        let middle = request.bytes.len();
        request.bytes.extend_from_slice(value.as_bytes());
        let (name_span, value_span) = (Span::new(start, middle), Span::new(middle, request.bytes.len()));
        request.lines.fields.push(Field { id: Name::from_bytes(name.as_bytes()), name: name_span, value: value_span });
    }
    let trace = Trace { id: [1, 0xab], parent: 2, span: 0xcd, sampled: false, random: true, keeps_state: false };
    let phases = PhaseTimes { parse: 12, route: 3, auth: 400, limit: 0, plugin: 70_001, send: u32::MAX };
    let proxied = Record { status: 200, trace: Some(trace), connect_us: 5, upstream_us: 6, ..Record::default() };
    let sink = log.sink();
    let entry = Entry {
        time_ms: 0,
        duration_us: 1,
        peer: &peer("192.0.2.7:5001"),
        client: Some([203, 0, 113, 9].into()),
        request: Some(request.head()),
        request_id: b"",
        record: &proxied,
        route: "",
        endpoint: "",
        phases: Some(phases),
    };
    sink.append(&entry);
    // Neither of them in the way of a record without.
    sink.append(&Entry { record: &Record::default(), request: None, phases: None, client: None, ..entry });
    let client = "2001:db8::7".parse().ok();
    sink.append(&Entry { record: &Record::default(), client, ..entry });
    assert!(log.finish(DEADLINE));
    let text = std::fs::read_to_string(place.file()).unwrap();
    assert!(!text.contains("s3cret"), "{text}");
    let [first, second, third] = &lines(&place.file())[..] else { panic!("{text}") };
    assert_eq!(first["target"], "/a?token=[redacted]&b=c");
    assert_eq!(first["user_agent"], "agent/1");
    assert_eq!(first["client"], "203.0.113.9");
    assert_eq!(first["trace_id"], "000000000000000100000000000000ab");
    assert_eq!(first["span_id"], "00000000000000cd");
    let times = json!({ "parse": 1.2, "route": 0.3, "auth": 40, "limit": 0, "plugin": 7000.1, "connect": 5,
        "upstream": 6, "send": 429_496_729.5 });
    assert_eq!(first["phases_us"], times);
    let shown = json!({ "referer": "https://e/?TOKEN=[redacted]", "x-tenant": format!("{}...", "t".repeat(256)) });
    assert_eq!(first["fields"], shown);
    assert_eq!((second.get("client"), &third["client"]), (None, &json!("2001:db8::7")));
    assert!(second.get("trace_id").is_none() && second.get("phases_us").is_none() && second.get("fields").is_none());
    assert!(third.get("trace_id").is_none() && third["phases_us"]["auth"] == 40 && third["fields"] == shown);
}

#[test]
fn a_line_for_people_has_the_same() {
    let place = Place::new("human-tail");
    let settings = Settings {
        fields: vec!["user-agent".into()],
        redact: vec!["token".into()],
        ..Settings::new(Target::File(place.file()), Format::Human)
    };
    let log = AccessLog::start(settings, Arc::default()).unwrap();
    let request = Request::new(b"/a?token=s3cret", b"h", b"agent \"1\"");
    let trace = Trace { id: [1, 2], parent: 0, span: 3, sampled: true, random: true, keeps_state: false };
    let record = Record { trace: Some(trace), ..Record::default() };
    let phases = PhaseTimes { parse: 12, ..PhaseTimes::default() };
    log.sink().append(&Entry {
        time_ms: 0,
        duration_us: 1,
        peer: &peer("unix"),
        client: Some([203, 0, 113, 9].into()),
        request: Some(request.head()),
        request_id: b"",
        record: &record,
        route: "",
        endpoint: "",
        phases: Some(phases),
    });
    assert!(log.finish(DEADLINE));
    let text = std::fs::read_to_string(place.file()).unwrap();
    assert!(
        text.contains("/a?token=[redacted] ")
            && text.contains(" client=203.0.113.9 trace=00000000000000010000000000000002 "),
        "{text}"
    );
    assert!(text.ends_with(" parse=1.2us route=0.0us auth=0.0us limit=0.0us plugin=0.0us connect=0.0us upstream=0.0us send=0.0us user-agent=\"agent \\x221\\x22\"\n"), "{text}");
}
