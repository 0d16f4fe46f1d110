//! Requests of a route that go to another upstream.

use leat_testkit::{Client, Leat};

use crate::backend::{Backend, WELL};

fn gateway(main: &Backend, canary: &Backend, split: &str) -> Leat {
    let config = format!(
        "listeners: 127.0.0.1:0
workers: 1
routes: [{{ name: all, proxy: {{ upstream: main, split: {split} }} }}]
upstreams: {{ main: \"{}\", canary: \"{}\" }}
",
        main.url(),
        canary.url()
    );
    Leat::gateway(&config, 1)
}

fn ask(client: &mut Client, field: &str) -> String {
    client.send(format!("GET / HTTP/1.1\r\nhost: h\r\n{field}\r\n"));
    client.response().text().to_owned()
}

#[test]
fn a_header_or_a_cookie_sends_a_request_to_the_other_upstream() {
    let [main, canary] = [Backend::start("m", WELL), Backend::start("c", WELL)];
    for (split, field, wanted) in [
        ("{ upstream: canary, header: X-Canary }", "x-canary: anything\r\n", "c"),
        ("{ upstream: canary, header: x-canary }", "", "m"),
        ("{ upstream: canary, header: x-canary, value: always }", "X-CANARY: always\r\n", "c"),
        ("{ upstream: canary, header: x-canary, value: always }", "x-canary: Always\r\n", "m"),
        ("{ upstream: canary, cookie: canary, value: '1' }", "cookie: a=b; canary=1\r\n", "c"),
        ("{ upstream: canary, cookie: canary, value: '1' }", "cookie: canary=12\r\n", "m"),
        ("{ upstream: canary, cookie: canary }", "cookie: canary=\r\n", "c"),
        ("[{ upstream: main, header: x-stay }, { upstream: canary, percent: 100 }]", "", "c"),
        ("[{ upstream: main, header: x-stay }, { upstream: canary, percent: 100 }]", "x-stay: 1\r\n", "m"),
        ("{ upstream: canary, percent: 0 }", "", "m"),
    ] {
        let leat = gateway(&main, &canary, split);
        let mut client = leat.connect();
        (0..5).for_each(|_| assert_eq!(ask(&mut client, field), wanted, "{split} {field:?}"));
    }
}

#[test]
fn a_part_of_the_requests_goes_to_the_other_upstream() {
    let [main, canary] = [Backend::start("m", WELL), Backend::start("c", WELL)];
    let mut leat = gateway(&main, &canary, "{ upstream: canary, percent: 20 }");
    let mut client = leat.connect();
    (0..1_000).for_each(|_| drop(ask(&mut client, "")));
    // Eight standard deviations on either side.
    assert!((100..=300).contains(&canary.requests()), "{} of 1000", canary.requests());
    assert_eq!(main.requests() + canary.requests(), 1_000);
    leat.wait_log("its endpoint in the record", |line| line.contains(&format!("\"endpoint\":\"{}\"", canary.url())));
}
