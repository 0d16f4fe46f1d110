//! Requests: see ../README.md.
#![no_main]

use leat_fuzz::{control, prefixes};
use leat_h1::{Limits, Profile, Progress, Reason, RequestLines, Span, parse_request};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((control, bytes)) = control(data) else { return };
    let profile = if control & 1 == 0 { Profile::Compatible } else { Profile::Strict };
    // Small limits, so that inputs of a few kilobytes reach them.
    let limits = match control & 2 {
        0 => Limits::default(),
        _ => Limits {
            head_bytes_max: 600,
            fields_max: 5,
            field_bytes_max: 100,
            target_bytes_max: 80,
            ..Limits::default()
        },
    };
    let mut progress = Progress::default();
    let mut lines = RequestLines::default();
    for len in prefixes(control, bytes.len()) {
        let prefix = &bytes[..len];
        let answer = parse_request(prefix, &mut progress, profile, &limits, &mut lines);
        let mut fresh = RequestLines::default();
        let at_once = parse_request(prefix, &mut Progress::default(), profile, &limits, &mut fresh);
        assert_eq!(answer, at_once);
        match answer {
            Ok(None) => assert!(len < limits.head_bytes_max + 2 * leat_h1::LEADING_EMPTY_LINES_MAX),
            Ok(Some(head)) => {
                assert_eq!(format!("{lines:?}"), format!("{fresh:?}"));
                check(prefix, head, &lines, &limits);
                return;
            }
            Err(reason) => {
                assert_ne!(reason, Reason::HeadCutOff);
                return;
            }
        }
    }
});

fn check(bytes: &[u8], head: usize, lines: &RequestLines, limits: &Limits) {
    assert!(bytes[..head].ends_with(b"\r\n\r\n"));
    assert!(lines.fields.len() <= limits.fields_max);
    assert!(lines.target.len() <= limits.target_bytes_max && !lines.target.is_empty());
    let inside = |span: Span| assert!(span.start <= span.end && span.end as usize <= head);
    [lines.method_span, lines.target, lines.authority, lines.path].into_iter().for_each(inside);
    lines.query.into_iter().for_each(inside);
    for field in &lines.fields {
        inside(field.name);
        inside(field.value);
        let value = field.value.of(bytes);
        assert!(!field.name.is_empty() && bytes[field.name.end as usize] == b':');
        assert!(value.iter().all(|&b| b == b'\t' || (b >= b' ' && b != 0x7f)));
        assert!(!value.starts_with(b" ") && !value.ends_with(b" "));
    }
}
