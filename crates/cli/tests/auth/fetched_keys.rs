//! Keys behind a URL: rotation, and issuers that fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use leat_testkit::{Folder, Leat, eventually};

use crate::issuer::{Issuer, Key, Manner, claims, set};
use crate::support::{gateway, get, outcome};

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

fn scheme(issuer: &Issuer, more: &str) -> String {
    let url = issuer.url();
    format!("  users: {{ jwt: {{ jwks_url: \"{url}\", issuer: https://issuer.example, audience: api{more} }} }}")
}

fn with_keys(issuer: &Issuer, more: &str) -> Leat {
    let mut leat = gateway(Folder::new(), &scheme(issuer, more), "users");
    leat.wait_log("keys", |line| line.contains("\"event\":\"keys_fetched\""));
    leat
}

#[test]
fn a_rotation_fails_no_request() {
    let old = Key::new("old");
    let issuer = Issuer::new(Manner::Keys(set(&[&old])));
    let leat = with_keys(&issuer, ", jwks_pause: 100ms");
    let new = Key::new("new");
    let tokens = Arc::new([old.sign(&claims("")), new.sign(&claims(""))]);
    let (turned, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let address = leat.address(0);
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (tokens, turned, done, counts) =
                (Arc::clone(&tokens), Arc::clone(&turned), Arc::clone(&done), Arc::clone(&counts));
            std::thread::spawn(move || {
                let mut client = leat_testkit::Client::connect(address);
                while !done.load(Ordering::SeqCst) {
                    let which = usize::from(turned.load(Ordering::SeqCst));
                    let response = get(&mut client, &bearer(&tokens[which]));
                    assert_eq!(outcome(&response), (200, String::new()));
                    counts[which].fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    eventually("the old key is in use", || (counts[0].load(Ordering::SeqCst) > 50).then_some(()));
    // The last fetch is longer ago than the pause: nothing but the first token with the new key makes it known.
    std::thread::sleep(std::time::Duration::from_millis(150));
    issuer.behave(Manner::Keys(set(&[&new, &old])));
    turned.store(true, Ordering::SeqCst);
    eventually("the new key is in use", || (counts[1].load(Ordering::SeqCst) > 50).then_some(()));
    done.store(true, Ordering::SeqCst);
    for client in clients {
        client.join().expect("no request has failed");
    }
    assert_eq!(issuer.asked(), 2, "one fetch at the start, one for the new key");

    // The old key is withdrawn: its tokens are forgotten with it, once it is seen.
    issuer.behave(Manner::Keys(set(&[&new])));
    let stranger = bearer(&Key::new("nobody's").sign(&claims("")));
    eventually("the old key's tokens are refused", || {
        assert_eq!(get(&mut leat.connect(), &stranger).status, 401);
        (outcome(&get(&mut leat.connect(), &bearer(&tokens[0]))) == (401, "auth.key_unknown".to_owned())).then_some(())
    });
    assert_eq!(get(&mut leat.connect(), &bearer(&tokens[1])).status, 200);
}

#[test]
fn unknown_keys_do_not_make_us_ask_again_and_again() {
    let key = Key::new("k");
    let issuer = Issuer::new(Manner::Keys(set(&[&key])));
    let leat = with_keys(&issuer, "");
    let mut client = leat.connect();
    for number in 0..50 {
        let token = Key::new(&format!("made-up-{number}")).sign(&claims(""));
        assert_eq!(outcome(&get(&mut client, &bearer(&token))), (401, "auth.key_unknown".to_owned()));
    }
    assert_eq!(issuer.asked(), 1, "not within ten seconds of the last fetch");
    assert_eq!(get(&mut client, &bearer(&key.sign(&claims("")))).status, 200);
}

#[test]
fn an_issuer_that_cannot_be_had_at_the_start_is_waited_for() {
    for manner in [Manner::Status(500), Manner::Garbage, Manner::Keys("{\"keys\":[]}".to_owned()), Manner::Endless] {
        let key = Key::new("k");
        let issuer = Issuer::new(manner);
        let mut leat = gateway(Folder::new(), &scheme(&issuer, ", jwks_pause: 100ms"), "users");
        let line = leat.wait_log("failure", |line| line.contains("\"event\":\"keys_failed\""));
        assert!(!line.contains("tenant"), "the query may hold a key: {line}");
        let token = bearer(&key.sign(&claims("")));
        assert_eq!(outcome(&get(&mut leat.connect(), &token)), (503, "auth.keys_unavailable".to_owned()));
        // What needs no keys needs no issuer.
        assert_eq!(outcome(&get(&mut leat.connect(), "")), (401, "auth.missing".to_owned()));
        issuer.behave(Manner::Keys(set(&[&key])));
        eventually("the keys are there", || (get(&mut leat.connect(), &token).status == 200).then_some(()));
    }
}

#[test]
fn each_reason_of_an_outage_is_told_and_its_end() {
    let key = Key::new("k");
    let good = || Manner::Keys(set(&[&key]));
    let issuer = Issuer::new(good());
    let leat = with_keys(&issuer, ", jwks_pause: 100ms");
    let mut client = leat.connect();
    let told = |count: usize| {
        eventually("the next word of the keys", || {
            let mut lines: Vec<String> =
                leat.log().into_iter().filter(|line| line.contains("\"event\":\"keys_")).collect();
            if lines.len() < count { None } else { lines.pop() }
        })
    };
    assert!(told(1).contains("keys_fetched"));
    for (number, (manner, wanted)) in [
        (Manner::Status(500), "answered with status 500"),
        (Manner::Status(404), "answered with status 404"),
        (Manner::Garbage, "keys_failed"),
        (good(), "keys_fetched"),
    ]
    .into_iter()
    .enumerate()
    {
        issuer.behave(manner);
        // An unknown key makes them be fetched, as soon as that may be.
        let stranger = bearer(&Key::new("x").sign(&claims("")));
        let asked = issuer.asked();
        eventually("the issuer is asked", || {
            assert_eq!(get(&mut client, &stranger).status, 401);
            (issuer.asked() > asked).then_some(())
        });
        let line = told(number + 2);
        assert!(line.contains(wanted), "{line}");
    }
}

#[test]
fn an_issuer_that_hangs_delays_nobody_for_long_and_fails_nobody_who_is_known() {
    let key = Key::new("k");
    let issuer = Issuer::new(Manner::Keys(set(&[&key])));
    let leat = with_keys(&issuer, ", jwks_pause: 100ms");
    let known = bearer(&key.sign(&claims("")));
    assert_eq!(get(&mut leat.connect(), &known).status, 200);
    issuer.behave(Manner::Hang);
    std::thread::sleep(std::time::Duration::from_millis(150));
    let mut waiting = leat.connect();
    waiting.send(format!("GET / HTTP/1.1\r\nhost: h\r\n{}\r\n", bearer(&Key::new("x").sign(&claims("")))));
    eventually("the issuer is asked", || (issuer.asked() == 2).then_some(()));
    // The same token, and one that has to be verified.
    assert_eq!(get(&mut leat.connect(), &known).status, 200);
    assert_eq!(get(&mut leat.connect(), &bearer(&key.sign(&claims("\"n\":1")))).status, 200);
    assert_eq!(outcome(&waiting.response()), (401, "auth.key_unknown".to_owned()));
    assert_eq!(get(&mut leat.connect(), &known).status, 200, "keys that were good stay");
}

#[test]
fn a_reload_keeps_the_keys() {
    let key = Key::new("k");
    let issuer = Issuer::new(Manner::Keys(set(&[&key])));
    let mut leat = with_keys(&issuer, "");
    issuer.behave(Manner::Status(500));
    leat.reload();
    leat.wait_log("reload", |line| line.contains("\"event\":\"reloaded\""));
    assert_eq!(get(&mut leat.connect(), &bearer(&key.sign(&claims("")))).status, 200);
    assert_eq!(issuer.asked(), 1);
}
