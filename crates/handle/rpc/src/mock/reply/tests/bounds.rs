//! What hostile requests can make of templates.

use super::driver::{method, unary};
use crate::mock::reply::received::Received;

/// A request with this many items, and a text so long.
fn request(items: usize, text_bytes: usize) -> String {
    let items = vec!["{}"; items].join(",");
    format!(r#"{{"customerName":"{}","items":[{items}]}}"#, "x".repeat(text_bytes))
}

#[test]
fn a_reply_that_grows_with_the_product_of_its_request_is_refused() {
    let (text, many) = (request(300, 1_000_000), request(2_000, 10));
    for (written, request) in [
        ("items: [ { $each: request.items, sku: '{{ request.customer_name }}' } ]", &text),
        ("items: [ { $each: request.items, sku: 'a {{ request.customer_name }}' } ]", &text),
        ("tags: '{{ request.items.map(i, request.customer_name) }}'", &text),
        ("tags: [ '{{ request.items.map(i, request.customer_name) }}' ]", &text),
        ("customer_name: '{{ request.items.map(i, request.customer_name) }}'", &text),
        ("customer_name: '{{ request.items.map(i, request.customer_name) | upper }}'", &text),
        ("extra: { a: '{{ request.items.map(i, request.customer_name) }}' }", &text),
        ("any: '{{ request.items.map(i, request.customer_name) }}'", &text),
        ("anys: [ { $each: request.items, '@type': shop.v1.Item, sku: '{{ request.customer_name }}' } ]", &text),
        ("anys: '{{ request.items.map(i, request) }}'", &text),
        ("tags: '{{ request.items.map(i, request) }}'", &text),
        ("items: '{{ request.items.map(i, {\"sku\": request.customer_name}) }}'", &text),
        // Small on the wire, and large in memory.
        ("anys: '{{ request.items.map(i, request) }}'", &many),
    ] {
        let line = unary(&format!("message: {{ {written} }}"), request);
        assert!(line.starts_with("internal: the mock cannot make its reply: "), "{written}: {line:.200}");
        assert!(line.contains("the reply is too large"), "{written}: {line:.200}");
    }
    let error = "error: { code: aborted, details: '{{ request.items.map(i, request) }}' }";
    assert!(unary(error, &text).contains("the reply is too large"));
    let headers = "message: {}\nheaders: { x: '{{ request.items.map(i, request.customer_name) }}' }";
    assert!(unary(headers, &text).contains("the reply is too large"));
}

#[test]
fn a_large_reply_is_given() {
    for written in [
        "items: [ { $each: request.items, sku: '{{ request.customer_name }}' } ]",
        "items: '{{ request.items }}'",
        "again: '{{ request }}'",
    ] {
        let line = unary(&format!("message: {{ {written} }}"), &request(20_000, 1_000));
        assert!(line.starts_with("made ") && line.ends_with("\nok"), "{written}: {line:.200}");
    }
}

#[test]
fn requests_that_are_kept_cost_their_place_too() {
    let input = method("Collect").input();
    for (all, bytes, wanted) in
        [(true, 0, 10_000), (true, 100_000, 669), (true, 40_000_000, 1), (false, 0, 20_000), (false, 1_000_000, 20_000)]
    {
        let mut received = Received::new(input, all);
        let message = vec![0; bytes];
        let taken = (0..20_000).take_while(|_| received.push(Some(&message)).is_ok()).count();
        assert_eq!(taken, wanted, "{all} {bytes}");
    }
    let mut counted = Received::new(input, true);
    assert!((0..20_000).all(|_| counted.push(None).is_ok()));
}
