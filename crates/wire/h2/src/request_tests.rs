use super::*;

type List<'a> = &'a [(&'a str, &'a str)];

const GET: List<'_> = &[(":method", "GET"), (":scheme", "http"), (":path", "/a?b"), (":authority", "leat.test")];

fn write(list: List<'_>, begin: impl Fn(&mut RequestText)) -> Result<(String, Written), Malformed> {
    let mut request = RequestText::default();
    // What came before leaves no trace.
    for list in [GET, list] {
        begin(&mut request);
        list.iter().for_each(|(name, value)| request.field(name.as_bytes(), value.as_bytes()));
    }
    let written = request.finish()?;
    Ok((String::from_utf8(request.text).unwrap(), written))
}

fn head(list: List<'_>) -> Result<(String, Written), Malformed> {
    write(list, RequestText::begin_head)
}

#[test]
fn heads_become_text() {
    let cases: [(List<'_>, List<'_>, &str); 6] = [
        (GET, &[], "GET /a?b HTTP/1.1\r\nhost: leat.test\r\n\r\n"),
        (GET, &[("x", "y"), ("host", "LEAT.test")], "GET /a?b HTTP/1.1\r\nhost: leat.test\r\nx: y\r\n\r\n"),
        (
            GET,
            &[("cookie", "a=1"), ("te", "trailers"), ("cookie", "b=2")],
            "GET /a?b HTTP/1.1\r\nhost: leat.test\r\nte: trailers\r\ncookie: a=1; b=2\r\n\r\n",
        ),
        (
            &[(":path", "/"), (":scheme", "https"), (":method", "PUT")],
            &[("host", "h"), ("content-length", "7")],
            "PUT / HTTP/1.1\r\nhost: h\r\ncontent-length: 7\r\n\r\n",
        ),
        (
            &[(":method", "CONNECT"), (":authority", "leat.test:443")],
            &[],
            "CONNECT leat.test:443 HTTP/1.1\r\nhost: leat.test:443\r\n\r\n",
        ),
        (&[(":method", "OPTIONS"), (":scheme", "http"), (":path", "*")], &[], "OPTIONS * HTTP/1.1\r\n\r\n"),
    ];
    for (pseudo, fields, text) in cases {
        assert_eq!(head(&[pseudo, fields].concat()).map(|(text, _)| text).as_deref(), Ok(text));
    }
    let written = |fields: List<'_>| head(&[GET, fields].concat()).map(|(_, written)| written);
    assert_eq!(written(&[("content-length", "70")]), Ok(Written { content_length: Some(70), problem: None }));
    assert_eq!(written(&[("content-length", "+7")]), Ok(Written { content_length: None, problem: None }));
    let problem = Some(Reason::HostConflict);
    assert_eq!(written(&[("host", "other.test")]), Ok(Written { content_length: None, problem }));
    // Whether the scheme's port is said makes no difference.
    for (scheme, authority, host, problem) in [
        ("http", "a", "A:80", None),
        ("http", "a:80", "a", None),
        ("https", "a", "a:443", None),
        ("https", "[::1]:443", "[::1]", None),
        ("http", "a:443", "a", problem),
        ("https", "a:80", "a", problem),
        ("http", "a:8080", "a", problem),
        ("http", "a:8080", "a:80", problem),
    ] {
        let list = [(":method", "GET"), (":scheme", scheme), (":path", "/"), (":authority", authority), ("host", host)];
        assert_eq!(head(&list).map(|(_, written)| written.problem), Ok(problem), "{scheme} {authority} {host}");
    }
}

#[test]
fn malformed_heads_are_told() {
    let behind_get: [List<'_>; 16] = [
        &[("A", "b")],
        &[("", "b")],
        &[("a b", "c")],
        &[("a:", "b")],
        &[("a", "b\r\nc: d")],
        &[("a", "b\n")],
        &[("a", "b\0")],
        &[("connection", "close")],
        &[("proxy-connection", "x")],
        &[("keep-alive", "x")],
        &[("transfer-encoding", "chunked")],
        &[("upgrade", "x")],
        &[("te", "gzip")],
        &[("a", "b"), (":path", "/")],
        &[(":path", "/again")],
        &[(":status", "200")],
    ];
    for fields in behind_get {
        assert_eq!(head(&[GET, fields].concat()), Err(Malformed), "{fields:?}");
    }
    let whole: [List<'_>; 15] = [
        &[],
        &[("a", "b")],
        &[(":scheme", "http"), (":path", "/")],
        &[(":method", "GET"), (":path", "/")],
        &[(":method", "GET"), (":scheme", "http")],
        &[(":method", "GET"), (":scheme", "http"), (":path", "")],
        &[(":method", "GET"), (":scheme", "http"), (":path", "*")],
        &[(":method", "GET"), (":scheme", "http"), (":path", "http://other.test/")],
        &[(":method", "GET"), (":scheme", "http"), (":path", "/ HTTP/1.1\r\nx: y")],
        &[(":method", "GET /x"), (":scheme", "http"), (":path", "/")],
        &[(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "")],
        &[(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "a\r\nb")],
        &[(":method", "CONNECT"), (":scheme", "http"), (":path", "/"), (":authority", "a:1")],
        &[(":method", "CONNECT")],
        &[(":method", "CONNECT"), (":protocol", "websocket"), (":authority", "a:1")],
    ];
    for list in whole {
        assert_eq!(head(list), Err(Malformed), "{list:?}");
    }
}

#[test]
fn trailers_become_a_trailer_section() {
    let trailers = |list: List<'_>| {
        let mut request = RequestText::default();
        request.begin_trailers();
        list.iter().for_each(|(name, value)| request.field(name.as_bytes(), value.as_bytes()));
        request.finish().map(|_| String::from_utf8(request.text).unwrap())
    };
    assert_eq!(trailers(&[("x-sum", "1"), ("host", "a")]).as_deref(), Ok("0\r\nx-sum: 1\r\nhost: a\r\n\r\n"));
    for list in [&[(":path", "/")][..], &[("X", "y")], &[("connection", "close")], &[("x", "a\nb")]] {
        assert_eq!(trailers(list), Err(Malformed), "{list:?}");
    }
}
