//! Requests for files in a real directory, answered into a recorded exchange.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use leat_files::{CHUNK_BYTES, Coding, Files, Hidden, Settings, SettingsError};
use leat_message::{Length, Reason, Reply};
use leat_testkit::RecordedExchange;
use place::*;

#[test]
fn a_file_comes_with_all_its_fields() {
    let place = Place::new();
    place.file("a.html", "hello");
    let settings = Settings { cache_control: Some("max-age=60".into()), ..place.settings() };
    let files = Files::new(settings).unwrap();
    let outcome = get(&files, "/a.html?v=1");
    assert_eq!((outcome.status(), outcome.text()), (200, "hello".into()));
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("last-modified", MODIFIED),
        ("accept-ranges", "bytes"),
        ("x-content-type-options", "nosniff"),
        ("vary", "accept-encoding"),
        ("cache-control", "max-age=60"),
    ] {
        assert_eq!(outcome.field(name), Some(value), "{name}");
    }
    let etag = outcome.field("etag").unwrap();
    assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 10, "{etag}");
    assert_eq!(outcome.x.reply_length(), Length::Known(5));
    assert_eq!((outcome.field("content-encoding"), outcome.field("content-range")), (None, None));
}

#[test]
fn head_announces_what_get_sends_and_sends_nothing() {
    let place = Place::new();
    place.file("a.txt", letters(100_000));
    place.file("empty", "");
    let files = place.files();
    for target in ["/a.txt", "/empty"] {
        let got = get(&files, target);
        let head = answer(&files, RecordedExchange::new("HEAD", target).with_field("range", "bytes=0-1"));
        assert_eq!((head.status(), head.x.reply_length()), (200, got.x.reply_length()));
        assert_eq!(head.x.reply_fields(), got.x.reply_fields());
        assert!(head.x.reply_body().is_empty());
    }
}

#[test]
fn other_methods_are_not_allowed_and_learn_which_are() {
    let place = Place::new();
    place.file("a", "x");
    let files = place.files();
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND", "get"] {
        for target in ["/a", "/missing", "/../x"] {
            let mut outcome = answer(&files, RecordedExchange::new(method, target));
            assert_eq!((outcome.status(), outcome.field("allow")), (405, Some("GET, HEAD")), "{method} {target}");
            assert_eq!(outcome.x.record().reason, Some(Reason::RouteMethod));
        }
    }
}

#[test]
fn paths_lead_to_files_inside_the_root_and_nowhere_else() {
    let place = Place::new();
    fs::write(place.0.join("secret"), "secret").unwrap();
    fs::create_dir(place.0.join("site-2")).unwrap();
    fs::write(place.0.join("site-2/x"), "secret").unwrap();
    for path in ["a.txt", "d/b.txt", "with space", "100%", "é", ".env", ".git/config", ".well-known/acme", "d/.hidden"]
    {
        place.file(path, path);
    }
    let root = place.root();
    for (link, target) in [
        ("inside", "d/b.txt"),
        ("d/inside-up", "../a.txt"),
        ("to-directory", "d"),
        ("out", "../secret"),
        ("out-absolute", "/etc/passwd"),
        ("out-directory", ".."),
        ("out-sibling", "../site-2"),
        ("out-and-in", "../site/a.txt"),
        ("to-hidden", ".env"),
        ("loop", "loop"),
        ("dangling", "nothing"),
        ("magic", "/proc/self/cwd/Cargo.toml"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    let files = place.files();
    let cases: [(&str, Result<&str, Reason>); 54] = [
        ("/a.txt", Ok("a.txt")),
        ("/d/b.txt", Ok("d/b.txt")),
        ("/with%20space", Ok("with space")),
        ("/100%25", Ok("100%")),
        ("/%C3%A9", Ok("é")),
        ("/%61.txt", Ok("a.txt")),
        ("/inside", Ok("d/b.txt")),
        ("/d/inside-up", Ok("a.txt")),
        ("/to-directory/b.txt", Ok("d/b.txt")),
        ("/to-directory/inside-up", Ok("a.txt")),
        ("/to-hidden", Ok(".env")),
        ("/.well-known/acme", Ok(".well-known/acme")),
        ("/missing", Err(Reason::FileNotFound)),
        ("/d/missing", Err(Reason::FileNotFound)),
        ("/missing/a.txt", Err(Reason::FileNotFound)),
        ("/a.txt/", Err(Reason::FileNotFound)),
        ("/a.txt/b", Err(Reason::FileNotFound)),
        ("/A.TXT", Err(Reason::FileNotFound)),
        ("/dangling", Err(Reason::FileNotFound)),
        ("//a.txt", Err(Reason::FileNotFound)),
        ("/d//b.txt", Err(Reason::FileNotFound)),
        ("/a%2541", Err(Reason::FileNotFound)),
        ("/%252e%252e/secret", Err(Reason::FileNotFound)),
        ("/%252fetc/passwd", Err(Reason::FileNotFound)),
        ("/%E0%80%AFetc/passwd", Err(Reason::FileNotFound)),
        ("/%C0%AE%C0%AE/secret", Err(Reason::FileNotFound)),
        ("/..%C0%AF../secret", Err(Reason::FileForbidden)),
        ("/../secret", Err(Reason::FileForbidden)),
        ("/..", Err(Reason::FileForbidden)),
        ("/d/../a.txt", Err(Reason::FileForbidden)),
        ("/d/../../secret", Err(Reason::FileForbidden)),
        ("/%2e%2e/secret", Err(Reason::FileForbidden)),
        ("/%2E%2E%2Fsecret", Err(Reason::FileForbidden)),
        ("/..%2fsecret", Err(Reason::FileForbidden)),
        ("/..\\secret", Err(Reason::FileForbidden)),
        ("/..%5csecret", Err(Reason::FileForbidden)),
        ("/.%00./secret", Err(Reason::FileForbidden)),
        ("/../site-2/x", Err(Reason::FileForbidden)),
        ("/a.txt%00.html", Err(Reason::FileForbidden)),
        ("/a.txt%0a", Err(Reason::FileForbidden)),
        ("/.env", Err(Reason::FileForbidden)),
        ("/%2eenv", Err(Reason::FileForbidden)),
        ("/.git/config", Err(Reason::FileForbidden)),
        ("/.nothing", Err(Reason::FileForbidden)),
        ("/d/.hidden", Err(Reason::FileForbidden)),
        ("/out", Err(Reason::FileForbidden)),
        ("/out-absolute", Err(Reason::FileForbidden)),
        ("/out-directory/secret", Err(Reason::FileForbidden)),
        ("/out-sibling/x", Err(Reason::FileForbidden)),
        ("/out-and-in", Err(Reason::FileForbidden)),
        ("/magic", Err(Reason::FileForbidden)),
        ("/loop", Err(Reason::FileForbidden)),
        ("/a%2", Err(Reason::LineTargetInvalid)),
        ("/a%gg", Err(Reason::LineTargetInvalid)),
    ];
    for (target, expected) in cases {
        let outcome = get(&files, target);
        let got = outcome.reason.map_or(Ok(outcome.text()), Err);
        assert_eq!(got, expected.map(str::to_owned), "{target}");
        assert_eq!(outcome.x.status() == 0, expected.is_err(), "{target}: nothing is written before a refusal");
    }
    let longest = format!("/{}", "x".repeat(256));
    assert_eq!(get(&files, &longest).reason, Some(Reason::FileNotFound));
    assert_eq!(get(&files, &"/x".repeat(3_000)).reason, Some(Reason::FileNotFound));
}

#[test]
fn hidden_files_are_served_where_the_settings_say_so() {
    let place = Place::new();
    place.file(".env", "x");
    let files = Files::new(Settings { hidden: Hidden::Serve, ..place.settings() }).unwrap();
    assert_eq!(get(&files, "/.env").status(), 200);
    assert_eq!(get(&files, "/../x").status(), 403);
}

#[test]
fn only_regular_files_are_served_and_a_fifo_does_not_hang() {
    let place = Place::new();
    let root = place.root();
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("fifo"), rustix::fs::Mode::RUSR).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    let files = place.files();
    for target in ["/fifo", "/socket"] {
        assert_eq!(get(&files, target).reason, Some(Reason::FileNotFound), "{target}");
    }
    // A precompressed sibling that is no regular file is none.
    place.file("a", "plain");
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("a.br"), rustix::fs::Mode::RUSR).unwrap();
    fs::create_dir(root.join("a.gz")).unwrap();
    assert_eq!(get_with(&files, "/a", &[("accept-encoding", "br, gzip")]).text(), "plain");
}

#[test]
fn a_file_that_may_not_be_read_is_forbidden() {
    let place = Place::new();
    let path = place.file("a", "x");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // For root every file may be read.
    let expected = if File::open(&path).is_ok() { 200 } else { 403 };
    assert_eq!(get(&place.files(), "/a").status(), expected);
}

#[test]
fn directories_are_reached_with_a_slash_and_show_their_index_only() {
    let place = Place::new();
    place.file("index.html", "top");
    place.file("d/index.html", "inner");
    place.file("e/index.htm", "second name");
    place.file("none/a", "a");
    place.file("f/index.html/a", "an index that is a directory");
    let index = vec!["index.html".into(), "index.htm".into()];
    let files = Files::new(Settings { index, ..place.settings() }).unwrap();
    for (target, text) in [("/", "top"), ("/d/", "inner"), ("/e/", "second name"), ("", "top")] {
        let outcome = get(&files, target);
        assert_eq!((outcome.status(), outcome.text()), (200, text.into()), "{target}");
    }
    assert_eq!(get(&files, "/d/").field("content-type"), Some("text/html; charset=utf-8"));
    for target in ["/none/", "/f/", "/missing/"] {
        assert_eq!(get(&files, target).reason, Some(Reason::FileNotFound), "{target}");
    }
    for (target, location) in [
        ("/d", "/d/"),
        ("/none", "/none/"),
        ("/d?a=b", "/d/?a=b"),
        ("/%64", "/%64/"),
        ("/f/index.html", "/f/index.html/"),
    ] {
        let outcome = get(&files, target);
        assert_eq!((outcome.status(), outcome.field("location")), (301, Some(location)), "{target}");
        assert!(outcome.x.reply_body().is_empty());
    }
}

#[test]
fn a_redirect_names_the_whole_path_even_under_a_prefix_and_never_another_origin() {
    let place = Place::new();
    fs::create_dir(place.root().join("d")).unwrap();
    let files = place.files();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (target, rest, location) in [
        ("/static/d", "/d", "/static/d/"),
        ("/static", "", "/static/"),
        ("/static?q", "", "/static/?q"),
        ("//evil.example/d", "/d", "/evil.example/d/"),
        ("//evil.example/%2e%2e/d", "/d", "/evil.example/%2e%2e/d/"),
    ] {
        let mut x = RecordedExchange::new("GET", target);
        runtime.block_on(files.serve(rest.as_bytes(), &mut x)).unwrap();
        assert_eq!((x.status(), x.reply_field("location")), (301, Some(location)), "{target}");
    }
}

#[test]
fn the_sibling_that_the_client_likes_best_is_sent_under_the_files_own_type() {
    let place = Place::new();
    place.file("a.js", "plain");
    place.file("a.js.br", "brotli");
    place.file("a.js.gz", "gzip");
    place.file("b.js", "plain");
    place.file("index.html", "plain");
    place.file("index.html.gz", "gzip");
    let files = place.files();
    for (target, accept, text, coding) in [
        ("/a.js", "", "plain", None),
        ("/a.js", "gzip, deflate, br, zstd", "brotli", Some("br")),
        ("/a.js", "zstd", "plain", None),
        ("/a.js", "zstd, gzip", "gzip", Some("gzip")),
        ("/a.js", "br;q=0.1, gzip", "gzip", Some("gzip")),
        ("/a.js", "br;q=0, gzip;q=0", "plain", None),
        ("/a.js", "*", "brotli", Some("br")),
        ("/a.js", "identity, br;q=0.5", "plain", None),
        ("/a.js", "identity;q=0", "plain", None),
        ("/b.js", "br, gzip", "plain", None),
        ("/", "gzip", "gzip", Some("gzip")),
        ("/a.js.br", "br", "brotli", None),
    ] {
        let outcome = get_with(&files, target, &[("accept-encoding", accept)]);
        assert_eq!((outcome.text(), outcome.field("content-encoding")), (text.into(), coding), "{target} {accept}");
        assert_eq!(outcome.field("vary"), Some("accept-encoding"));
        if target.ends_with(".js") {
            assert_eq!(outcome.field("content-type"), Some("text/javascript; charset=utf-8"));
        }
    }
}

#[test]
fn each_coding_has_its_own_tag_and_its_own_ranges() {
    let place = Place::new();
    place.file("a.js", "plain text");
    place.file("a.js.br", "brotli");
    let files = place.files();
    let tag_for = |accept| get_with(&files, "/a.js", &[("accept-encoding", accept)]).field("etag").unwrap().to_owned();
    let (plain, brotli) = (tag_for("identity"), tag_for("br"));
    assert_ne!(plain, brotli);
    for (accept, tag, status) in [("br", &brotli, 304), ("br", &plain, 200), ("", &plain, 304), ("", &brotli, 200)] {
        let outcome = get_with(&files, "/a.js", &[("accept-encoding", accept), ("if-none-match", tag)]);
        assert_eq!(outcome.status(), status, "{accept} {tag}");
    }
    let outcome = get_with(&files, "/a.js", &[("accept-encoding", "br"), ("range", "bytes=-2")]);
    assert_eq!((outcome.text(), outcome.field("content-range")), ("li".into(), Some("bytes 4-5/6")));
}

#[test]
fn siblings_are_not_looked_for_where_the_settings_name_none() {
    let place = Place::new();
    place.file("a.js", "plain");
    place.file("a.js.br", "brotli");
    place.file("a.js.gz", "gzip");
    for (precompressed, text, vary) in [
        (vec![], "plain", None),
        (vec![Coding::Gzip], "gzip", Some("accept-encoding")),
        (vec![Coding::Gzip, Coding::Br], "gzip", Some("accept-encoding")),
    ] {
        let files = Files::new(Settings { precompressed, ..place.settings() }).unwrap();
        let outcome = get_with(&files, "/a.js", &[("accept-encoding", "br, gzip")]);
        assert_eq!((outcome.text(), outcome.field("vary")), (text.into(), vary));
    }
}

#[test]
fn a_sibling_that_leads_out_of_the_root_is_none() {
    let place = Place::new();
    fs::write(place.0.join("secret"), "secret").unwrap();
    place.file("a", "plain");
    symlink("../secret", place.root().join("a.br")).unwrap();
    assert_eq!(get_with(&place.files(), "/a", &[("accept-encoding", "br")]).text(), "plain");
}

#[test]
fn bodies_of_all_sizes_arrive_whole_at_clients_of_all_speeds() {
    let place = Place::new();
    let files = place.files();
    for size in [0, 1, 16_384, 16_385, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES + 7] {
        let content = letters(size);
        place.file("a", &content);
        for send_max in [usize::MAX, 1_000_000, 4_096, 777] {
            let outcome = answer(&files, RecordedExchange::new("GET", "/a").with_slow_client(send_max));
            assert_eq!(outcome.x.reply_body(), content, "{size} {send_max}");
        }
        if size > 20 {
            let ranges = format!("bytes=1-{},0-0", size - 2);
            let x = RecordedExchange::new("GET", "/a").with_field("range", &ranges).with_slow_client(5_000);
            let outcome = answer(&files, x);
            assert_eq!(outcome.status(), 206);
            let text = outcome.x.reply_body();
            assert!(text.windows(size - 2).any(|window| window == &content[1..size - 1]), "{size}");
        }
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_sent_cuts_the_reply() {
    let place = Place::new();
    let path = place.file("a", letters(10 * CHUNK_BYTES));
    let x = RecordedExchange::new("GET", "/a").with_act_on_send(move |sent| {
        if sent == 2 * CHUNK_BYTES {
            File::options().write(true).open(&path).unwrap().set_len(3 * CHUNK_BYTES as u64 + 5).unwrap();
        }
    });
    let outcome = answer(&place.files(), x);
    assert_eq!((outcome.reason, outcome.x.status()), (Some(Reason::FileFailed), 200));
    assert_eq!(outcome.x.reply_body().len(), 3 * CHUNK_BYTES + 5);
    assert!(!outcome.x.is_complete());
}

#[test]
fn a_file_that_grows_while_it_is_sent_is_sent_up_to_the_announced_length() {
    let place = Place::new();
    let path = place.file("a", letters(2 * CHUNK_BYTES));
    let x = RecordedExchange::new("GET", "/a").with_act_on_send(move |_| {
        File::options().write(true).open(&path).unwrap().set_len(5 * CHUNK_BYTES as u64).unwrap();
    });
    let outcome = answer(&place.files(), x);
    assert_eq!((outcome.reason, outcome.x.reply_length()), (None, Length::Known(2 * CHUNK_BYTES as u64)));
}

#[test]
fn a_file_that_is_replaced_while_it_is_sent_is_sent_as_it_was() {
    let place = Place::new();
    let content = letters(4 * CHUNK_BYTES);
    let path = place.file("a", &content);
    let x = RecordedExchange::new("GET", "/a").with_act_on_send(move |_| {
        let new = path.with_extension("new");
        fs::write(&new, "other").unwrap();
        fs::rename(&new, &path).unwrap();
    });
    assert_eq!(answer(&place.files(), x).x.reply_body(), content);
}

#[test]
fn a_client_that_goes_away_ends_the_exchange() {
    let place = Place::new();
    place.file("a", letters(10 * CHUNK_BYTES));
    let outcome = answer(&place.files(), RecordedExchange::new("GET", "/a").with_client_gone_after(CHUNK_BYTES));
    assert_eq!(outcome.reason, Some(Reason::PeerReset));
}

#[test]
fn a_root_that_is_switched_by_a_link_is_followed_at_once() {
    let place = Place::new();
    place.file("one/a", "one");
    place.file("two/a", "two");
    let link = place.0.join("current");
    symlink(place.root().join("one"), &link).unwrap();
    let files = Files::new(Settings::new(&link)).unwrap();
    assert_eq!(get(&files, "/a").text(), "one");
    let next = place.0.join("next");
    symlink(place.root().join("two"), &next).unwrap();
    fs::rename(&next, &link).unwrap();
    assert_eq!(get(&files, "/a").text(), "two");
    fs::remove_file(&link).unwrap();
    assert_eq!(get(&files, "/a").reason, Some(Reason::FileNotFound));
}

#[test]
fn settings_that_cannot_work_are_refused_with_what_to_write_instead() {
    let place = Place::new();
    let file = place.file("a", "");
    let bad: [(Settings, &str); 8] = [
        (Settings::new(place.0.join("missing")), "missing"),
        (Settings::new(&file), "not a directory"),
        (Settings { index: vec!["a/b".into()], ..place.settings() }, "plain file name"),
        (Settings { index: vec![String::new()], ..place.settings() }, "plain file name"),
        (Settings { index: vec!["..".into()], ..place.settings() }, "plain file name"),
        (Settings { cache_control: Some("a\r\nb: c".into()), ..place.settings() }, "field value"),
        (Settings { cache_control: Some(String::new()), ..place.settings() }, "field value"),
        (Settings { cache_control: Some("é".into()), ..place.settings() }, "field value"),
    ];
    for (settings, part) in bad {
        let error: SettingsError = Files::new(settings).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(Files::new(Settings::new(Path::new("/"))).is_ok());
}
