/// Checks that `got` is one whole reply after the other, the last of them perhaps cut off. To which method each of them
/// is cannot be told from here, so after a length any reply may have left its body out.
pub(crate) fn check(mut got: &[u8]) -> Result<(), String> {
    while !got.is_empty() {
        let head_end = got.windows(4).position(|four| four == b"\r\n\r\n");
        let Some(head_end) = head_end else { return Err("a head that is cut off".into()) };
        let head = str::from_utf8(&got[..head_end]).map_err(|_| "a head that is not text")?;
        got = &got[head_end + 4..];
        let mut lines = head.split("\r\n");
        let line = lines.next().unwrap_or_default();
        let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|code| code.parse().ok());
        let status: u16 = status.ok_or_else(|| format!("not a status line: {line}"))?;
        let (mut length, mut is_chunked) = (None, false);
        for field in lines {
            let (name, value) = field.split_once(": ").ok_or_else(|| format!("not a field line: {field}"))?;
            match name.to_ascii_lowercase().as_str() {
                "content-length" if length.is_some() => return Err("two lengths".into()),
                "content-length" => {
                    length = Some(value.parse::<usize>().map_err(|_| format!("not a length: {value}"))?)
                }
                "transfer-encoding" => is_chunked = true,
                _ => {}
            }
        }
        if length.is_some() && is_chunked {
            return Err("a length beside chunks".into());
        }
        if status < 200 || got.starts_with(b"HTTP/1.1 ") {
            continue;
        }
        if is_chunked {
            match chunked(got)? {
                Some(rest) => got = rest,
                None => return Ok(()),
            }
        } else {
            // Without either, the body ends with the connection (HTTP/1.0).
            let length = length.unwrap_or(got.len());
            got = got.get(length..).unwrap_or_default();
        }
    }
    Ok(())
}

/// What is behind a chunked body; `None` if the body is cut off.
fn chunked(mut got: &[u8]) -> Result<Option<&[u8]>, String> {
    loop {
        let Some(end) = got.windows(2).position(|two| two == b"\r\n") else { return Ok(None) };
        let size = str::from_utf8(&got[..end]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let size = size.ok_or_else(|| format!("not a chunk size: {}", got[..end].escape_ascii()))?;
        let Some(rest) = got.get(end + 2 + size..) else { return Ok(None) };
        match rest.strip_prefix(b"\r\n") {
            Some(rest) if size == 0 => return Ok(Some(rest)),
            Some(rest) => got = rest,
            None if rest.len() < 2 => return Ok(None),
            None => return Err("a chunk without its end".into()),
        }
    }
}
