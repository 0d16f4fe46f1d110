use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::app::App;

/// Writes the demo's configuration and the files that it serves.
pub(super) fn write(folder: &Path, listen: SocketAddr, admin: SocketAddr, upstream: SocketAddr) -> io::Result<PathBuf> {
    let public = folder.join("public");
    std::fs::create_dir_all(&public)?;
    std::fs::write(public.join("index.html"), PAGE)?;
    std::fs::write(folder.join("once.mjs"), ONCE)?;
    std::fs::write(folder.join("orders.proto"), PROTO)?;
    std::fs::write(folder.join("orders.yaml"), RULES)?;
    let config = format!(
        "# The demo's configuration. Change it and save: the gateway takes it over without losing a request.
listeners:
  - address: {listen}
admin:
  address: {admin}
auth:
  partners:
    # printf %s mill-key | sha256sum
    api_keys: {{ owner_header: x-partner, keys: {{ mill: d525cacbf0044489b91c7e484c45f791f8f0f332cb5fd122dcad2fc4d2adb938 }} }}
rate_limits:
  per_partner: {{ rate: 1/s, burst: 5, key: user }}
plugins:
  once: {{ file: once.mjs }}
routes:
  - name: hello
    match: {{ path: /hello }}
    respond: {{ status: 200, headers: {{ content-type: text/plain }}, body: \"Hello from Leat\\n\" }}
  - name: old
    match: {{ path: /old }}
    redirect: {{ to: /hello, status: 308 }}
  - name: api
    match: {{ prefix: /api }}
    strip_prefix: /api
    response_headers: {{ set: {{ x-served-by: leat }} }}
    proxy: {{ upstream: demo }}
  - name: partners
    match: {{ prefix: /partners }}
    auth: partners
    rate_limits: per_partner
    plugins: once
    proxy: {{ upstream: demo }}
  - name: orders
    match: {{ prefix: /shop.v1.Orders/ }}
    mock: {{ proto: orders.proto, rules: orders.yaml }}
  - name: site
    match: {{ prefix: / }}
    files: {{ root: public }}
upstreams:
  demo:
    endpoints: [\"http://{upstream}\"]
    breaker: {{}}
    retry: {{}}
"
    );
    let path = folder.join("leat.yaml");
    std::fs::write(&path, config)?;
    Ok(path)
}

/// What a person sees when everything runs.
pub(super) fn introduction(
    addresses: &[String],
    admin: SocketAddr,
    upstream: SocketAddr,
    config: &Path,
    apps: &str,
) -> String {
    let gateway = addresses.first().map_or("127.0.0.1:8080", String::as_str);
    format!(
        "
Leat demo: a gateway on {gateway} in front of an upstream on {upstream}

  curl -i http://{gateway}/hello                      a fixed reply
  curl -i 'http://{gateway}/api/any/path?q=1'         through the gateway to the upstream, and what it saw
  curl -i http://{gateway}/api/echo -d 'some bytes'   a body there and back
  curl -N http://{gateway}/api/events                 server-sent events, as they come
  curl -iL http://{gateway}/old                       a redirect
  curl -i --http2-prior-knowledge http://{gateway}/hello   the same over HTTP/2
  open  http://{gateway}/                             a file, in a browser
  curl -i http://{gateway}/partners                   401: only with a key
  curl -i http://{gateway}/partners -H 'x-api-key: mill-key'        let in, and told to the upstream; five at once, then 429
  curl -i http://{gateway}/partners -H 'x-api-key: mill-key' -d 1   400, by a plug-in in JavaScript: once.mjs beside the configuration
  curl http://{gateway}/shop.v1.Orders/Get --json '{{\"id\":\"7\"}}'   a mock: rules answer gRPC, gRPC-Web and Connect (orders.yaml)
  curl http://{admin}/mock/calls                      what it was asked
  curl http://{admin}/metrics                         what the gateway counts
  curl http://{admin}/upstreams                       breakers and retries, as they stand

The configuration is {}; change it and watch.
{apps}
Ctrl-C ends the demo.
",
        config.display()
    )
}

/// What there is to try on the Node.js apps, or one line that says why there are none.
pub(super) fn about_apps(apps: &Result<(App, App), String>, config: &Path) -> String {
    match apps {
        Ok((App { base: notes, package, .. }, App { base: links, .. })) => format!(
            "
A Node.js app with leat/http on {notes} (examples/node-http, with the package {})

  curl -i {notes}/notes -d '{{\"text\":\"milk\"}}'   a note is made: JSON in and out
  curl -i {notes}/notes                      all notes
  curl -iT {} {notes}/files/demo.yaml   an upload, streamed to a file
  curl -N {notes}/events                     an event for every note, as they come
  curl {notes}/metrics                       what the engine counts, and the pauses of the garbage collector

An Express app with leat/express on {links} (examples/express)

  curl -i {links}/api/links --json '{{\"name\":\"mill\",\"to\":\"https://example.com/\"}}'   a link is made
  curl -i {links}/mill                       where it leads
  curl -i {links}/api/links                  how often it was followed
  open  {links}/                             the same, in a browser
",
            package.display(),
            config.display()
        ),
        Err(why) => format!("No Node.js app: {why}"),
    }
}

/// What there is to try on the shop, which makes calls of its own.
pub(super) fn about_shop(app: &Result<App, String>) -> String {
    match app {
        Ok(App { base, .. }) => format!(
            "
A shop whose calls to its depot go through leat/transport, on {base} (examples/transport)

  curl -i {base}/items/flour                 asked at the depot, with a token and retries
  curl -i {base}/order/bran                  an order there: a POST, which only a busy depot is sent again
  curl -i {base}/stats                       how many calls, tries and tokens that took
"
        ),
        Err(why) => format!("\nNo shop on leat/transport: {why}\n"),
    }
}

/// What there is to try on the app without Node.js.
pub(super) fn about_notices(app: &Result<App, String>) -> String {
    match app {
        Ok(App { base, .. }) => format!(
            "
An Express app in TypeScript without Node.js, by `leat run`, on {base} (examples/embedded)

  curl -i {base}/notices --json '{{\"text\":\"the mill is open\"}}'   a notice is put up
  curl -i {base}/notices                     all notices
"
        ),
        Err(why) => format!("\nNo app by `leat run`: {why}\n"),
    }
}

/// Answers orders that have no number of the client's own.
const ONCE: &str = include_str!("../../../../../examples/gateway/plugins/once.mjs");

/// The schema and the rules of the mock.
const PROTO: &str = include_str!("../../../../../examples/mock/protos/shop/v1/orders.proto");
const RULES: &str = include_str!("../../../../../examples/mock/rules/orders.yaml");

const PAGE: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>Leat</title>
<style>body { font: 1.1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }</style>
<h1>Leat</h1>
<p>This page is a file that the gateway serves. Below is what the upstream says of a request that went through it:</p>
<pre id=\"reply\">…</pre>
<script>
fetch('/api/hello')
  .then((reply) => reply.json())
  .then((seen) => { document.getElementById('reply').textContent = JSON.stringify(seen, null, 2) })
</script>
</html>
";
