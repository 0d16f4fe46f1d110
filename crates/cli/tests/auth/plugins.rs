//! What plug-ins see of who a client is.

use leat_testkit::{Folder, Leat};

use crate::support::{get, htpasswd, lines_of, outcome, sha256, upstream};

/// Tells the client what it sees in `x-client`, `x_client` and `authorization`, or the upstream where the client asks for that.
const SEES: &str = "import { middleware } from 'leat/middleware';
export default middleware({ name: 'sees', scope: 'call', onRequest({ request }) {
    const { 'x-client': client, x_client: other, authorization, 'x-pass': pass } = request.headers;
    const seen = JSON.stringify([client, other, authorization].map((value) => value ?? null));
    return pass ? { headers: { 'x-seen': seen, 'x-client': 'forged' } } : { respond: { status: 200, headers: {}, body: seen } };
} });
";

#[test]
fn plugins_see_what_authentication_knows_and_not_what_clients_say() {
    let password = "authorization: Basic YW5uOm9wZW4gc2VzYW1l\r\n";
    let peer = upstream(2);
    let folder = Folder::new();
    folder.write("sees.mjs", SEES);
    folder.write("htpasswd", htpasswd());
    let config = format!(
        "listeners: 127.0.0.1:0
workers: 1
auth:
  programs: {{ api_keys: {{ owner_header: x-client, keys: {{ shop: {} }} }} }}
  staff: {{ hide_credentials: true, basic: {{ file: htpasswd, user_header: x-client }} }}
plugins: {{ sees: sees.mjs }}
routes:
  - {{ auth: [programs, staff], plugins: sees, proxy: \"http://{}\" }}
",
        sha256("k1"),
        peer.address()
    );
    let leat = Leat::gateway_in(folder, &config, 1);
    let mut client = leat.connect();
    let forged = "x-client: root\r\nX_Client: root\r\nX-CLIENT: admin\r\n";
    for fields in [
        format!("{forged}x-api-key: k1\r\n"),
        "x-api-key: k1\r\n".to_owned(),
        // Not known at once, so that the exchange step asks; then remembered.
        format!("{password}{forged}"),
        format!("{password}{forged}"),
    ] {
        let wanted = if fields.contains("k1") { "[\"shop\",null,null]" } else { "[\"ann\",null,null]" };
        let response = get(&mut client, &fields);
        assert_eq!((response.status, response.text()), (200, wanted), "{fields}");
    }
    assert_eq!(outcome(&get(&mut client, forged)), (401, "auth.missing".to_owned()));
    for credential in ["x-api-key: k1\r\n", password] {
        assert_eq!(get(&mut client, &format!("x-pass: 1\r\n{forged}{credential}")).status, 200);
    }
    drop(client);
    let received = peer.finish().concat();
    assert_eq!(lines_of(&received, "x-seen"), ["x-seen: [\"shop\",null,null]", "x-seen: [\"ann\",null,null]"]);
    // Authentication has the last word.
    assert_eq!(lines_of(&received, "x-client"), ["x-client: shop", "x-client: ann"]);
    assert_eq!(lines_of(&received, "x_client"), [""; 0]);
}
