use leat_testkit::{Client, Folder, Leat, Peer, Response, Script};

/// A user `ann` with the password `open sesame`, as `htpasswd -B` writes it.
pub(crate) fn htpasswd() -> String {
    let parts = bcrypt::hash_with_result("open sesame", 8).unwrap();
    format!("ann:{}\n", parts.format_for_version(bcrypt::Version::TwoY))
}

/// The SHA-256 of an API key, as `sha256sum` writes it.
pub(crate) fn sha256(key: &str) -> String {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, key.as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A gateway whose route `/` asks for `route` and answers `in`.
pub(crate) fn gateway(folder: Folder, auth: &str, route: &str) -> Leat {
    let config = format!(
        "listeners: 127.0.0.1:0\nworkers: 1\nauth:\n{auth}\nroutes:\n  - {{ name: r, auth: {route}, respond: {{ body: in }} }}\n"
    );
    Leat::gateway_in(folder, &config, 1)
}

/// The same in front of an upstream.
pub(crate) fn proxy(folder: Folder, auth: &str, route: &str, peer: &Peer) -> Leat {
    let config = format!(
        "listeners: 127.0.0.1:0\nworkers: 1\nauth:\n{auth}\nroutes:\n  - {{ auth: {route}, proxy: \"http://{}\" }}\n",
        peer.address()
    );
    Leat::gateway_in(folder, &config, 1)
}

/// An upstream that answers `times` requests on one connection.
pub(crate) fn upstream(times: usize) -> Peer {
    let reply = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    Peer::listen([(0..times).fold(Script::new(), |script, _| script.expect_head().send(reply))])
}

/// Sends a GET with these field lines, each ended by CRLF.
pub(crate) fn get(client: &mut Client, fields: &str) -> Response {
    client.send(format!("GET / HTTP/1.1\r\nhost: h\r\n{fields}\r\n")).response()
}

/// The status and the reason code of an answer; an empty code for none.
pub(crate) fn outcome(response: &Response) -> (u16, String) {
    let code = response.text().split("\"code\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    (response.status, code.to_owned())
}

/// Field lines of a head that begin with this name, in lower case.
pub(crate) fn lines_of(head: &[u8], name: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(head).into_owned();
    let start = format!("{name}:");
    text.split("\r\n").filter(|line| line.to_ascii_lowercase().starts_with(&start)).map(str::to_owned).collect()
}
