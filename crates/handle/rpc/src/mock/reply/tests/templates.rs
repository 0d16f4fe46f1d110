//! Templates in messages.

use super::driver::{Caller, replies, unary};

const REQUEST: &str = r#"{"id":7,"customerName":"Ada","kind":"KIND_USED","token":"aGk=","price":2.5,"small":3,
    "items":[{"sku":"a","count":1},{"sku":"b","count":2}],"stock":{"x":1},"at":"2026-01-31T09:30:00Z",
    "any":{"@type":"x/shop.v1.Item","sku":"s"},"extra":{"deep":[1.5,"two"]},"tags":["t1","t2"]}"#;

#[test]
fn a_value_that_is_one_template_keeps_its_type() {
    for (field, template, json) in [
        ("id", "request.id", r#""id":"7""#),
        ("id", "request.id * 6", r#""id":"42""#),
        ("small", "request.small + 1u", r#""small":4"#),
        ("price", "request.price", r#""price":2.5"#),
        ("price", "request.id", r#""price":7.0"#),
        ("paid", "request.id > 5", r#""paid":true"#),
        ("kind", "request.kind", r#""kind":"KIND_USED""#),
        ("kind", "'KIND_NEW'", r#""kind":"KIND_NEW""#),
        ("token", "request.token", r#""token":"aGk=""#),
        ("customer_name", "request.token", r#""customerName":"aGk=""#),
        ("customer_name", "request.id", r#""customerName":"7""#),
        ("items", "request.items", r#""items":[{"sku":"a","count":1},{"sku":"b","count":2}]"#),
        ("items", "request.items.filter(i, i.count > 1u)", r#""items":[{"sku":"b","count":2}]"#),
        (
            "items",
            "request.items.map(i, {'sku': i.sku + '!', 'count': i.count + 1u})",
            r#""items":[{"sku":"a!","count":2},{"sku":"b!","count":3}]"#,
        ),
        ("stock", "request.stock", r#""stock":{"x":1}"#),
        ("stock", "{'k': 5}", r#""stock":{"k":5}"#),
        ("at", "request.at", r#""at":"2026-01-31T09:30:00Z""#),
        ("at", "now", r#""at":"2026-11-22T09:30:00Z""#),
        ("at", "now + duration('1h')", r#""at":"2026-11-22T10:30:00Z""#),
        ("at", "'2026-01-01T00:00:00Z'", r#""at":"2026-01-01T00:00:00Z""#),
        ("wait", "duration('90s')", r#""wait":"90s""#),
        ("customer_name", "duration('1500ms')", r#""customerName":"1.5s""#),
        ("again", "request", r#""again":{"id":"7""#),
        ("any", "request.items[0]", r#""any":{"@type":"type.googleapis.com/shop.v1.Item","sku":"a","count":1}"#),
        ("any", "request.any", r#""any":{"@type":"type.googleapis.com/shop.v1.Item","sku":"s"}"#),
        ("anys", "request.items", r#""anys":[{"@type":"type.googleapis.com/shop.v1.Item","sku":"a","count":1},"#),
        ("extra", "request.extra", r#""extra":{"deep":[1.5,"two"]}"#),
        ("extra", "{'n': request.price}", r#""extra":{"n":2.5}"#),
        ("value", "request.extra.deep", r#""value":[1.5,"two"]"#),
        ("note", "request.customer_name", r#""note":"Ada""#),
        ("tags", "['a', request.customer_name]", r#""tags":["a","Ada"]"#),
        ("maybe", "null", ""),
        ("id", "has(request.maybe) ? 1 : 2", r#""id":"2""#),
        ("customer_name", "metadata['x-tenant']", r#""customerName":"acme""#),
        ("tags", "metadata_all['x-many']", r#""tags":["1","2"]"#),
        ("customer_name", "metadata.none | default('nobody')", r#""customerName":"nobody""#),
        ("id", "call", r#""id":"3""#),
        ("customer_name", "session + '/' + state", r#""customerName":"tab-7/open""#),
        ("id", "timeout_ms", r#""id":"1500""#),
        ("customer_name", "method + ' ' + peer", r#""customerName":"shop.v1.Orders/Get 127.0.0.1:4000""#),
    ] {
        let replies = replies("Get", &format!("message:\n  {field}: \"{{{{ {template} }}}}\""));
        let caller = Caller {
            requests: &[REQUEST],
            metadata: &[("x-tenant", "acme"), ("X-Many", "1"), ("x-many", "2")],
            call: 3,
            state: "open",
            ..Caller::new("Get")
        };
        let lines = caller.run(&replies);
        assert!(lines[0].starts_with(&format!("made {{{json}")), "{template}: {lines:?}");
    }
}

#[test]
fn templates_stand_anywhere_in_text_and_in_lists() {
    for (written, json) in [
        (
            "{ customer_name: 'Dear {{ request.customer_name }}, no {{ request.id }}.' }",
            r#"{"customerName":"Dear Ada, no 7."}"#,
        ),
        ("{ customer_name: \"{{ '{{' }} {{ \\\"}}\\\" }}\" }", r#"{"customerName":"{{ }}"}"#),
        (
            "{ tags: [first, '{{ request.tags }}', '{{ request.customer_name }}'] }",
            r#"{"tags":["first","t1","t2","Ada"]}"#,
        ),
        ("{ tags: [a, '{{ null }}', b] }", r#"{"tags":["a","b"]}"#),
        ("{ items: [ { sku: x }, '{{ request.items[1] }}' ] }", r#"{"items":[{"sku":"x"},{"sku":"b","count":2}]}"#),
        ("{ stock: { a: '{{ request.items.size() }}', b: 1 } }", r#"{"stock":{"a":2,"b":1}}"#),
        ("{ again: { id: 1, again: { id: '{{ request.id }}' } } }", r#"{"again":{"id":"1","again":{"id":"7"}}}"#),
        ("{ extra: { a: ['{{ request.price }}', 1.5], b: x } }", r#"{"extra":{"a":[2.5,1.5],"b":"x"}}"#),
        (
            "{ any: { '@type': shop.v1.Item, sku: '{{ request.customer_name }}' } }",
            r#"{"any":{"@type":"type.googleapis.com/shop.v1.Item","sku":"Ada"}}"#,
        ),
        ("{ at: '{{ now | format(\"%F\") }}T00:00:00Z' }", r#"{"at":"2026-11-22T00:00:00Z"}"#),
    ] {
        assert_eq!(unary(&format!("message: {written}"), REQUEST), format!("made {json}\nok"), "{written}");
    }
}

#[test]
fn filters_change_values() {
    for (template, wanted) in [
        ("request.customer_name | upper", "ADA"),
        ("request.customer_name | lower", "ada"),
        ("'  x ' | trim", "x"),
        ("'abcdef' | truncate(3)", "abc"),
        ("request.id | pad(4, '0')", "0007"),
        ("'x' | pad(3)", "  x"),
        ("'' | default('none')", "none"),
        ("null | default(5)", "5"),
        ("request.customer_name | default('none')", "Ada"),
        ("request.items[9].sku | default('none') | upper", "NONE"),
        ("request.customer_name | base64", "QWRh"),
        ("request.token | base64", "aGk="),
        ("request.token | hex", "6869"),
        ("255 | hex", "ff"),
        ("request.items[0] | json", "{\\\"sku\\\":\\\"a\\\",\\\"count\\\":1}"),
        ("[1, 'a', true] | json", "[1,\\\"a\\\",true]"),
        ("now | format('%A %d %B %Y, %H:%M')", "Sunday 22 November 2026, 09:30"),
        ("['only'] | pick", "only"),
        ("[3, 3] | between", "3"),
    ] {
        let text = format!("message:\n  customer_name: \"{{{{ {template} }}}}\"");
        assert_eq!(unary(&text, REQUEST), format!("made {{\"customerName\":\"{wanted}\"}}\nok"), "{template}");
    }
}

#[test]
fn fakes_follow_from_the_seed_and_the_call() {
    let text = "message: { customer_name: '{{ fake.name }} {{ fake.email }} {{ fake.uuid }}', id: '{{ [1, 1000000] | between }}' }";
    let replies = replies("Get", text);
    assert!(replies.counts());
    let run = |seed, call| Caller { seed, call, ..Caller::new("Get") }.run(&replies);
    assert_eq!(run(1, 1), run(1, 1));
    assert_ne!(run(1, 1), run(2, 1));
    assert_ne!(run(1, 1), run(1, 2));
    assert!(run(1, 1)[0].contains("@example.com"));
}

#[test]
fn what_fails_is_told_and_is_no_empty_reply() {
    for (written, wanted) in [
        (
            "{ id: '{{ 1 / (request.id - 7) }}' }",
            "internal: the mock cannot make its reply: `id` of shop.v1.Order: the template `{{ 1 / (request.id - 7) }}` failed: ",
        ),
        (
            "{ small: '{{ request.id - 8 }}' }",
            "internal: the mock cannot make its reply: `small` of shop.v1.Order: a whole number of 32 bits, not below 0 is needed, found `-1`",
        ),
        (
            "{ kind: '{{ request.customer_name }}' }",
            "internal: the mock cannot make its reply: `kind` of shop.v1.Order: `Ada` is no value of shop.v1.Kind",
        ),
        ("{ customer_name: '{{ metadata.nothing }}' }", "internal: "),
        (
            "{ items: '{{ request.customer_name }}' }",
            "internal: the mock cannot make its reply: `items` of shop.v1.Order: a list is needed, found string",
        ),
        (
            "{ token: '{{ request.customer_name + \"?\" }}' }",
            "internal: the mock cannot make its reply: `token` of shop.v1.Order: Base64 is needed, found `Ada?`",
        ),
    ] {
        let line = unary(&format!("message: {written}"), REQUEST);
        assert!(line.starts_with(wanted), "{written}: {line}");
    }
}

#[test]
fn what_is_missing_has_a_default_of_every_kind() {
    for (written, json) in [
        ("{ tags: \"{{ metadata_all['none'] | default([]) }}\" }", "{}"),
        ("{ paid: \"{{ metadata['none'] | default(true) }}\" }", r#"{"paid":true}"#),
        ("{ paid: \"{{ metadata['none'] | default( false ) }}\" }", "{}"),
        ("{ price: \"{{ metadata['none'] | default(1.5) }}\" }", r#"{"price":1.5}"#),
        ("{ id: \"{{ metadata['none'] | default(-7) }}\" }", r#"{"id":"-7"}"#),
        ("{ maybe: \"{{ metadata['none'] | default(null) }}\" }", "{}"),
        ("{ maybe: \"{{ metadata['none'] | default('') }}\" }", r#"{"maybe":""}"#),
    ] {
        assert_eq!(unary(&format!("message: {written}"), REQUEST), format!("made {json}\nok"), "{written}");
    }
}

#[test]
fn a_whole_message_may_be_one_template() {
    assert_eq!(unary("message: '{{ request }}'", REQUEST), "echo\nok");
    assert_eq!(unary("message: '{{ request.again }}'", r#"{"again":{"id":5}}"#), "made {\"id\":\"5\"}\nok");
    assert_eq!(unary("message: \"{{ {'id': 5, 'tags': ['x']} }}\"", "{}"), "made {\"id\":\"5\",\"tags\":[\"x\"]}\nok");
    let find = replies("Find", "message: '{{ request }}'");
    let lines = Caller::new("Find").run(&find);
    assert!(lines[0].starts_with("internal: the mock cannot make its reply: shop.v1.Other is needed"), "{lines:?}");
}

#[test]
fn messages_are_made_on_a_condition_and_for_each_element_of_a_list() {
    for (written, json) in [
        ("{ again: { $if: request.id == 7, id: 1 } }", r#"{"again":{"id":"1"}}"#),
        ("{ again: { $if: request.id == 8, id: 1 } }", "{}"),
        ("{ any: { $if: index > 0, '@type': shop.v1.Item } }", "{}"),
        ("{ items: [ { $if: request.id == 8, sku: x }, { sku: y } ] }", r#"{"items":[{"sku":"y"}]}"#),
        (
            "{ items: [ { sku: first }, { $each: request.items, sku: '{{ item.sku }}!', count: '{{ item.count + 1u }}' } ] }",
            r#"{"items":[{"sku":"first"},{"sku":"a!","count":2},{"sku":"b!","count":3}]}"#,
        ),
        ("{ items: [ { $each: '{{ request.items }}', $if: item.count > 1u, sku: z } ] }", r#"{"items":[{"sku":"z"}]}"#),
        (
            "{ anys: [ { $each: request.tags, '@type': shop.v1.Item, sku: '{{ item }}' } ] }",
            r#"{"anys":[{"@type":"type.googleapis.com/shop.v1.Item","sku":"t1"},{"@type":"type.googleapis.com/shop.v1.Item","sku":"t2"}]}"#,
        ),
        (
            "{ headers: [ { $each: request.items, name: h, value: [ '{{ item.sku }}' ] } ] }",
            r#"{"headers":[{"name":"h","value":["a"]},{"name":"h","value":["b"]}]}"#,
        ),
    ] {
        assert_eq!(unary(&format!("message: {written}"), REQUEST), format!("made {json}\nok"), "{written}");
    }
    let error =
        "error: { code: aborted, details: [ { '@type': shop.v1.Item, $each: request.tags, sku: '{{ item }}' } ] }";
    assert_eq!(unary(error, REQUEST), r#"aborted shop.v1.Item{"sku":"t1"} shop.v1.Item{"sku":"t2"}"#);
}
