//! Messages as they are written in rules.

use super::driver::{Caller, replies, unary};
use crate::call::Form;
use crate::mock::reply::Answered;
use crate::mock::state::Draws;

#[test]
fn values_take_the_types_of_their_fields() {
    for (written, json) in [
        ("{}", "{}"),
        ("{ id: 7 }", r#"{"id":"7"}"#),
        ("{ id: '7', small: 4294967295 }", r#"{"id":"7","small":4294967295}"#),
        ("{ customer_name: 7 }", r#"{"customerName":"7"}"#),
        ("{ customerName: true }", r#"{"customerName":"true"}"#),
        ("{ kind: KIND_USED }", r#"{"kind":"KIND_USED"}"#),
        ("{ kind: 2, kinds: [1, KIND_NEW] }", r#"{"kind":"KIND_USED","kinds":["KIND_NEW","KIND_NEW"]}"#),
        ("{ token: aGk= }", r#"{"token":"aGk="}"#),
        ("{ price: 1.5, paid: true, ratio: 2.5 }", r#"{"price":1.5,"paid":true,"ratio":2.5}"#),
        ("{ items: [ { sku: a, count: 1 }, {} ] }", r#"{"items":[{"sku":"a","count":1},{}]}"#),
        ("{ stock: { a: 1, b: -2 } }", r#"{"stock":{"a":1,"b":-2}}"#),
        ("{ by_id: { 5: { sku: x } } }", r#"{"byId":{"5":{"sku":"x"}}}"#),
        ("{ at: '2026-01-31T09:30:00Z', wait: 1.5s }", r#"{"at":"2026-01-31T09:30:00Z","wait":"1.500s"}"#),
        ("{ extra: { a: 1.5, b: [true, null, text] } }", r#"{"extra":{"a":1.5,"b":[true,null,"text"]}}"#),
        (
            "{ any: { '@type': shop.v1.Item, sku: a } }",
            r#"{"any":{"@type":"type.googleapis.com/shop.v1.Item","sku":"a"}}"#,
        ),
        ("{ note: 7, value: null }", r#"{"note":"7","value":null}"#),
        ("{ mask: 'customerName,id' }", r#"{"mask":"customerName,id"}"#),
        ("{ again: { again: { id: 1 } } }", r#"{"again":{"again":{"id":"1"}}}"#),
        ("{ maybe: '' }", r#"{"maybe":""}"#),
    ] {
        assert_eq!(unary(&format!("message: {written}"), "{}"), format!("fixed {json}\nok"), "{written}");
    }
}

#[test]
fn a_message_without_templates_is_made_once_in_both_forms() {
    let replies = replies("Get", "message: { id: 1, customer_name: a }\nheaders: { X-A: b }");
    let reply = replies.pick(1, &mut Draws::new(0, &[]));
    let at_once = reply.at_once().unwrap();
    let Answered::Prepared(prepared) = at_once.answer else { panic!("{at_once:?}") };
    assert_eq!(&*prepared.binary, b"\x08\x01\x12\x01a");
    assert_eq!(&*prepared.json, br#"{"id":"1","customerName":"a"}"#);
    assert_eq!(at_once.headers.get("x-a"), Some(&b"b"[..]));
    assert!(at_once.trailers.is_empty());
    assert!(!replies.counts() && !reply.reads_requests());
    assert_eq!(replies.known_messages().count(), 1);
}

#[test]
fn what_depends_on_the_call_is_not_at_once() {
    for (text, at_once) in [
        ("message: {}", true),
        ("message: '{{ request }}'", true),
        ("error: not_found", true),
        ("error: { code: not_found, message: '{{ call }}' }", false),
        ("message: {}\ndelay: 1ms", false),
        ("message: {}\ndelay: 0ms", true),
        ("message: { id: '{{ request.id }}' }", false),
        ("message: {}\nheaders: { x: '{{ call }}' }", false),
        ("message: {}\nfault: { close: true }", false),
    ] {
        let replies = replies("Get", text);
        assert_eq!(replies.pick(1, &mut Draws::new(0, &[])).at_once().is_some(), at_once, "{text}");
    }
}

#[test]
fn both_forms_say_the_same() {
    let replies = replies("Get", "message: { id: '{{ request.id + 1 }}', customer_name: 'n{{ call }}' }");
    let run = |form| Caller { form, requests: &[r#"{"id":41}"#], ..Caller::new("Get") }.run(&replies);
    assert_eq!(run(Form::Json), [r#"made {"id":"42","customerName":"n1"}"#, "ok"]);
    assert_eq!(run(Form::Binary), run(Form::Json));
}

#[test]
fn headers_and_trailers_have_lists_templates_and_bytes() {
    for (written, wanted) in [
        ("{ x-a: 1, X-B: [b, '{{ request.id }}'] }", "x-a=1 x-b=b x-b=7"),
        ("{ x-bin: AQI= }", "x-bin=\\x01\\x02"),
        ("{ x-bin: '{{ request.token }}' }", "x-bin=\\xff"),
        ("'{{ request.headers }}'", "x-h=1 x-h=2 x-i=3"),
        ("\"{{ {'x-m': 1, 'x-n': ['a', 'b']} }}\"", "x-m=1 x-n=a x-n=b"),
    ] {
        let request =
            r#"{"id":7,"token":"/w==","headers":[{"name":"x-h","value":["1","2"]},{"name":"x-i","value":["3"]}]}"#;
        let text = format!("message: {{}}\nheaders: {written}\ntrailers: {written}");
        assert_eq!(unary(&text, request), format!("headers {wanted}\nfixed {{}}\nok trailers {wanted}"), "{written}");
    }
}

#[test]
fn errors_have_codes_messages_and_details() {
    for (written, wanted) in [
        ("not_found", "not_found"),
        ("5", "not_found"),
        ("{ code: RESOURCE_EXHAUSTED, message: 'no {{ request.id }}' }", "resource_exhausted: no 7"),
        ("{ code: '{{ request.code }}' }", "already_exists"),
        (
            "{ code: aborted, details: [ { '@type': google.rpc.ErrorInfo, reason: R, metadata: { k: '{{ call }}' } } ] }",
            r#"aborted google.rpc.ErrorInfo{"reason":"R","metadata":{"k":"1"}}"#,
        ),
        (
            "{ code: aborted, details: [ '{{ request.anys }}', { '@type': shop.v1.Other, name: z } ] }",
            r#"aborted shop.v1.Item{"sku":"s"} shop.v1.Other{"name":"z"}"#,
        ),
        ("{ code: aborted, details: '{{ request.items[0] }}' }", r#"aborted shop.v1.Item{"sku":"i"}"#),
    ] {
        let request = r#"{"id":7,"code":6,"items":[{"sku":"i"}],"anys":[{"@type":"x/shop.v1.Item","sku":"s"}]}"#;
        assert_eq!(unary(&format!("error: {written}"), request), wanted, "{written}");
    }
}

#[test]
fn without_templates_text_stands_for_itself() {
    let text = "templates: false\nmessage: { customer_name: '{{ x }} {{' }\nheaders: { a: '{{' }";
    assert_eq!(unary(text, "{}"), "headers a={{\nfixed {\"customerName\":\"{{ x }} {{\"}\nok");
    assert_eq!(unary("templates: false\nerror: { code: aborted, message: '{{' }", "{}"), "aborted: {{");
}
