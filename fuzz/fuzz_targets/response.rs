//! Responses: see ../README.md.
#![no_main]

use leat_fuzz::{control, prefixes};
use leat_h1::{Method, Progress, ResponseLimits, ResponseLines, Span, parse_response};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((control, bytes)) = control(data) else { return };
    let method = match control & 3 {
        0 => Method::Get,
        1 => Method::Head,
        2 => Method::Connect,
        _ => Method::Post,
    };
    let limits = match control & 4 {
        0 => ResponseLimits::default(),
        _ => ResponseLimits { head_bytes_max: 600, fields_max: 5 },
    };
    let mut progress = Progress::default();
    let mut lines = ResponseLines::default();
    for len in prefixes(control, bytes.len()) {
        let prefix = &bytes[..len];
        let answer = parse_response(prefix, &mut progress, &limits, method, &mut lines);
        let mut fresh = ResponseLines::default();
        let at_once = parse_response(prefix, &mut Progress::default(), &limits, method, &mut fresh);
        assert_eq!(answer, at_once);
        match answer {
            Ok(None) => assert!(len < limits.head_bytes_max),
            Ok(Some(head)) => {
                assert_eq!(format!("{lines:?}"), format!("{fresh:?}"));
                assert!(bytes[..head].ends_with(b"\r\n\r\n"));
                assert!((100..=599).contains(&lines.status));
                let inside = |span: Span| assert!(span.start <= span.end && span.end as usize <= head);
                inside(lines.reason);
                lines.fields.iter().flat_map(|field| [field.name, field.value]).for_each(inside);
                return;
            }
            Err(_) => return,
        }
    }
});
