//! The shared handler alone, in process: `handler-cost PROTO SECONDS` prints as a line of JSON what a call through a rule takes, and what
//! its steps take by themselves, in nanoseconds, each the least of several turns. A call is a message of five fields in binary form,
//! held against constraints, matched by a field, and answered with a fixed message.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use leat_config::Problem;
use leat_dial::{Pools, Resolver, ResolverSettings};
use leat_message::{Address, Field, Fields, Name, Peer, Scheme, Span, Step};
use leat_rpc::mock::{Loaded, Mock, MockService, Settings};
use leat_rpc::validate::{Guard, Mode};
use leat_rpc::{Answer, Call, CallMetadata, Message, Prepared, Protocol, Service};
use leat_rpc_wire::Status;

const PATH: &str = "/bench.checked.v1.Echo/Say";
const JSON: &[u8] = br#"{"name":"bench","id":"71234567","text":"what a call says","urgent":true,"tags":["a","b"]}"#;
const RULES: &str = "rules:
  - method: bench.checked.v1.Echo/Say
    match: { message: { name: bench }, metadata: { x-tenant: acme } }
    reply: { message: { name: bench, id: 71234567, text: what a call says, urgent: true, tags: [a, b] } }
";
/// Calls between two looks at the clock.
const TURN: u32 = 2_000;

/// Takes an answer and counts its bytes.
#[derive(Default)]
struct Sink(usize);

impl Answer for Sink {
    fn header(&mut self, _: &str, value: &[u8]) {
        self.0 += value.len();
    }
    fn trailer(&mut self, _: &str, value: &[u8]) {
        self.0 += value.len();
    }
    fn message(&mut self, message: Message<'_>) {
        self.0 += message.bytes.len();
    }
    fn prepared(&mut self, message: &Prepared) {
        self.0 += message.binary.len();
    }
    fn fail(&mut self, status: &Status) {
        panic!("{status:?}");
    }
}

/// The mean of the best turn, in nanoseconds, and how many were made.
fn least(time: Duration, mut call: impl FnMut()) -> f64 {
    let end = Instant::now() + time;
    let mut best = f64::MAX;
    while Instant::now() < end {
        let begin = Instant::now();
        (0..TURN).for_each(|_| call());
        best = best.min(begin.elapsed().as_nanos() as f64 / f64::from(TURN));
    }
    best
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let proto = arguments.next().expect("handler-cost PROTO SECONDS");
    let seconds: f64 = arguments.next().expect("handler-cost PROTO SECONDS").parse().expect("seconds are a number");
    let each = Duration::from_secs_f64(seconds / 5.0);

    let folder = std::env::temp_dir().join(format!("leat-handler-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let rules = folder.join("rules.yaml");
    std::fs::write(&rules, RULES).unwrap();
    let settings =
        Settings { proto: vec![proto.into()], rules: vec![rules], validate: Mode::Auto, ..Settings::default() };
    let mock = Arc::new(Mock::new(&settings));
    let about = |message: String| Problem::new("handler-cost", leat_config::Place::default(), message);
    let loaded = Arc::new(Loaded::read(&settings, &mock, &about).expect("the rules are good"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    let pools = Pools::new(Resolver::new(ResolverSettings::default()));
    let service = MockService::new(mock, Arc::clone(&loaded), &pools, false).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();

    let method = service.method(PATH).expect("the method is there");
    let mut binary = Vec::new();
    Message::json(JSON).request_binary(method, &mut binary).unwrap();
    let text = b"x-tenantacmecontent-typeapplication/grpc";
    let fields = [
        Field { id: Name::Other, name: Span::new(0, 8), value: Span::new(8, 12) },
        Field { id: Name::ContentType, name: Span::new(12, 24), value: Span::new(24, 40) },
    ];
    let address = Address::Ip(([127, 0, 0, 1], 9).into());
    let peer = Rc::new(Peer { remote: address.clone(), local: address, scheme: Scheme::Http, tls: None });
    let call = |path: &str| Call {
        method: service.method(path).expect("the method is there"),
        metadata: CallMetadata::new(Fields::new(text, &fields)),
        timeout: None,
        peer: &peer,
        protocol: Protocol::Grpc,
        get_query: None,
    };
    let guard = Guard::new(Mode::Auto, loaded.schema()).expect("the constraints are good");

    let mut room = Vec::new();
    let find = least(each, || {
        black_box(service.method(black_box(PATH)));
    });
    let json = least(each, || {
        black_box(Message::json(black_box(JSON)).request_binary(method, &mut room).unwrap());
    });
    let validate = least(each, || {
        let _ = black_box(
            guard.request(method, Message::binary(black_box(&binary)), || panic!("nothing asks for the time")),
        );
    });
    let mut sink = Sink::default();
    let whole = least(each, || {
        let step = service.whole(&call(black_box(PATH)), Message::binary(black_box(&binary)), &mut sink);
        assert!(matches!(step, Step::Done));
    });
    let from_json = least(each, || {
        let step = service.whole(&call(black_box(PATH)), Message::json(black_box(JSON)), &mut sink);
        assert!(matches!(step, Step::Done));
    });
    black_box(sink.0);
    println!(
        "{{\"ns\":{whole:.0},\"rps\":{:.0},\"find_ns\":{find:.0},\"validate_ns\":{validate:.0},\"choose_ns\":{:.0},\"json_ns\":{json:.0},\"from_json_ns\":{from_json:.0},\"errors\":0}}",
        1e9 / whole,
        whole - find - validate,
    );
}
