use leat_message::{Head, Method, Name, Reason};

use super::mock_call::MockCall;

/// Steps of a path, at most: more than any has.
const STEPS_MAX: usize = 6;
/// The longest query, in bytes: a key of a rate limit stands in one.
const QUERY_BYTES_MAX: usize = 8 * 1024;

/// What can be asked on the admin address: method, path, and one line on it. The reference page has the same.
pub(super) const CALLS: &[(&str, &str, &str)] = &[
    ("GET", "/", "This list."),
    ("GET", "/healthz", "200 for as long as the process answers."),
    ("GET", "/readyz", "200 where it may be sent traffic, else 503: it starts, or drains."),
    ("GET", "/metrics", "Counters in the Prometheus text format."),
    ("GET", "/info", "Version, uptime, addresses, reloads, connections, and each core's answer."),
    ("GET", "/routes", "Routes: place in the file, match, action, policies, counters. `?from=N`"),
    (
        "GET",
        "/upstreams",
        "Upstreams: endpoints, health, failures, breakers and their windows, requests under way. `?from=N`",
    ),
    ("GET", "/upstreams/NAME", "One of them."),
    ("GET", "/limits", "Rate limits: law, store, keys in use, evictions, leases and their error. `?from=N`"),
    (
        "GET",
        "/limits/NAME",
        "One of them; with `?key=TEXT` (once for each part of its key), what is left for that key.",
    ),
    ("GET", "/plugins", "Plug-ins, and the state of their world on each core."),
    (
        "GET",
        "/config",
        "The live configuration, each value with its line, secrets masked. `?path=routes[0]`, `?format=yaml`",
    ),
    (
        "GET",
        "/mock",
        "A mock: services, how many rules and calls, what the journal holds. Where there are several, `?mock=ROUTE` names one, here and below.",
    ),
    (
        "GET",
        "/mock/calls",
        "Its calls. `?method=`, `?rule=`, `?session=`, `?code=`, `?unmatched=true`, `?under_way=true`, `?metadata.NAME=`, `?from=N`",
    ),
    ("GET", "/mock/calls/N", "One of them with every message, both ways."),
    ("GET", "/mock/rules", "Its rules, with their places and counts. `?from=N`"),
    ("GET", "/mock/sessions", "Its sessions: states of scenarios, counts of rules."),
    (
        "POST",
        "/mock/verify",
        "Takes what is expected of the calls; 200 where they came so, else 417, with what was seen. No token is needed.",
    ),
    ("POST", "/mock/reset", "Forgets calls and states: all, or `{\"what\": [\"calls\"], \"session\": \"a\"}`."),
    (
        "POST",
        "/mock/scenario",
        "Sets the state of a scenario: `{\"scenario\": \"order\", \"state\": \"placed\"}`, with `session` in one of them.",
    ),
    (
        "POST",
        "/mock/rules/NAME",
        "Takes a file of rules: they are added under this name, or replace those that were. Not written to disk.",
    ),
    ("POST", "/mock/rules/NAME/remove", "Removes rules that were added under this name."),
    (
        "POST",
        "/reload",
        "Reads the configuration again; answers with what changed, or with every mistake and its place.",
    ),
    ("POST", "/upstreams/NAME/endpoints/ADDRESS/drain", "The endpoint gets no new requests; those under way go on."),
    ("POST", "/upstreams/NAME/endpoints/ADDRESS/undrain", "It gets requests again."),
    ("POST", "/upstreams/NAME/breaker/reset", "Its breakers admit again, as at the start."),
    ("POST", "/log-level", "Takes `{\"level\": \"info\"}`, `warn` or `error`."),
];

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::process) enum Call {
    Read(Read),
    Write(Write),
    Mock(MockCall),
}

/// Looking at something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::process) enum Read {
    Index,
    Healthy,
    Ready,
    Metrics {
        /// As OpenMetrics.
        is_open: bool,
    },
    Info,
    Routes {
        from: usize,
    },
    Upstreams {
        from: usize,
    },
    Upstream {
        name: String,
    },
    Limits {
        from: usize,
    },
    Limit {
        name: String,
        key: Vec<String>,
    },
    Plugins,
    Config {
        path: String,
        yaml: bool,
    },
}

/// Changing something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::process) enum Write {
    Reload,
    Drain { upstream: String, endpoint: String, drain: bool },
    ResetBreakers { upstream: String },
    LogLevel,
}

impl Read {
    /// Whether every host name will do: what probes and scrapers ask for by names that the configuration does not know.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Healthy | Self::Ready | Self::Metrics { .. })
    }
}

impl Call {
    /// What the head of a request asks for.
    ///
    /// # Errors
    /// `AdminUnknown`, `AdminMethod`, and `AdminRequest` for a query that does not fit.
    pub(super) fn of(head: Head<'_>) -> Result<Self, Reason> {
        let is_read = matches!(head.method(), Method::Get | Method::Head);
        let steps = steps(head).ok_or(Reason::AdminUnknown)?;
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        if let Some(write) = Write::of(&steps) {
            // None of them takes a query.
            return match head.method() == Method::Post {
                false => Err(Reason::AdminMethod),
                true if head.query().is_some_and(|query| !query.is_empty()) => Err(Reason::AdminRequest),
                true => Ok(Self::Write(write)),
            };
        }
        let mut query = Query::of(head.query().unwrap_or_default())?;
        if let Some(call) = MockCall::of(&steps, &mut query)? {
            // A name of rules is written by POST, and not looked at.
            let is_right = if call.ask.has_body() { head.method() == Method::Post } else { is_read };
            return if is_right { Ok(Self::Mock(call)) } else { Err(Reason::AdminMethod) };
        }
        let read = Read::of(&steps, query)?.ok_or(Reason::AdminUnknown)?;
        let read = match read {
            Read::Metrics { .. } => Read::Metrics { is_open: takes_open_metrics(head) },
            other => other,
        };
        if is_read { Ok(Self::Read(read)) } else { Err(Reason::AdminMethod) }
    }
}

/// The steps of a path; `None` where it can't be one of the API's.
fn steps(head: Head<'_>) -> Option<Vec<String>> {
    let path = head.path().strip_prefix(b"/")?;
    path.split(|&byte| byte == b'/').take(STEPS_MAX + 1).map(decoded).collect()
}

/// The methods of a path of the API.
pub(super) fn allowed(head: Head<'_>) -> &'static str {
    let steps = steps(head).unwrap_or_default();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let is_posted = Write::of(&steps).is_some()
        || Query::of(head.query().unwrap_or_default())
            .and_then(|mut query| MockCall::of(&steps, &mut query))
            .is_ok_and(|call| call.is_some_and(|call| call.ask.has_body()));
    if is_posted { "POST" } else { "GET, HEAD" }
}

/// Whether a client would rather have OpenMetrics than plain text (RFC 9110 section 12.5.1), in thousandths: it names the type,
/// and likes no other form of text better.
fn takes_open_metrics(request: Head<'_>) -> bool {
    let (mut open, mut plain) = (0, (0, 0));
    for range in request.fields().get_all(Name::Accept).flat_map(|value| value.split(|&byte| byte == b',')) {
        let mut parts = range.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(weight).unwrap_or(WEIGHT_MAX);
        match kind.as_slice() {
            b"application/openmetrics-text" => open = open.max(weight),
            // The most exact range counts.
            b"text/plain" => plain = plain.max((3, weight)),
            b"text/*" => plain = plain.max((2, weight)),
            b"*/*" => plain = plain.max((1, weight)),
            _ => {}
        }
    }
    open > 0 && open >= plain.1
}

/// The weight of what says nothing of it.
const WEIGHT_MAX: u16 = 1_000;

/// `q=0.5` in thousandths; what is no weight counts for nothing.
fn weight(part: &[u8]) -> Option<u16> {
    let text = str::from_utf8(part).ok()?;
    let (name, value) = text.split_once('=')?;
    if !name.trim_end().eq_ignore_ascii_case("q") {
        return None;
    }
    let (whole, decimals) = value.trim_start().split_once('.').unwrap_or((value.trim_start(), ""));
    let thousandths = format!("{decimals:0<3}").get(..3).and_then(|digits| digits.parse::<u16>().ok());
    let all = whole.parse::<u16>().ok().and_then(|whole| whole.checked_mul(WEIGHT_MAX)?.checked_add(thousandths?));
    Some(all.map_or(0, |all| all.min(WEIGHT_MAX)))
}

impl Call {
    /// Whether it only looks, and has no body.
    pub(super) fn reads(&self) -> bool {
        match self {
            Self::Read(_) => true,
            Self::Write(_) => false,
            Self::Mock(call) => !call.ask.has_body(),
        }
    }

    /// Whether it changes something.
    pub(super) fn writes(&self) -> bool {
        match self {
            Self::Read(_) => false,
            Self::Write(_) => true,
            Self::Mock(call) => call.ask.writes(),
        }
    }
}

impl Read {
    fn of(steps: &[&str], mut query: Query) -> Result<Option<Self>, Reason> {
        let read = match steps {
            [""] => Self::Index,
            ["healthz"] => Self::Healthy,
            ["readyz"] => Self::Ready,
            ["metrics"] => Self::Metrics { is_open: false },
            ["info"] => Self::Info,
            ["plugins"] => Self::Plugins,
            ["routes"] => Self::Routes { from: query.from()? },
            ["upstreams"] => Self::Upstreams { from: query.from()? },
            ["upstreams", name] => Self::Upstream { name: (*name).to_owned() },
            ["limits"] => Self::Limits { from: query.from()? },
            ["limits", name] => Self::Limit { name: (*name).to_owned(), key: query.take("key") },
            ["config"] => {
                let path = query.one("path")?.unwrap_or_default();
                let yaml = match query.one("format")?.as_deref() {
                    None | Some("json") => false,
                    Some("yaml") => true,
                    Some(_) => return Err(Reason::AdminRequest),
                };
                Self::Config { path, yaml }
            }
            _ => return Ok(None),
        };
        // Probes and scrapers may say what they like.
        if read.is_open() || query.is_empty() { Ok(Some(read)) } else { Err(Reason::AdminRequest) }
    }
}

impl Write {
    fn of(steps: &[&str]) -> Option<Self> {
        let named = |upstream: &str, endpoint: &str, drain| {
            Some(Self::Drain { upstream: upstream.to_owned(), endpoint: endpoint.to_owned(), drain })
        };
        match steps {
            ["reload"] => Some(Self::Reload),
            ["log-level"] => Some(Self::LogLevel),
            ["upstreams", upstream, "endpoints", endpoint, "drain"] => named(upstream, endpoint, true),
            ["upstreams", upstream, "endpoints", endpoint, "undrain"] => named(upstream, endpoint, false),
            ["upstreams", upstream, "breaker", "reset"] => {
                Some(Self::ResetBreakers { upstream: (*upstream).to_owned() })
            }
            _ => None,
        }
    }
}

/// The parameters of a query that nobody has asked for yet.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    fn of(query: &[u8]) -> Result<Self, Reason> {
        if query.len() > QUERY_BYTES_MAX {
            return Err(Reason::AdminRequest);
        }
        let pairs = query.split(|&byte| byte == b'&').filter(|pair| !pair.is_empty()).map(|pair| {
            let at = pair.iter().position(|&byte| byte == b'=');
            let (name, value) = pair.split_at(at.unwrap_or(pair.len()));
            let spaced = |text: &[u8]| text.iter().map(|&b| if b == b'+' { b' ' } else { b }).collect::<Vec<u8>>();
            Some((decoded(&spaced(name))?, decoded(&spaced(value.get(1..).unwrap_or_default()))?))
        });
        Ok(Self(pairs.collect::<Option<_>>().ok_or(Reason::AdminRequest)?))
    }

    /// All that nobody has asked for.
    pub(super) fn rest(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.0)
    }

    fn take(&mut self, name: &str) -> Vec<String> {
        let (taken, left) = std::mem::take(&mut self.0).into_iter().partition(|(own, _)| own == name);
        self.0 = left;
        let taken: Vec<(String, String)> = taken;
        taken.into_iter().map(|(_, value)| value).collect()
    }

    pub(super) fn one(&mut self, name: &str) -> Result<Option<String>, Reason> {
        let mut values = self.take(name);
        if values.len() > 1 { Err(Reason::AdminRequest) } else { Ok(values.pop()) }
    }

    pub(super) fn from(&mut self) -> Result<usize, Reason> {
        self.one("from")?.map_or(Ok(0), |text| text.parse().map_err(|_| Reason::AdminRequest))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Text with its `%XX` filled in; `None` where it is no text, or half an escape.
fn decoded(text: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let (digits, behind) = rest.split_at_checked(2)?;
        let digits = digits.iter().map(|digit| char::from(*digit).to_digit(16)).collect::<Option<Vec<u32>>>()?;
        out.push(u8::try_from(digits.iter().fold(0, |number, digit| number * 16 + digit)).ok()?);
        rest = behind;
    }
    String::from_utf8(out).ok()
}
