use super::file;
use super::respond::to_json;
use super::route::upstream_or_route_name;
use crate::config::plugin::{OnPluginError, Plugin, PluginLimits, Plugins};
use crate::config::problem::Place;
use crate::config::table::{Key, Kind, Open, Section, nearest, quoted, shorten};

/// Plug-ins of one configuration.
const PLUGINS_MAX: usize = 100;
/// Plug-ins of one route.
const OF_ROUTE_MAX: usize = 32;

const ON_ERROR: &[(&str, &str)] = &[
    ("refuse", "the request is answered with 500 and the reason `plugin.failed`"),
    ("bypass", "the request goes on as if the hook had returned nothing"),
];

const LONG_BODIES: &[(&str, &str)] = &[
    (
        "refuse",
        "413 for a request, with the reason `plugin.request_body`; 502 for a response, with `plugin.response_body`",
    ),
    ("pass", "it passes as it is, and the hooks are called without it"),
];

pub(super) static PLUGIN: Section = Section::new(
    "plugin",
    "a plug-in",
    "JavaScript that sees the requests of routes that name it, and their responses: middleware as `leat/middleware` makes them. It runs on every core, without Node.",
    &[
        Key::required(
            "file",
            Kind::Text { what: "a file", example: "plugins/tenant.mjs" },
            "A `.js`, `.mjs`, `.cjs` or `.ts` file that exports middleware, one or a list, or a function that makes them.",
        )
        .aka(&["path", "script", "module"]),
        Key::optional("options", Kind::Json, "What the file's function gets.").aka(&["config", "settings"]),
        Key::default(
            "on_error",
            Kind::Choice(ON_ERROR),
            "refuse",
            "What becomes of a request when a hook throws. What no single plug-in can be blamed for (a loop, memory) is `bypass` only where all plug-ins of the route are.",
        ),
    ],
)
.shorthand("file");

pub(super) static PLUGIN_LIMITS: Section = Section::new(
    "plugin_limits",
    "the `plugin_limits` section",
    "What all plug-ins together may use on one core.",
    &[
        Key::default(
            "turn_time",
            Kind::Time { min_ms: 1, max_ms: 10_000, off: false },
            "100ms",
            "How long plug-ins may run at once; 503 after it. Nobody else on the core is answered meanwhile.",
        )
        .aka(&["time", "timeout"]),
        Key::default(
            "wait_time",
            Kind::Time { min_ms: 1, max_ms: 600_000, off: false },
            "10s",
            "How long a plug-in may wait, for a `fetch` say; 504 after it.",
        ),
        Key::default(
            "memory",
            Kind::Size { min: 4 << 20, max: 4 << 30 },
            "64MB",
            "The heap of their world, which is made anew above it.",
        )
        .aka(&["memory_bytes", "heap"]),
        Key::default(
            "body_bytes_max",
            Kind::Size { min: 1, max: 8 << 20 },
            "64KiB",
            "The longest body that a plug-in is given, of those that declare `bodies`; as long as any that is held in memory here. Bodies that are read take a quarter of `memory` together at most; 503 above.",
        )
        .aka(&["body_size", "body_max"]),
        Key::default(
            "long_bodies",
            Kind::Choice(LONG_BODIES),
            "refuse",
            "What becomes of a longer body that a plug-in reads.",
        ),
    ],
);

/// The plug-ins while the routes are read.
pub(super) struct PluginSets {
    list: Vec<(Plugin, bool)>,
    sets: Vec<Vec<usize>>,
    limits: Option<PluginLimits>,
}

impl PluginSets {
    pub(super) fn read(open: &Open<'_>) -> Self {
        let mut list = Vec::new();
        for (pair, section) in open.section_pairs("plugins") {
            if upstream_or_route_name(&pair.key).is_none() {
                open.reader.problem_help(
                    pair.place,
                    format!("the plug-in name `{}` is not letters, digits, `-`, `_` and `.`", shorten(&pair.key)),
                    "write for example `tenant:`",
                );
            }
            if let Some(plugin) = read_plugin(&section, &pair.key, pair.place) {
                list.push((plugin, false));
            }
        }
        if list.len() > PLUGINS_MAX
            && let Some(place) = open.place_of("plugins")
        {
            open.reader.problem_help(place, format!("more than {PLUGINS_MAX} plug-ins"), "put several into one file");
        }
        Self { list, sets: Vec::new(), limits: read_limits(&open.section("plugin_limits")) }
    }

    /// The number of the set that a route names; `None` if it names none.
    pub(super) fn of_route(&mut self, open: &Open<'_>) -> Option<usize> {
        let mut set = Vec::new();
        for text in open.texts("plugins") {
            let Some(at) = self.list.iter().position(|(plugin, _)| plugin.name == text.value) else {
                let names = || self.list.iter().map(|(plugin, _)| plugin.name.as_str());
                let help = match nearest(text.value, names()) {
                    Some(name) => format!("write `{name}`"),
                    None if names().next().is_none() => {
                        format!("add `plugins: {{ {}: plugins/{0}.mjs }}` to the file", text.value)
                    }
                    None => format!("known are {}", quoted(names())),
                };
                open.reader.problem_help(text.place, format!("unknown plug-in `{}`", text.value), help);
                continue;
            };
            if set.contains(&at) {
                open.reader.problem_help(
                    text.place,
                    format!("the plug-in `{}` stands twice", text.value),
                    "name it once",
                );
            }
            set.push(at);
        }
        if set.len() > OF_ROUTE_MAX {
            let place = open.place_of("plugins").unwrap_or(open.place());
            open.reader.problem_help(place, format!("more than {OF_ROUTE_MAX} plug-ins in one route"), "name fewer");
        }
        if set.is_empty() {
            return None;
        }
        for at in &set {
            if let Some((_, used)) = self.list.get_mut(*at) {
                *used = true;
            }
        }
        let known = self.sets.iter().position(|known| *known == set);
        Some(known.unwrap_or_else(|| {
            self.sets.push(set);
            self.sets.len() - 1
        }))
    }

    /// Whether no route has plug-ins.
    pub(super) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    pub(super) fn warn_unused(&self, open: &Open<'_>) {
        for (plugin, _) in self.list.iter().filter(|(_, used)| !used) {
            open.reader.warn(
                plugin.place,
                format!("no route uses the plug-in `{}`", plugin.name),
                format!("remove it, or write `plugins: {}` in a route", plugin.name),
            );
        }
    }

    pub(super) fn finish(self) -> Option<Plugins> {
        let list = self.list.into_iter().map(|(plugin, _)| plugin).collect();
        Some(Plugins { list, sets: self.sets, limits: self.limits? })
    }
}

fn read_plugin(open: &Open<'_>, name: &str, place: Place) -> Option<Plugin> {
    let file = open.text("file").and_then(|text| file::script(open.reader, text));
    let options = open.json("options").map(|node| to_json(node).to_string());
    let on_error = open.choice("on_error", &[("refuse", OnPluginError::Refuse), ("bypass", OnPluginError::Bypass)]);
    Some(Plugin { name: name.to_owned(), file: file?, options, on_error: on_error?, place })
}

fn read_limits(open: &Open<'_>) -> Option<PluginLimits> {
    let turn_time_ms = open.time("turn_time");
    let wait_time_ms = open.time("wait_time");
    let memory_bytes = open.size("memory");
    let body_bytes_max = usize::try_from(open.size("body_bytes_max")).unwrap_or(usize::MAX);
    let long_bodies = open.choice("long_bodies", &[("refuse", false), ("pass", true)]);
    Some(PluginLimits {
        turn_time_ms: turn_time_ms?,
        wait_time_ms: wait_time_ms?,
        memory_bytes,
        body_bytes_max,
        long_bodies_pass: long_bodies?,
    })
}
