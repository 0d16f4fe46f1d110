//! From the parser's tree to a program: names become slots, fields numbers, and what no message could make right is refused.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, SourceInfo, StructExpr, operators,
};
use cel::parser::Parser;

use super::function::Function;
use super::node::{Constant, Loop, Node};
use super::overload::{self, Unresolved};
use super::{Declarations, Pattern, Problem, Type};

/// The deepest nesting of operations: an evaluation recurses as deep.
const DEPTH_MAX: usize = 100;

/// A node and the type that it yields.
pub(super) type Typed = (Node, Type);

/// The state of one compilation.
pub(super) struct Compiler<'d> {
    names: &'d Declarations,
    info: SourceInfo,
    /// Variables of the macros around the node at hand, outermost first.
    locals: Vec<(String, Type)>,
    used: Vec<String>,
    depth: usize,
}

impl<'d> Compiler<'d> {
    /// Parses and checks: the root, its type, the variables that it names.
    pub(super) fn run(source: &str, names: &'d Declarations) -> Result<(Node, Type, Vec<String>), Problem> {
        let (tree, info) =
            Parser::new().enable_ident_escape_syntax(true).parse_with_source_info(source).map_err(|errors| {
                let first = errors.errors.first();
                let (line, column) = first.map_or((1, 1), |error| error.pos);
                let message = first.map_or_else(|| "this is no expression".to_owned(), |error| error.msg.clone());
                Problem {
                    line: usize::try_from(line).unwrap_or(1).max(1),
                    column: usize::try_from(column).unwrap_or(1).max(1),
                    message,
                }
            })?;
        let mut compiler = Compiler { names, info, locals: Vec::new(), used: Vec::new(), depth: 0 };
        let (root, kind) = compiler.node(&tree)?;
        Ok((root, kind, compiler.used))
    }

    /// A mistake at `id`.
    pub(super) fn problem(&self, id: u64, message: impl Into<String>) -> Problem {
        let offset = self.info.offset_for(id).map_or(0, |(start, _)| start);
        let before = self.info.source.chars().take(usize::try_from(offset).unwrap_or_default());
        let (mut line, mut column) = (1, 1);
        for each in before {
            (line, column) = if each == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        Problem { line, column, message: message.into() }
    }

    pub(super) fn node(&mut self, tree: &IdedExpr) -> Result<Typed, Problem> {
        if self.depth >= DEPTH_MAX {
            return Err(self.problem(tree.id, format!("the expression nests deeper than {DEPTH_MAX} operations")));
        }
        self.depth += 1;
        let result = self.bounded(tree);
        self.depth -= 1;
        result
    }

    fn bounded(&mut self, tree: &IdedExpr) -> Result<Typed, Problem> {
        match &tree.expr {
            Expr::Literal(literal) => Ok(constant(literal)),
            Expr::Ident(name) => self.identifier(tree.id, name),
            Expr::Select(select) => self.select(tree, select),
            Expr::Call(call) => self.call(tree.id, call),
            Expr::List(list) => {
                let mut nodes = Vec::with_capacity(list.elements.len());
                let mut of: Option<Type> = None;
                for element in &list.elements {
                    let (node, kind) = self.node(element)?;
                    nodes.push(node);
                    of = Some(of.map_or(kind.clone(), |before| before.join(&kind)));
                }
                Ok((Node::List(nodes), Type::list(of.unwrap_or(Type::Dyn))))
            }
            Expr::Map(map) => self.map(tree.id, map.entries.iter().map(|entry| &entry.expr)),
            Expr::Struct(literal) => self.build(tree.id, literal),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Unspecified => Err(self.problem(tree.id, "this is no expression")),
        }
    }

    fn identifier(&mut self, id: u64, name: &str) -> Result<Typed, Problem> {
        if let Some(place) = self.locals.iter().rposition(|(each, _)| each == name) {
            let kind = self.locals.get(place).map_or(Type::Dyn, |(_, kind)| kind.clone());
            return Ok((Node::Local(place), kind));
        }
        let name = name.strip_prefix('.').unwrap_or(name);
        if let Some((slot, kind)) = self.names.find(name) {
            if !self.used.iter().any(|each| each == name) {
                self.used.push(name.to_owned());
            }
            return Ok((Node::Variable(slot), kind.clone()));
        }
        if let Some(typed) = self.named(name) {
            return Ok(typed);
        }
        let known: Vec<&str> = self.names.names().collect();
        Err(self.problem(id, format!("'{name}' is not declared; there are: {}", known.join(", "))))
    }

    /// A type or a value of an enum, by its full name.
    fn named(&self, name: &str) -> Option<Typed> {
        let pool = self.names.pool();
        if let Some((of, value)) = name.rsplit_once('.')
            && let Some(value) = pool.enum_by_name(of).and_then(|found| found.value_by_name(value))
        {
            return Some((Node::Constant(Constant::Int(value.number().into())), Type::Int));
        }
        let standard = ["int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type"];
        let known = standard.contains(&name) || pool.message_index(name).is_some();
        let known = known || matches!(name, "google.protobuf.Timestamp" | "google.protobuf.Duration");
        known.then(|| (Node::Constant(Constant::Type(name.into())), Type::Type))
    }

    fn select(&mut self, tree: &IdedExpr, select: &SelectExpr) -> Result<Typed, Problem> {
        // A dotted name is a type or a value of an enum where its first part is no variable.
        if let (false, Some(segments)) = (select.test, segments(&tree.expr)) {
            let root = segments.first().copied().unwrap_or_default();
            let plain = root.strip_prefix('.').unwrap_or(root);
            let local = self.locals.iter().any(|(each, _)| each == root);
            if !local && self.names.find(plain).is_none() {
                let joined = segments.join(".");
                let name = joined.strip_prefix('.').unwrap_or(&joined);
                return self.named(name).ok_or_else(|| {
                    let known: Vec<&str> = self.names.names().collect();
                    self.problem(tree.id, format!("'{name}' is not declared; variables are: {}", known.join(", ")))
                });
            }
        }
        let (operand, kind) = self.node(&select.operand)?;
        self.field(tree.id, operand, &kind, &select.field, select.test)
    }

    /// `operand.name`, or `has(operand.name)`.
    pub(super) fn field(
        &mut self,
        id: u64,
        operand: Node,
        of: &Type,
        name: &str,
        test: bool,
    ) -> Result<Typed, Problem> {
        let operand = Box::new(operand);
        let (field, kind) = match of {
            Type::Message(index) => {
                let pool = self.names.pool();
                let message = pool.message(*index);
                let extension =
                    || pool.extension_by_name(name).filter(|each| each.extendee() == *index).map(|each| each.field());
                let Some(field) = message.field_by_name(name).or_else(extension) else {
                    let known: Vec<&str> = message.fields().iter().map(|each| each.name()).collect();
                    return Err(self.problem(
                        id,
                        format!("{} has no field '{name}'; its fields are: {}", message.full_name(), known.join(", ")),
                    ));
                };
                (Some((*index, field.number())), Type::field(pool, field))
            }
            Type::Map(of) if Type::String.fits(&of.0) => (None, of.1.clone()),
            Type::Dyn => (None, Type::Dyn),
            other => return Err(self.problem(id, format!("a value of type {other} has no field '{name}'"))),
        };
        if test {
            return Ok((Node::Has { operand, name: name.into() }, Type::Bool));
        }
        Ok((Node::Select { operand, name: name.into(), field }, kind))
    }

    fn map<'t>(&mut self, id: u64, entries: impl Iterator<Item = &'t EntryExpr>) -> Result<Typed, Problem> {
        let mut nodes = Vec::new();
        let mut kinds: Option<(Type, Type)> = None;
        for entry in entries {
            let EntryExpr::MapEntry(entry) = entry else { return Err(self.problem(id, "a map has keys, not fields")) };
            let (key, key_kind) = self.node(&entry.key)?;
            let (value, value_kind) = self.node(&entry.value)?;
            if !matches!(key_kind, Type::String | Type::Int | Type::Uint | Type::Bool | Type::Dyn) {
                return Err(self.problem(
                    entry.key.id,
                    format!("a key cannot be of type {key_kind}; write a string, a number or a bool"),
                ));
            }
            nodes.push((key, value));
            kinds = Some(match kinds {
                None => (key_kind, value_kind),
                Some((keys, values)) => (keys.join(&key_kind), values.join(&value_kind)),
            });
        }
        let (key, value) = kinds.unwrap_or((Type::Dyn, Type::Dyn));
        Ok((Node::Map(nodes), Type::map(key, value)))
    }

    fn build(&mut self, id: u64, literal: &StructExpr) -> Result<Typed, Problem> {
        let pool = self.names.pool();
        let name = literal.type_name.strip_prefix('.').unwrap_or(&literal.type_name);
        let Some(index) = pool.message_index(name) else {
            return Err(self.problem(id, format!("there is no message '{name}' in the schema")));
        };
        let mut fields = Vec::with_capacity(literal.entries.len());
        for entry in &literal.entries {
            let EntryExpr::StructField(given) = &entry.expr else {
                return Err(self.problem(entry.id, "a message has fields, not keys"));
            };
            let Some(field) = pool.message(index).field_by_name(&given.field) else {
                return Err(self.problem(entry.id, format!("{name} has no field '{}'", given.field)));
            };
            let (node, kind) = self.node(&given.value)?;
            let wanted = Type::field(pool, field);
            if !kind.fits(&wanted) {
                return Err(
                    self.problem(given.value.id, format!("{name}.{} is of type {wanted}, not {kind}", given.field))
                );
            }
            fields.push((field.number(), node));
        }
        Ok((Node::Build { pool: std::sync::Arc::clone(pool), message: index, fields }, Type::message(pool, index)))
    }

    fn call(&mut self, id: u64, call: &CallExpr) -> Result<Typed, Problem> {
        if let Some(typed) = self.operator(id, call)? {
            return Ok(typed);
        }
        let mut nodes = Vec::with_capacity(call.args.len() + 1);
        let mut kinds = Vec::with_capacity(call.args.len() + 1);
        for each in call.target.as_deref().into_iter().chain(&call.args) {
            let (node, kind) = self.node(each)?;
            nodes.push(node);
            kinds.push(kind);
        }
        let name = call.func_name.as_str();
        match overload::resolve(name, call.target.is_some(), &kinds) {
            Ok((function, result)) => self.function(id, function, nodes, &kinds, result),
            Err(Unresolved::Unknown) => {
                let mut known: Vec<&str> = overload::names().filter(|each| each.eq_ignore_ascii_case(name)).collect();
                known.dedup();
                let offer = known.first().map_or(String::new(), |near| format!("; write '{near}'"));
                Err(self.problem(id, format!("there is no function '{name}'{offer}")))
            }
            Err(Unresolved::Arguments) => {
                let given: Vec<String> = kinds.iter().map(ToString::to_string).collect();
                Err(self.problem(id, format!("'{name}' does not take ({})", given.join(", "))))
            }
        }
    }

    fn function(
        &mut self,
        id: u64,
        function: Function,
        mut nodes: Vec<Node>,
        kinds: &[Type],
        result: Type,
    ) -> Result<Typed, Problem> {
        match (function, nodes.last()) {
            (Function::Matches, Some(Node::Constant(Constant::String(pattern)))) => {
                let pattern = Pattern::new(pattern).map_err(|reason| self.problem(id, reason))?;
                let subject = Box::new(nodes.swap_remove(0));
                Ok((Node::Matches(subject, pattern), result))
            }
            (Function::GetField, Some(Node::Constant(Constant::String(name)))) => {
                let name = name.clone();
                let of = kinds.first().cloned().unwrap_or(Type::Dyn);
                self.field(id, nodes.swap_remove(0), &of, &name, false)
            }
            (Function::Dyn, _) => Ok((nodes.swap_remove(0), Type::Dyn)),
            _ => Ok((Node::Call(function, nodes), result)),
        }
    }

    fn comprehension(&mut self, tree: &ComprehensionExpr) -> Result<Typed, Problem> {
        let (range, range_kind) = self.node(&tree.iter_range)?;
        let element = match &range_kind {
            Type::List(of) => (**of).clone(),
            Type::Map(of) => of.0.clone(),
            Type::Dyn => Type::Dyn,
            other => {
                return Err(self.problem(
                    tree.iter_range.id,
                    format!("a macro walks a list or a map, not a value of type {other}"),
                ));
            }
        };
        let (initial, initial_kind) = self.node(&tree.accu_init)?;
        let appends = matches!(&initial, Node::List(items) if items.is_empty());
        let accumulator = self.locals.len();
        self.locals.push((tree.accu_var.clone(), if appends { Type::Dyn } else { initial_kind }));
        self.locals.push((tree.iter_var.clone(), element));
        let parts = self.parts(tree, accumulator);
        self.locals.truncate(accumulator);
        let (condition, step, item, (result, result_kind)) = parts?;
        let kind = match item {
            Some(item) if appends => Type::list(item),
            _ => result_kind,
        };
        Ok((Node::Loop(Box::new(Loop { range, initial, condition, step, result })), kind))
    }

    #[allow(clippy::type_complexity)]
    fn parts(
        &mut self,
        tree: &ComprehensionExpr,
        accumulator: usize,
    ) -> Result<(Node, Node, Option<Type>, Typed), Problem> {
        let (condition, _) = self.node(&tree.loop_cond)?;
        let (step, item) = self.step(tree, accumulator)?;
        let result = self.node(&tree.result)?;
        Ok((condition, step, item, result))
    }

    /// The step of a loop; where it appends one item to the accumulator, it does so in place.
    fn step(&mut self, tree: &ComprehensionExpr, accumulator: usize) -> Result<(Node, Option<Type>), Problem> {
        let is_accumulator = |each: &IdedExpr| matches!(&each.expr, Expr::Ident(name) if *name == tree.accu_var);
        let item_of = |each: &'_ IdedExpr| match &each.expr {
            Expr::Call(call) if call.func_name == operators::ADD && call.args.first().is_some_and(is_accumulator) => {
                match call.args.get(1) {
                    Some(IdedExpr { expr: Expr::List(list), .. }) if list.elements.len() == 1 => {
                        list.elements.first().cloned()
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some(item) = item_of(&tree.loop_step) {
            let (item, kind) = self.node(&item)?;
            return Ok((Node::Append { accumulator, item: Box::new(item) }, Some(kind)));
        }
        if let Expr::Call(call) = &tree.loop_step.expr
            && call.func_name == operators::CONDITIONAL
            && let [guard, append, otherwise] = call.args.as_slice()
            && is_accumulator(otherwise)
            && let Some(item) = item_of(append)
        {
            let guard = self.boolean(guard)?;
            let (item, kind) = self.node(&item)?;
            let append = Node::Append { accumulator, item: Box::new(item) };
            return Ok((Node::Conditional(Box::new((guard, append, Node::Local(accumulator)))), Some(kind)));
        }
        self.node(&tree.loop_step).map(|(node, _)| (node, None))
    }

    /// An operand that must be a `bool`.
    pub(super) fn boolean(&mut self, tree: &IdedExpr) -> Result<Node, Problem> {
        let (node, kind) = self.node(tree)?;
        if !kind.fits(&Type::Bool) {
            return Err(self.problem(tree.id, format!("a bool must stand here, not a value of type {kind}")));
        }
        Ok(node)
    }
}

fn constant(literal: &LiteralValue) -> Typed {
    let (constant, kind) = match literal {
        LiteralValue::Null => (Constant::Null, Type::Null),
        LiteralValue::Boolean(flag) => (Constant::Bool(*flag.inner()), Type::Bool),
        LiteralValue::Int(number) => (Constant::Int(*number.inner()), Type::Int),
        LiteralValue::UInt(number) => (Constant::Uint(*number.inner()), Type::Uint),
        LiteralValue::Double(number) => (Constant::Double(*number.inner()), Type::Double),
        LiteralValue::String(text) => (Constant::String(text.inner().into()), Type::String),
        LiteralValue::Bytes(bytes) => (Constant::Bytes(bytes.inner().into()), Type::Bytes),
    };
    (Node::Constant(constant), kind)
}

/// The parts of a dotted name, the first one first; none for anything else.
fn segments(tree: &Expr) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut at = tree;
    loop {
        match at {
            Expr::Ident(name) => {
                found.push(name.as_str());
                found.reverse();
                return Some(found);
            }
            Expr::Select(select) if !select.test => {
                found.push(select.field.as_str());
                at = &select.operand.expr;
            }
            _ => return None,
        }
    }
}
