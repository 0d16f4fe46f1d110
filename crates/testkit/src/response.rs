use crate::connection::{Connection, shown};

/// A response as it came over the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The status codes of the interim responses (1xx) before it.
    pub interim: Vec<u16>,
    /// The head, byte for byte, with the empty line.
    pub head: Vec<u8>,
    /// Name and value of every field, in order, the case of names kept, white space around values gone.
    pub fields: Vec<(String, Vec<u8>)>,
    /// The body without its framing.
    pub body: Vec<u8>,
    /// The trailers of a chunked body.
    pub trailers: Vec<(String, Vec<u8>)>,
}

impl Response {
    /// The first field of this name, as text; the case does not matter.
    pub fn field(&self, name: &str) -> Option<&str> {
        let (_, value) = self.fields.iter().find(|(own, _)| own.eq_ignore_ascii_case(name))?;
        Some(str::from_utf8(value).unwrap_or_else(|_| panic!("{name} is not text: {}", shown(value))))
    }

    /// Every field of this name, in order.
    pub fn fields_named(&self, name: &str) -> Vec<&str> {
        let named = self.fields.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
        named
            .map(|(_, value)| str::from_utf8(value).unwrap_or_else(|_| panic!("{name} is not text: {}", shown(value))))
            .collect()
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap_or_else(|_| panic!("the body is not text: {}", shown(&self.body)))
    }
}

/// Reads one final response to a request with `method`. Deliberately plain and strict, and no code of Leat's: it is the
/// other opinion.
pub(crate) fn read(connection: &mut Connection, method: &str) -> Result<Response, String> {
    let mut interim = Vec::new();
    let mut response = loop {
        let response = head(connection)?;
        if response.status >= 200 || response.status == 101 {
            break response;
        }
        interim.push(response.status);
    };
    response.interim = interim;
    body(connection, method, &mut response)?;
    Ok(response)
}

fn head(connection: &mut Connection) -> Result<Response, String> {
    let head = connection.until(b"\r\n\r\n")?;
    let wrong = |what: &str| format!("{what}: {}", shown(&head));
    let line_end = head.windows(2).position(|pair| pair == b"\r\n").unwrap_or(0);
    let line = str::from_utf8(&head[..line_end]).map_err(|_| wrong("the status line is not text"))?;
    let rest = line.strip_prefix("HTTP/1.1 ").ok_or_else(|| wrong("not an HTTP/1.1 response"))?;
    let (code, _) = rest.split_once(' ').ok_or_else(|| wrong("no space after the status code"))?;
    let status = code.parse().ok().filter(|_| code.len() == 3).ok_or_else(|| wrong("not a status code"))?;
    let fields = fields(&head[line_end + 2..])?;
    Ok(Response { status, fields, head, ..Response::default() })
}

/// Field lines, each ended by CRLF, up to an empty line.
fn fields(mut bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut found = Vec::new();
    loop {
        let end = bytes.windows(2).position(|pair| pair == b"\r\n").ok_or("a field line does not end")?;
        let (line, rest) = (&bytes[..end], &bytes[end + 2..]);
        if line.is_empty() {
            return Ok(found);
        }
        let colon = line.iter().position(|&byte| byte == b':');
        let colon = colon.ok_or_else(|| format!("a field line without a colon: {}", shown(line)))?;
        let name = String::from_utf8(line[..colon].to_vec()).map_err(|_| format!("not a name: {}", shown(line)))?;
        found.push((name, line[colon + 1..].trim_ascii().to_vec()));
        bytes = rest;
    }
}

fn body(connection: &mut Connection, method: &str, response: &mut Response) -> Result<(), String> {
    if method == "HEAD" || matches!(response.status, 101 | 204 | 304) || (method == "CONNECT" && response.status < 300)
    {
        return Ok(());
    }
    let codings = response.fields_named("transfer-encoding");
    let lengths = response.fields_named("content-length");
    match (codings.as_slice(), lengths.as_slice()) {
        (["chunked"], []) => {
            (response.body, response.trailers) = chunked(connection)?;
        }
        ([], [length]) => {
            let length = length.parse().map_err(|_| format!("not a content-length: {length}"))?;
            while connection.waiting().len() < length {
                if !connection.fill()? {
                    let got = connection.waiting().len();
                    return Err(format!("the body ended after {got} of {length} bytes"));
                }
            }
            response.body = connection.take(length);
        }
        ([], []) => {
            while connection.fill()? {}
            response.body = connection.take(connection.waiting().len());
        }
        _ => return Err(format!("contradictory framing: {}", shown(&response.head))),
    }
    Ok(())
}

type Fields = Vec<(String, Vec<u8>)>;

fn chunked(connection: &mut Connection) -> Result<(Vec<u8>, Fields), String> {
    let mut body = Vec::new();
    loop {
        let line = connection.until(b"\r\n")?;
        let size = str::from_utf8(&line[..line.len() - 2]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let size = size.ok_or_else(|| format!("not a chunk size: {}", shown(&line)))?;
        if size == 0 {
            break;
        }
        while connection.waiting().len() < size + 2 {
            if !connection.fill()? {
                return Err(format!("a chunk ended after {} of {size} bytes", connection.waiting().len()));
            }
        }
        body.extend(connection.take(size));
        connection.expect(b"\r\n")?;
    }
    let mut trailers = Vec::new();
    loop {
        let line = connection.until(b"\r\n")?;
        trailers.extend_from_slice(&line);
        if line == b"\r\n" {
            return Ok((body, fields(&trailers)?));
        }
    }
}
