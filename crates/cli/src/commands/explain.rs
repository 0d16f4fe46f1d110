use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;

use leat_gateway::config::Config;
use leat_gateway::{Explanation, Step};
use leat_h1::{Progress, parse_request};
use leat_message::{Address, Head, Limits, Peer, Profile, Reason, RequestLines, Scheme};

use super::{BAD_CONFIG, check};
use crate::arguments::ExplainArguments;
use crate::event::{say, tell};

/// Says what would act on a request, in its order, and where the file says so. Runs nothing, and connects to nobody.
pub(crate) fn run(arguments: &ExplainArguments) -> ExitCode {
    let Some(config) = check::parse(&arguments.config) else { return ExitCode::from(BAD_CONFIG) };
    let (scheme, host, target) = match split(&arguments.url) {
        Ok(parts) => parts,
        Err(problem) => {
            say(format_args!("{problem}"));
            return ExitCode::from(BAD_CONFIG);
        }
    };
    let request = request(arguments, host, target);
    let mut lines = RequestLines::default();
    let limits =
        Limits { head_bytes_max: request.len().max(config.limits().head_bytes_max), ..config.limits().clone() };
    let parsed = parse_request(request.as_bytes(), &mut Progress::default(), Profile::Compatible, &limits, &mut lines);
    let file = arguments.config.display().to_string();
    match parsed {
        Ok(Some(length)) => {
            let head = Head::new(request.as_bytes().get(..length).unwrap_or_default(), &lines);
            print(&file, &Explanation::of(&config, head, &peer(arguments.from, scheme, &config)));
        }
        // Only with a line break in what was given.
        Ok(None) => tell(format_args!("the request has no end: a header has a line break in it")),
        Err(reason) => refused(reason),
    }
    ExitCode::SUCCESS
}

fn print(file: &str, told: &Explanation) {
    let places: Vec<String> = told.steps.iter().map(|step| place(file, step)).collect();
    let width = places.iter().map(String::len).max().unwrap_or_default();
    let named = told.steps.iter().map(|step| step.what.len()).max().unwrap_or_default();
    for (place, step) in places.iter().zip(&told.steps) {
        tell(format_args!("{place:width$}  {:named$}  {}", step.what, step.how));
    }
    if let Some(reason) = told.refused {
        refused(reason);
    }
}

fn place(file: &str, step: &Step) -> String {
    step.place.map_or(String::new(), |place| format!("{file}:{place}"))
}

fn refused(reason: Reason) {
    tell(format_args!("refused with {} `{}`: {}", reason.status(), reason.code(), reason.text()));
}

fn peer(from: IpAddr, scheme: Scheme, config: &Config) -> Peer {
    // Where it came in decides nothing that is explained.
    let local = config.listeners().first().and_then(|listener| match listener.address() {
        leat_gateway::config::Bind::Tcp(address) => Some(*address),
        _ => None,
    });
    let local = local.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 80)));
    Peer { remote: Address::Ip(SocketAddr::new(from, 0)), local: Address::Ip(local), scheme, tls: None }
}

/// Scheme, host and target of a URL, or of a path alone.
fn split(url: &str) -> Result<(Scheme, Option<&str>, &str), String> {
    let (scheme, rest) = match url.split_once("://") {
        Some(("http", rest)) => (Scheme::Http, rest),
        Some(("https", rest)) => (Scheme::Https, rest),
        None if url.starts_with('/') => return Ok((Scheme::Http, None, url)),
        _ => return Err(format!("`{url}` is neither a URL with http or https nor a path")),
    };
    let (host, target) = rest.find(['/', '?']).map_or((rest, "/"), |at| rest.split_at(at));
    Ok((scheme, Some(host), target))
}

/// The head of the request, as a client would send it.
fn request(arguments: &ExplainArguments, host: Option<&str>, target: &str) -> String {
    let slash = if target.starts_with('/') { "" } else { "/" };
    let is_host = |header: &String| header.to_ascii_lowercase().starts_with("host:");
    let host = match host {
        None if arguments.header.iter().any(is_host) => String::new(),
        host => format!("host: {}\r\n", host.unwrap_or("localhost")),
    };
    let fields: String = arguments.header.iter().map(|header| format!("{header}\r\n")).collect();
    format!("{} {slash}{target} HTTP/1.1\r\n{host}{fields}\r\n", arguments.method)
}
