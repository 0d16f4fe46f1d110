use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use leat_config::Problem;
use leat_config::table::{Open, Reader};
use leat_config::yaml::{self, Bounds, Node, Value};
use leat_schema::{Method, Schema};

use super::condition::Condition;
use super::index::Index;
use super::read::{self, Read};
use super::rule::{Info, Reach, Rule};
use super::shadow;
use super::slots::Slots;
use super::{FILE_BYTES_MAX, RULES_MAX, Replies, table};

/// All rules of a mock, ready to choose from. Immutable: a reload makes a new one.
#[derive(Debug)]
pub struct Set<R> {
    /// By the number of the method.
    methods: Vec<Option<MethodRules<R>>>,
    infos: Vec<Arc<Info>>,
    /// Names of metadata whose values no message shows, beside those that sound secret.
    redact: Box<[String]>,
}

/// The rules of one method.
#[derive(Debug)]
pub(super) struct MethodRules<R> {
    pub(super) slots: Slots,
    /// In the order in which they are asked.
    pub(super) rules: Vec<Rule<R>>,
    pub(super) index: Index,
}

/// What loading brought.
#[derive(Debug)]
pub struct Loaded<R> {
    /// The rules; `None` if something is wrong with one of them.
    pub set: Option<Set<R>>,
    /// What is wrong, in the order of the files.
    pub problems: Vec<Problem>,
    /// What is doubtful.
    pub warnings: Vec<Problem>,
}

impl<R> Set<R> {
    /// Reads rules from files, each given as its name and its text. All files are read, whatever is wrong with one.
    ///
    /// The time is linear in the text, and the memory in the rules.
    pub fn load(files: &[(&str, &str)], schema: &Arc<Schema>, replies: &mut dyn Replies<Reply = R>) -> Loaded<R> {
        let mut loader = Loader {
            schema,
            replies,
            methods: schema.methods().iter().map(|_| None).collect(),
            infos: Vec::new(),
            names: HashMap::new(),
        };
        let (mut problems, mut warnings) = (Vec::new(), Vec::new());
        for (name, text) in files {
            let reader = Reader::new(name, Path::new(""));
            loader.file(name, text, &reader);
            let (found, doubtful) = reader.finish();
            problems.extend(once(found));
            warnings.extend(once(doubtful));
        }
        let Loader { methods, infos, .. } = loader;
        let set = problems.is_empty().then(|| {
            let methods = methods.into_iter().map(|method| method.map(MethodRules::from)).collect();
            Self { methods, infos, redact: Box::default() }
        });
        if let Some(set) = &set {
            let rules = set.methods.iter().zip(schema.methods());
            let rules = rules.filter_map(|(rules, method)| Some((rules.as_ref()?, method)));
            warnings.extend(shadow::find(rules));
        }
        Loaded { set, problems, warnings }
    }

    /// The same rules, which show no value of metadata with these names (in lower case), nor of those that sound secret.
    #[must_use]
    pub fn redacted(self, names: &[String]) -> Self {
        Self { redact: names.into(), ..self }
    }

    pub(super) fn redact(&self) -> &[String] {
        &self.redact
    }

    /// The rules in the order of the files.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Info> {
        self.infos.iter().map(|info| &**info)
    }

    /// The rules of a method, in the order in which they are asked.
    pub fn rules_of(&self, method: &Method) -> &[Rule<R>] {
        self.of(method).map_or(&[], |rules| &rules.rules)
    }

    pub(super) fn of(&self, method: &Method) -> Option<&MethodRules<R>> {
        self.methods.get(method.id())?.as_ref()
    }
}

/// Each once: a rule for many methods is compiled for each of them.
fn once(problems: Vec<Problem>) -> impl Iterator<Item = Problem> {
    let mut seen = HashSet::new();
    problems.into_iter().filter(move |problem| seen.insert((problem.place, problem.message.clone())))
}

/// The rules of one method, not yet in order.
struct Building<R> {
    slots: Slots,
    rules: Vec<Rule<R>>,
}

impl<R> From<Building<R>> for MethodRules<R> {
    fn from(building: Building<R>) -> Self {
        let Building { mut slots, mut rules } = building;
        slots.finish();
        rules.sort_by_cached_key(Rule::rank);
        let index = Index::new(&rules);
        Self { slots, rules, index }
    }
}

struct Loader<'l, R> {
    schema: &'l Arc<Schema>,
    replies: &'l mut dyn Replies<Reply = R>,
    methods: Vec<Option<Building<R>>>,
    infos: Vec<Arc<Info>>,
    /// Where each name stands first.
    names: HashMap<Arc<str>, String>,
}

impl<R> Loader<'_, R> {
    fn file(&mut self, name: &str, text: &str, reader: &Reader) {
        if text.len() > FILE_BYTES_MAX {
            let help = Some("spread the rules over several files".to_owned());
            return reader.problem_of_file(format!("more than {} MiB", FILE_BYTES_MAX >> 20), help);
        }
        // A value takes a byte at least, so that only aliases can pass the bound.
        let bounds = Bounds { nodes_max: Bounds::CONFIGURATION.nodes_max.max(text.len()), depth_max: 64 };
        let Some(root) = yaml::read_within(text, reader, bounds) else { return };
        let file: Arc<str> = name.into();
        match &root.value {
            Value::Map(pairs) if pairs.iter().any(|pair| pair.key == "rules") || pairs.is_empty() => {
                let open = Open::new(reader, &table::FILE, &root);
                let opened = open.sections("rules");
                self.rules(&file, opened, reader);
            }
            Value::List(items) => {
                let opened = items.iter().map(|node| Open::new(reader, &table::RULE, node)).collect();
                self.rules(&file, opened, reader);
            }
            Value::Map(_) => self.rules(&file, vec![Open::new(reader, &table::RULE, &root)], reader),
            _ => self.nothing(&root, reader),
        }
    }

    fn nothing(&self, root: &Node, reader: &Reader) {
        let message = match root.value {
            Value::Null => "the file has no rules".to_owned(),
            _ => format!("expected rules, found {}", leat_config::table::show(root)),
        };
        reader.problem_help(
            root.place,
            message,
            "write `rules:` and a list of rules; each has a `method` and a `reply`",
        );
    }

    fn rules(&mut self, file: &Arc<str>, opened: Vec<Open<'_>>, reader: &Reader) {
        for (at, open) in opened.into_iter().enumerate() {
            let Read { info, methods } = read::rule(&open, file, at + 1, self.infos.len(), self.schema);
            if self.infos.len() >= RULES_MAX {
                reader.problem_help(open.place(), format!("more than {RULES_MAX} rules"), "split the mock");
                read::forget(&open);
                return;
            }
            self.unique(&info, &open, reader);
            let info = Arc::new(info);
            self.infos.push(Arc::clone(&info));
            let reach = Reach::of(&info.method);
            // A mistake in a rule for many methods is the same in each.
            for method in &methods {
                if self.method(method, &info, reach, &open).is_none() || reader.has_problems() {
                    break;
                }
            }
            if methods.is_empty() {
                read::forget(&open);
            }
        }
    }

    fn method(&mut self, method: &Method, info: &Arc<Info>, reach: Reach, open: &Open<'_>) -> Option<()> {
        let building = self.methods.get_mut(method.id())?;
        let building =
            building.get_or_insert_with(|| Building { slots: Slots::new(method.input().clone()), rules: Vec::new() });
        let conditions = read::conditions(open, method, self.schema, &mut building.slots);
        let reply = self.replies.compile(info, open, method);
        let (conditions, reply) = (conditions?, reply?);
        let uses_calls = conditions.iter().any(Condition::uses_calls);
        building.rules.push(Rule { info: Arc::clone(info), reach, conditions, uses_calls, reply });
        Some(())
    }

    fn unique(&mut self, info: &Info, open: &Open<'_>, reader: &Reader) {
        let place = format!("{}:{}", info.file, info.place);
        if let Some(first) = self.names.get(&info.name) {
            let at = open.place_of("name").unwrap_or(info.place);
            let help = format!("it stands first at {first}; give this one another name");
            reader.problem_help(at, format!("two rules are called `{}`", info.name), help);
        } else {
            self.names.insert(Arc::clone(&info.name), place);
        }
    }
}
