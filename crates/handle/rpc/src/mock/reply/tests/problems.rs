//! Mistakes in rule files, each with its place and what to write.

use super::driver::problems;

#[test]
fn mistakes_have_a_place_and_a_help() {
    for (method, text, wanted) in [
        (
            "Get",
            "message: { custmer_name: a }",
            "1:12: `custmer_name` is no field of shop.v1.Order; write `customer_name`",
        ),
        ("Get", "message:\n  items:\n    - { skuu: a }", "3:9: `skuu` is no field of shop.v1.Item; write `sku`"),
        (
            "Get",
            "message: { kind: KIND_USD }",
            "1:18: `kind` takes a value of shop.v1.Kind, found `KIND_USD`; write `KIND_USED`",
        ),
        ("Get", "message: { kind: 9 }", "1:18: `kind` takes a value of shop.v1.Kind, found `9`; it has"),
        (
            "Get",
            "message: { small: -1 }",
            "1:19: `small` takes a whole number from 0 to 4294967295, found `-1`; write such",
        ),
        ("Get", "message: { id: seven }", "1:16: `id` takes a whole number from -92"),
        ("Get", "message: { paid: 'yes' }", "1:18: `paid` takes `true` or `false`, found `yes`"),
        ("Get", "message: { token: '?' }", "1:19: `token` takes bytes as Base64, found `?`"),
        ("Get", "message: { tags: a }", "1:18: `tags` is repeated, found `a`; write `tags: [ … ]`"),
        ("Get", "message: { stock: [1] }", "1:19: `stock` is a map, found a list"),
        ("Get", "message: { stock: { a: x } }", "1:24: `stock` takes a whole number"),
        ("Get", "message: { by_id: { a: {} } }", "1:21: `a` is no key of `by_id`"),
        ("Get", "message: { post: a, again: {} }", "1:21: `again` beside `post`, which is of the same oneof"),
        ("Get", "message: { at: yesterday }", "1:16: this is no google.protobuf.Timestamp:"),
        ("Get", "message: { any: { sku: a } }", "1:17: `@type` is missing"),
        (
            "Get",
            "message: { any: { '@type': shop.v1.Itm } }",
            "1:28: there is no message `shop.v1.Itm`; write `shop.v1.Item`",
        ),
        ("Get", "message: { id: [1] }", "1:16: `id` takes a whole number"),
        ("Get", "message: { again: { $each: request.items } }", "1:19: `$each` outside of a list"),
        ("Get", "message: { $if: call == 1 }", "1:10: `$if` or `$each` in the message of a reply itself"),
        ("Get", "message: { again: { $if: call } }", "1:26: `$if` takes what is true or false"),
        ("Get", "message: { again: { $if: [a] } }", "1:26: `$if` takes an expression, found a list"),
        ("Get", "message: { items: [ { $each: request.items, sku: '{{ item.sk }}' } ] }", "1:58: `item.sk`: "),
        ("Get", "message: text", "1:10: shop.v1.Order is a message, found `text`"),
        ("Get", "message: { id: '{{ request.ide }}' }", "1:27: `request.ide`: shop.v1.Order has no field 'ide'"),
        ("Get", "message: { id: '{{ requst.id }}' }", "1:26: `requst.id`: "),
        ("Get", "message: { id: '{{ request.id ' }", "1:17: `{{` without `}}`"),
        ("Get", "message: { id: '{{ request.id | uper }}' }", "1:33: there is no filter `uper`; write `upper`"),
        (
            "Get",
            "message: { id: '{{ request.id | pad }}' }",
            "1:33: `pad` has other arguments; write for example `| pad(8, '0')`",
        ),
        ("Get", "message: { id: '{{ fake.nam }}' }", "1:20: there is no `fake.nam`; write `fake.name`"),
        ("Get", "message: { at: '{{ now | format(\"%Q\") }}' }", "1:26: `format` has other arguments"),
        ("Get", "error: not_fond", "1:8: there is no code `not_fond`; write `not_found`"),
        ("Get", "error: ok", "1:8: `ok` is no error"),
        (
            "Get",
            "error: { code: aborted, details: [ { '@type': google.rpc.ErorInfo } ] }",
            "1:47: there is no message `google.rpc.ErorInfo`; write `google.rpc.ErrorInfo`",
        ),
        ("Get", "headers: { 'a b': c }\nmessage: {}", "1:12: `a b` is no name of metadata"),
        ("Get", "headers: { grpc-status: 1 }\nmessage: {}", "1:12: `grpc-status`: names that start with `grpc-`"),
        ("Get", "headers: { x-bin: '?' }\nmessage: {}", "1:19: the value of `x-bin` is not Base64"),
        ("Get", "headers: { x: é }\nmessage: {}", "1:15: the value of `x` is not printable ASCII"),
        ("Get", "headers: [a]\nmessage: {}", "1:10: a mapping from names to values is needed"),
        ("Get", "{}", "1:1: a reply without anything to reply; add `message"),
        ("Get", "delay: 5ms", "1:1: a reply without anything to reply"),
        ("Get", "message: {}\nerror: aborted", "2:1: `error` beside `message` in a reply"),
        ("Get", "message: {}\ndelay: 5", "2:8: `5` is no delay"),
        ("Get", "message: {}\ndelay: { min: 5ms }", "2:8: `max` is missing in a delay"),
        ("Get", "message: {}\ndelay: { min: 5ms, max: 1ms }", "2:8: `min` is above `max`"),
        (
            "Get",
            "stream: [ { message: {} } ]",
            "1:1: `stream` is for methods that stream replies, and shop.v1.Orders/Get does not",
        ),
        ("Get", "script: [ { close: true } ]", "1:1: `script` is for methods that stream"),
        ("Watch", "stream: [ { messge: {} } ]", "1:11: `message` is missing"),
        ("Chat", "script: [ { expect: any, send: {} } ]", "1:26: `send` beside `expect` in a step of a script"),
        ("Chat", "script: [ { optional: true, collect: true } ]", "1:11: `optional` without `expect`"),
        ("Chat", "script: [ { repeat: 2 } ]", "1:11: a step with nothing to do"),
        ("Chat", "script: [ { send: {}, do: [ { close: true } ] } ]", "1:23: `do` without `each`, `if` or `repeat`"),
        ("Chat", "script: [ { expect: last.id } ]", "1:21: `expect` takes what is true or false"),
        (
            "Get",
            "fault: { reset: refuse_stream }",
            "1:17: there is no error code `refuse_stream` in HTTP/2; write `refused_stream`",
        ),
        ("Get", "fault: { close: true, on_calls: [0] }", "1:34: `0` is no number of calls"),
        ("Get", "fault: { close: false }", "1:10: `close: false` is no fault"),
        ("Get", "fault: { close: true, every: 2, on_calls: [1] }", "1:33: `on_calls` beside `every`"),
        ("Get", "fault: { after: 1 }", "1:8: a fault needs one of"),
        ("Get", "sequence: []", "1:1: an empty list of replies"),
        ("Get", "sequence: [ { message: {} } ]\ndelay: 1ms", "2:1: `delay` beside several replies"),
        ("Get", "message: {}\nthen: loop", "2:1: `then` without `sequence`"),
        ("Get", "weighted: [ { weight: 0, reply: { message: {} } } ]", "1:1: all weights are 0"),
        ("Get", "mesage: {}", "1:1: unknown key `mesage` in a reply; write `message`"),
    ] {
        let found = problems(method, text);
        assert!(found.iter().any(|line| line.starts_with(wanted)), "{text}\nwanted {wanted}\nfound  {found:#?}");
    }
}

#[test]
fn one_mistake_does_not_hide_the_next() {
    let found =
        problems("Get", "message: { idd: 1, small: x, kind: Y }\nheaders: { 'a b': 1 }\ndelay: 5\nfault: { reset: x }");
    assert_eq!(found.len(), 6, "{found:#?}");
}
