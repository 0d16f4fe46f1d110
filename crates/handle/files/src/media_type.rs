use std::borrow::Cow;

/// The media type for a file name's extension, in any case. Text is UTF-8: that is what is written today, and without a
/// charset browsers guess. An extension that nobody knows is `application/octet-stream`, which no browser runs.
pub(crate) fn of(extension: &str) -> Cow<'static, str> {
    // Where the list that we use is older than the registrations (RFC 9239, ECMA-426).
    let guessed = match extension {
        extension if extension.eq_ignore_ascii_case("mjs") => "text/javascript",
        extension if extension.eq_ignore_ascii_case("map") => "application/json",
        extension => mime_guess::from_ext(extension).first_raw().unwrap_or("application/octet-stream"),
    };
    match guessed {
        "text/html" => "text/html; charset=utf-8".into(),
        "text/css" => "text/css; charset=utf-8".into(),
        "text/javascript" => "text/javascript; charset=utf-8".into(),
        text if text.starts_with("text/") => format!("{text}; charset=utf-8").into(),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_is_utf_8_and_the_unknown_is_bytes() {
        for (extension, media_type) in [
            ("html", "text/html; charset=utf-8"),
            ("HTML", "text/html; charset=utf-8"),
            ("js", "text/javascript; charset=utf-8"),
            ("mjs", "text/javascript; charset=utf-8"),
            ("css", "text/css; charset=utf-8"),
            ("txt", "text/plain; charset=utf-8"),
            ("csv", "text/csv; charset=utf-8"),
            ("json", "application/json"),
            ("map", "application/json"),
            ("svg", "image/svg+xml"),
            ("wasm", "application/wasm"),
            ("woff2", "font/woff2"),
            ("avif", "image/avif"),
            ("xyzzy", "application/octet-stream"),
            ("", "application/octet-stream"),
        ] {
            assert_eq!(super::of(extension), media_type, "{extension}");
        }
    }
}
