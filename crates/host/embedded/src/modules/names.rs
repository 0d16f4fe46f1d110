//! The names that a CommonJS module exports, as far as its syntax tells: those that `import { name }` can ask for. The same
//! are found as by the lexer that Node.js has for this.

use std::collections::HashMap;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, AssignmentExpression, AssignmentTarget, CallExpression, Expression, ObjectExpression, ObjectPropertyKind,
    PropertyKey, Statement, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;
use oxc_syntax::operator::AssignmentOperator;

use super::scan::{Language, parse};

/// What was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) names: Vec<String>,
    /// What is required and exported as a whole.
    pub(crate) reexports: Vec<String>,
}

/// Looks a CommonJS source over.
pub(crate) fn names(source: &str) -> Names {
    if !source.contains("exports") {
        return Names::default();
    }
    let allocator = Allocator::default();
    let parsed = parse(&allocator, source, Language::Script);
    let mut finder = Finder { found: Names::default(), required: HashMap::new(), source };
    finder.visit_program(&parsed.program);
    finder.found
}

struct Finder<'s> {
    found: Names,
    /// Variables of the module and what they were required from.
    required: HashMap<String, String>,
    source: &'s str,
}

impl Finder<'_> {
    fn add(&mut self, name: &str) {
        if !self.found.names.iter().any(|other| other == name) {
            self.found.names.push(name.to_owned());
        }
    }

    fn reexport(&mut self, name: &str) {
        if !self.found.reexports.iter().any(|other| other == name) {
            self.found.reexports.push(name.to_owned());
        }
    }

    /// `{ a, b: c, ...require('d') }`, up to the first value that is no plain name.
    fn literal(&mut self, object: &ObjectExpression<'_>) {
        for property in &object.properties {
            match property {
                ObjectPropertyKind::SpreadProperty(spread) => {
                    if let Some(name) = required(&spread.argument) {
                        self.reexport(name);
                    } else if !matches!(spread.argument, Expression::Identifier(_)) {
                        return;
                    }
                }
                ObjectPropertyKind::ObjectProperty(property) => {
                    let Some(name) = key(&property.key).filter(|_| !property.computed && !property.method) else {
                        return;
                    };
                    let at = property.value.span().start as usize;
                    let word = self.source.get(at..).and_then(|rest| rest.chars().next());
                    if !word.is_some_and(|first| first.is_alphabetic() || first == '_' || first == '$') {
                        return;
                    }
                    self.add(name);
                    if !matches!(
                        property.value,
                        Expression::Identifier(_) | Expression::BooleanLiteral(_) | Expression::NullLiteral(_)
                    ) {
                        return;
                    }
                }
            }
        }
    }

    /// `Object.defineProperty(exports, 'name', …)`.
    fn define(&mut self, call: &CallExpression<'_>) {
        let (Some(target), Some(Argument::StringLiteral(name)), Some(Argument::ObjectExpression(descriptor))) =
            (call.arguments.first(), call.arguments.get(1), call.arguments.get(2))
        else {
            return;
        };
        if !target.as_expression().is_some_and(is_exports) {
            return;
        }
        let mut enumerable = false;
        for property in &descriptor.properties {
            let ObjectPropertyKind::ObjectProperty(property) = property else { return };
            match key(&property.key) {
                Some("enumerable") => {
                    enumerable = matches!(&property.value, Expression::BooleanLiteral(is) if is.value)
                }
                Some("value") => {
                    self.add(&name.value);
                    return;
                }
                Some("get") => {
                    if enumerable && self.is_plain_getter(&property.value) {
                        self.add(&name.value);
                    }
                    return;
                }
                _ => return,
            }
        }
    }

    /// `function () { return a.b; }`.
    fn is_plain_getter(&self, value: &Expression<'_>) -> bool {
        let Expression::FunctionExpression(function) = value else { return false };
        let Some(body) = &function.body else { return false };
        let [Statement::ReturnStatement(returned)] = body.statements.as_slice() else { return false };
        match &returned.argument {
            Some(Expression::Identifier(_)) => true,
            Some(Expression::StaticMemberExpression(member)) => matches!(member.object, Expression::Identifier(_)),
            Some(Expression::ComputedMemberExpression(member)) => {
                matches!(member.object, Expression::Identifier(_))
                    && matches!(member.expression, Expression::StringLiteral(_))
            }
            _ => false,
        }
    }

    /// `__exportStar(require('a'), exports)`, with or without `tslib.`, and `__export(require('a'))`.
    fn star(&mut self, call: &CallExpression<'_>) {
        let name = match &call.callee {
            Expression::Identifier(name) => name.name.as_str(),
            Expression::StaticMemberExpression(member) => member.property.name.as_str(),
            _ => return,
        };
        if !matches!(name, "__exportStar" | "__export") {
            return;
        }
        if let Some(from) = call.arguments.first().and_then(Argument::as_expression).and_then(required) {
            self.reexport(from);
        }
    }

    /// `Object.keys(_a).forEach(function (key) { … exports[key] = _a[key]; })`.
    fn keys(&mut self, call: &CallExpression<'_>) {
        let Expression::StaticMemberExpression(each) = &call.callee else { return };
        if each.property.name != "forEach" {
            return;
        }
        let Expression::CallExpression(keys) = &each.object else { return };
        let Expression::StaticMemberExpression(callee) = &keys.callee else { return };
        if callee.property.name != "keys" || !is_named(&callee.object, "Object") {
            return;
        }
        let Some(Argument::Identifier(of)) = keys.arguments.first() else { return };
        let Some(Argument::FunctionExpression(function)) = call.arguments.first() else { return };
        let span = function.span();
        let text = self.source.get(span.start as usize..span.end as usize).unwrap_or_default();
        if !text.contains("exports") || !text.contains("\"default\"") && !text.contains("'default'") {
            return;
        }
        if let Some(from) = self.required.get(of.name.as_str()).cloned() {
            self.reexport(&from);
        }
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        let value = match &it.init {
            // `_interopRequireWildcard(require('a'))` and the like.
            Some(Expression::CallExpression(call)) => match call.arguments.first().and_then(Argument::as_expression) {
                Some(inner) if required(inner).is_some() => required(inner),
                _ => it.init.as_ref().and_then(required),
            },
            _ => None,
        };
        if let (Some(from), Some(name)) = (value, it.id.get_binding_identifier()) {
            self.required.insert(name.name.to_string(), from.to_owned());
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        match &it.left {
            _ if it.operator != AssignmentOperator::Assign => {}
            AssignmentTarget::StaticMemberExpression(member) => {
                if is_exports(&member.object) {
                    self.add(&member.property.name);
                } else if member.property.name == "exports" && is_named(&member.object, "module") {
                    self.found.reexports.clear();
                    match &it.right {
                        Expression::ObjectExpression(object) => self.literal(object),
                        right => {
                            if let Some(from) = required(right) {
                                self.reexport(from);
                            }
                        }
                    }
                }
            }
            AssignmentTarget::ComputedMemberExpression(member) if is_exports(&member.object) => {
                if let Expression::StringLiteral(name) = &member.expression {
                    self.add(&name.value);
                }
            }
            _ => {}
        }
        walk::walk_assignment_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Expression::StaticMemberExpression(member) = &it.callee
            && member.property.name == "defineProperty"
            && is_named(&member.object, "Object")
        {
            self.define(it);
        }
        self.star(it);
        self.keys(it);
        walk::walk_call_expression(self, it);
    }
}

/// `exports` or `module.exports`.
fn is_exports(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::StaticMemberExpression(member) => {
            member.property.name == "exports" && is_named(&member.object, "module")
        }
        other => is_named(other, "exports"),
    }
}

fn is_named(expression: &Expression<'_>, name: &str) -> bool {
    matches!(expression, Expression::Identifier(identifier) if identifier.name == name)
}

/// The name in `require('name')`.
fn required<'a>(expression: &'a Expression<'_>) -> Option<&'a str> {
    let Expression::CallExpression(call) = expression else { return None };
    if !is_named(&call.callee, "require") {
        return None;
    }
    match call.arguments.as_slice() {
        [Argument::StringLiteral(name)] => Some(name.value.as_str()),
        _ => None,
    }
}

fn key<'a>(key: &'a PropertyKey<'_>) -> Option<&'a str> {
    match key {
        PropertyKey::StaticIdentifier(name) => Some(name.name.as_str()),
        PropertyKey::StringLiteral(text) => Some(text.value.as_str()),
        _ => None,
    }
}
