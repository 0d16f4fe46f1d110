//! Conditional and range requests (RFC 9110 sections 13 and 14) for files in a real directory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs::{self, File};
use std::time::SystemTime;

use leat_message::Length;
use leat_testkit::RecordedExchange;
use place::*;

#[test]
fn conditions_are_evaluated_in_the_order_of_rfc_9110() {
    let place = Place::new();
    place.file("a", "content");
    let files = place.files();
    let etag = get(&files, "/a").field("etag").unwrap().to_owned();
    let weak = format!("W/{etag}");
    let (tag, weak) = (etag.as_str(), weak.as_str());
    let list = format!("\"x\", {tag}");
    let (match_, none, since, unmodified) = ("if-match", "if-none-match", "if-modified-since", "if-unmodified-since");
    let cases: [(&[(&str, &str)], u16); 38] = [
        (&[], 200),
        (&[(match_, tag)], 200),
        (&[(match_, &list)], 200),
        (&[(match_, "\"x\""), (match_, tag)], 200),
        (&[(match_, "*")], 200),
        (&[(match_, "\"x\"")], 412),
        (&[(match_, weak)], 412),
        (&[(match_, "garbage")], 412),
        (&[(match_, "")], 412),
        (&[(unmodified, MODIFIED)], 200),
        (&[(unmodified, AFTER)], 200),
        (&[(unmodified, BEFORE)], 412),
        (&[(unmodified, "garbage")], 200),
        (&[(unmodified, BEFORE), (unmodified, BEFORE)], 200),
        (&[(match_, tag), (unmodified, BEFORE)], 200),
        (&[(match_, "\"x\""), (unmodified, AFTER)], 412),
        (&[(none, tag)], 304),
        (&[(none, weak)], 304),
        (&[(none, &list)], 304),
        (&[(none, "*")], 304),
        (&[(none, "\"x\"")], 200),
        (&[(none, "garbage")], 200),
        (&[(none, "")], 200),
        (&[(since, MODIFIED)], 304),
        (&[(since, AFTER)], 304),
        (&[(since, "Sunday, 06-Nov-94 08:49:37 GMT")], 304),
        (&[(since, "Sun Nov  6 08:49:37 1994")], 304),
        (&[(since, BEFORE)], 200),
        (&[(since, "garbage")], 200),
        (&[(since, "784111777")], 200),
        (&[(none, "\"x\""), (since, AFTER)], 200),
        (&[(none, tag), (since, BEFORE)], 304),
        (&[(match_, tag), (none, tag)], 304),
        (&[(match_, "\"x\""), (none, tag)], 412),
        (&[(unmodified, BEFORE), (none, tag)], 412),
        (&[(unmodified, AFTER), (since, AFTER)], 304),
        (&[(none, tag), ("range", "bytes=0-0")], 304),
        (&[(match_, tag), ("range", "bytes=0-0")], 206),
    ];
    for method in ["GET", "HEAD"] {
        for (fields, status) in cases {
            let x = RecordedExchange::new(method, "/a");
            let outcome = answer(&files, fields.iter().fold(x, |x, (name, value)| x.with_field(name, value)));
            let status = if method == "HEAD" && status == 206 { 200 } else { status };
            assert_eq!(outcome.status(), status, "{method} {fields:?}");
            if status == 304 {
                assert_eq!(outcome.field("etag"), Some(tag));
                assert_eq!((outcome.field("vary"), outcome.field("content-type")), (Some("accept-encoding"), None));
            }
            if matches!(status, 304 | 412) {
                assert!(outcome.x.reply_body().is_empty());
            }
        }
    }
}

#[test]
fn if_range_decides_between_the_parts_and_the_whole() {
    let place = Place::new();
    place.file("a", "content");
    let files = place.files();
    let etag = get(&files, "/a").field("etag").unwrap().to_owned();
    for (value, status) in [
        (etag.as_str(), 206),
        (MODIFIED, 206),
        ("\"x\"", 200),
        (&format!("W/{etag}"), 200),
        (&format!("{etag}, \"x\""), 200),
        (BEFORE, 200),
        (AFTER, 200),
        ("garbage", 200),
        ("*", 200),
    ] {
        let outcome = get_with(&files, "/a", &[("range", "bytes=0-0"), ("if-range", value)]);
        assert_eq!(outcome.status(), status, "{value}");
    }
    assert_eq!(get_with(&files, "/a", &[("if-range", &etag)]).status(), 200);
    // An unsatisfiable range of another state of the file is no error.
    assert_eq!(get_with(&files, "/a", &[("range", "bytes=100-"), ("if-range", "\"x\"")]).status(), 200);
}

#[test]
fn a_file_that_just_changed_has_a_weak_tag_and_no_if_range() {
    let place = Place::new();
    let path = place.file("a", "content");
    File::options().write(true).open(path).unwrap().set_modified(SystemTime::now()).unwrap();
    let files = place.files();
    let outcome = get(&files, "/a");
    let (etag, date) = (outcome.field("etag").unwrap(), outcome.field("last-modified").unwrap());
    assert!(etag.starts_with("W/\""), "{etag}");
    for (name, value, status) in
        [("if-none-match", etag, 304), ("if-match", etag, 412), ("if-modified-since", date, 304)]
    {
        assert_eq!(get_with(&files, "/a", &[(name, value)]).status(), status, "{name}");
    }
    for value in [etag, date] {
        assert_eq!(get_with(&files, "/a", &[("range", "bytes=0-0"), ("if-range", value)]).status(), 200, "{value}");
    }
}

#[test]
fn a_replaced_file_has_another_tag_even_with_the_same_time_and_length() {
    let place = Place::new();
    let path = place.file("a", "one");
    let files = place.files();
    let first = get(&files, "/a").field("etag").unwrap().to_owned();
    // The old one stays, so that its inode is not used again.
    fs::rename(&path, place.0.join("old")).unwrap();
    place.file("a", "two");
    assert_ne!(get(&files, "/a").field("etag"), Some(first.as_str()));
}

#[test]
fn one_range_is_sent_as_it_is() {
    let place = Place::new();
    place.file("a.txt", letters(26));
    let files = place.files();
    for (range, text, content_range) in [
        ("bytes=0-0", "a", "bytes 0-0/26"),
        ("bytes=0-4", "abcde", "bytes 0-4/26"),
        ("bytes=24-", "yz", "bytes 24-25/26"),
        ("bytes=24-100", "yz", "bytes 24-25/26"),
        ("bytes=-3", "xyz", "bytes 23-25/26"),
        ("bytes=-100", "abcdefghijklmnopqrstuvwxyz", "bytes 0-25/26"),
        ("bytes=25-25,100-", "z", "bytes 25-25/26"),
    ] {
        let outcome = get_with(&files, "/a.txt", &[("range", range)]);
        assert_eq!((outcome.status(), outcome.text()), (206, text.into()), "{range}");
        assert_eq!(outcome.field("content-range"), Some(content_range));
        assert_eq!(outcome.field("content-type"), Some("text/plain; charset=utf-8"));
        assert!(outcome.field("etag").is_some());
    }
    for range in ["bytes=26-", "bytes=-0", "bytes=100-200, 300-"] {
        let outcome = get_with(&files, "/a.txt", &[("range", range)]);
        assert_eq!((outcome.status(), outcome.field("content-range")), (416, Some("bytes */26")), "{range}");
    }
    for range in ["bytes=5-1", "lines=0-1", "bytes=0-5,3-9", "bytes", ""] {
        let outcome = get_with(&files, "/a.txt", &[("range", range)]);
        assert_eq!((outcome.status(), outcome.field("content-range")), (200, None), "{range}");
    }
    let twice = get_with(&files, "/a.txt", &[("range", "bytes=0-1"), ("range", "bytes=5-6")]);
    assert_eq!(twice.status(), 200);
}

#[test]
fn several_ranges_are_sent_as_parts_in_the_order_asked_for() {
    let place = Place::new();
    place.file("a.txt", letters(26));
    let outcome = get_with(&place.files(), "/a.txt", &[("range", "bytes=24-25, 0-1, -1, 99-")]);
    // The last byte twice: overlapping ranges get the whole.
    assert_eq!(outcome.status(), 200);
    let outcome = get_with(&place.files(), "/a.txt", &[("range", "bytes=24-25, 0-1, 99-")]);
    assert_eq!((outcome.status(), outcome.field("content-range")), (206, None));
    let boundary = outcome.field("content-type").unwrap().strip_prefix("multipart/byteranges; boundary=").unwrap();
    let part = |range: &str, text: &str| {
        format!(
            "--{boundary}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-range: bytes {range}/26\r\n\r\n{text}\r\n"
        )
    };
    assert_eq!(outcome.text(), format!("{}{}--{boundary}--\r\n", part("24-25", "yz"), part("0-1", "ab")));
    let other = get_with(&place.files(), "/a.txt", &[("range", "bytes=24-25, 0-1")]);
    assert_ne!(other.field("content-type"), outcome.field("content-type"), "boundaries cannot be guessed");
}

#[test]
fn an_empty_file_is_whole_or_unsatisfiable() {
    let place = Place::new();
    place.file("empty.txt", "");
    let files = place.files();
    for (range, status) in [("", 200), ("bytes=0-", 416), ("bytes=0-0", 416), ("bytes=-1", 200), ("bytes=-0", 416)] {
        let outcome = get_with(&files, "/empty.txt", &[("range", range)]);
        assert_eq!((outcome.status(), outcome.x.reply_length()), (status, Length::Known(0)), "{range}");
    }
}
