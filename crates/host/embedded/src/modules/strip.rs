//! TypeScript to JavaScript by blanking what is type: lines and columns stay.

use oxc_allocator::Allocator;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::scan::{Language, parse};
use super::source::Problem;

/// The source without its types.
///
/// # Errors
/// Syntax that is wrong, or that needs code.
pub(crate) fn strip(source: &str) -> Result<String, Problem> {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, source, Language::TypeScript);
    if let Some(problem) = parsed.diagnostics.iter().next() {
        let at = problem.labels.first().map_or(0, |label| label.span().start as usize);
        return Err(Problem { code: "ERR_INVALID_TYPESCRIPT_SYNTAX", message: problem.message.to_string(), at });
    }
    let mut eraser = Eraser { source, edits: Vec::new(), ends: Vec::new(), problem: None };
    eraser.visit_program(&parsed.program);
    match eraser.problem {
        Some(problem) => Err(problem),
        None => Ok(apply(source, eraser.edits)),
    }
}

/// A span that becomes spaces, but for a character that stands at its begin or end.
#[derive(Clone, Copy)]
struct Edit {
    start: usize,
    end: usize,
    first: Option<u8>,
    last: Option<u8>,
}

/// Replaces every character by as many spaces as it has UTF-16 units; line ends stay.
fn apply(source: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.start, std::cmp::Reverse(edit.end)));
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    for edit in edits {
        if edit.start < at {
            continue;
        }
        out.push_str(source.get(at..edit.start).unwrap_or_default());
        let span = source.get(edit.start..edit.end).unwrap_or_default();
        let from = out.len();
        for character in span.chars() {
            if matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}') {
                out.push(character);
            } else {
                out.extend(std::iter::repeat_n(' ', character.len_utf16()));
            }
        }
        if let Some(first) = edit.first.filter(|_| out.as_bytes().get(from) == Some(&b' ')) {
            out.replace_range(from..=from, if first == b'(' { "(" } else { ";" });
        }
        if edit.last.is_some() && out.ends_with(' ') {
            out.pop();
            out.push(')');
        }
        at = edit.end;
    }
    out.push_str(source.get(at..).unwrap_or_default());
    out
}

struct Eraser<'s> {
    source: &'s str,
    edits: Vec<Edit>,
    /// Where statements end without a semicolon of their own.
    ends: Vec<u32>,
    problem: Option<Problem>,
}

impl Eraser<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.source.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn text(&self, span: Span) -> &str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn blank(&mut self, start: u32, end: u32) {
        self.edit(start, end, None, None);
    }

    fn edit(&mut self, start: u32, end: u32, first: Option<u8>, last: Option<u8>) {
        if start < end {
            self.edits.push(Edit { start: start as usize, end: end as usize, first, last });
        }
    }

    fn refuse(&mut self, span: Span, what: &str, instead: &str) {
        if self.problem.is_none() {
            let message = format!("{what} is not supported in strip-only mode; {instead}");
            self.problem =
                Some(Problem { code: "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX", message, at: span.start as usize });
        }
    }

    /// The next byte from `at` on that is neither space nor comment, and whether a line ended before it.
    fn next(&self, mut at: usize) -> (usize, bool) {
        let bytes = self.source.as_bytes();
        let mut newline = false;
        loop {
            match bytes.get(at) {
                Some(b'\n' | b'\r') => {
                    newline = true;
                    at += 1;
                }
                Some(byte) if byte.is_ascii_whitespace() => at += 1,
                Some(b'/') if bytes.get(at + 1) == Some(&b'/') => {
                    at += bytes.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)).unwrap_or(bytes.len() - at);
                }
                Some(b'/') if bytes.get(at + 1) == Some(&b'*') => {
                    let rest = bytes.get(at + 2..).unwrap_or_default();
                    let length = memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
                    newline |= memchr::memchr(b'\n', rest.get(..length).unwrap_or_default()).is_some();
                    at += 2 + length;
                }
                _ => return (at, newline),
            }
        }
    }

    /// The last byte before `at` that is no space; comments are taken for code, which costs a harmless semicolon.
    fn previous(&self, at: usize) -> u8 {
        let before = self.source.as_bytes().get(..at).unwrap_or_default();
        before.iter().rfind(|byte| !byte.is_ascii_whitespace()).copied().unwrap_or(b';')
    }

    /// Whether what follows would be taken for the rest of what stands before.
    fn joins(&self, at: usize) -> bool {
        matches!(self.byte(self.next(at).0), b'(' | b'[' | b'`' | b'+' | b'-' | b'/' | b'*')
    }

    /// A whole statement or member goes: if it kept two others apart, a semicolon does so now.
    fn blank_whole(&mut self, span: Span) {
        let apart = !matches!(self.previous(span.start as usize), b';' | b'{' | b'}') && self.joins(span.end as usize);
        self.edit(span.start, span.end, apart.then_some(b';'), None);
    }

    /// What follows an expression goes (`as T`).
    fn blank_after(&mut self, start: u32, end: u32) {
        let hazard = self.ends.contains(&end) && self.next(end as usize).1 && self.joins(end as usize);
        self.edit(start, end, hazard.then_some(b';'), None);
    }

    fn ends_here(&mut self, span: Span) {
        if span.end > 0 && self.byte(span.end as usize - 1) != b';' {
            self.ends.push(span.end);
        }
    }

    /// A `?` or `!` between a name and what follows it.
    fn blank_mark(&mut self, from: u32, mark: u8) {
        let (at, _) = self.next(from as usize);
        if self.byte(at) == mark {
            self.blank(at as u32, at as u32 + 1);
        }
    }

    /// `public`, `readonly` and the like before a member's name.
    fn blank_modifiers(&mut self, start: u32, key: u32) {
        let mut at = start as usize;
        let mut first = true;
        while at < key as usize {
            let (begin, _) = self.next(at);
            let mut end = begin;
            while self.byte(end).is_ascii_alphabetic() {
                end += 1;
            }
            if end == begin || end > key as usize {
                at = begin + 1;
                continue;
            }
            let word = self.source.get(begin..end).unwrap_or_default();
            if matches!(word, "public" | "private" | "protected" | "readonly" | "override" | "abstract" | "declare") {
                let hazard = first
                    && !matches!(self.previous(begin), b';' | b'{' | b'}')
                    && matches!(self.byte(self.next(end).0), b'[' | b'*');
                self.edit(begin as u32, end as u32, hazard.then_some(b';'), None);
            }
            first = false;
            at = end;
        }
    }

    /// One of a list, with the comma behind it.
    fn blank_item(&mut self, span: Span) {
        let (comma, _) = self.next(span.end as usize);
        let end = if self.byte(comma) == b',' { comma as u32 + 1 } else { span.end };
        self.blank(span.start, end);
    }

    fn key_start(key: &PropertyKey<'_>, computed: bool) -> u32 {
        key.span().start.saturating_sub(u32::from(computed))
    }

    /// The end of a member's name, with the bracket of a computed one.
    fn key_end(&self, key: &PropertyKey<'_>, computed: bool) -> u32 {
        if !computed {
            return key.span().end;
        }
        let (at, _) = self.next(key.span().end as usize);
        at as u32 + 1
    }

    fn class_members<'a>(&mut self, decorators: &oxc_allocator::Vec<'a, Decorator<'a>>) {
        if let Some(decorator) = decorators.first() {
            self.refuse(decorator.span, "A decorator", "call the function on what it decorates");
        }
    }
}

const ENUM: &str = "write an object: const Name = { A: 0, B: 1 } as const";
const NAMESPACE: &str = "write a module of its own, or an object";

impl<'a> Visit<'a> for Eraser<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        match it {
            Statement::TSTypeAliasDeclaration(_)
            | Statement::TSInterfaceDeclaration(_)
            | Statement::TSGlobalDeclaration(_) => {
                return self.blank_whole(it.span());
            }
            Statement::VariableDeclaration(declaration) if declaration.declare => return self.blank_whole(it.span()),
            Statement::FunctionDeclaration(function) if function.declare || function.body.is_none() => {
                return self.blank_whole(it.span());
            }
            Statement::ClassDeclaration(class) if class.declare => return self.blank_whole(it.span()),
            Statement::TSEnumDeclaration(declaration) if declaration.declare => return self.blank_whole(it.span()),
            Statement::TSExternalModuleDeclaration(_) => return self.blank_whole(it.span()),
            Statement::TSNamespaceDeclaration(namespace) if namespace.declare || is_type_only(namespace) => {
                return self.blank_whole(it.span());
            }
            Statement::TSImportEqualsDeclaration(import) if import.import_kind == ImportOrExportKind::Type => {
                return self.blank_whole(it.span());
            }
            Statement::ImportDeclaration(import) if import.import_kind == ImportOrExportKind::Type => {
                return self.blank_whole(it.span());
            }
            Statement::TSNamespaceExportDeclaration(_) => return self.blank_whole(it.span()),
            Statement::ExportAllDeclaration(export) if export.export_kind == ImportOrExportKind::Type => {
                return self.blank_whole(it.span());
            }
            Statement::ExportNamedDeclaration(export) if export.export_kind == ImportOrExportKind::Type => {
                return self.blank_whole(it.span());
            }
            Statement::ExportFromDeclaration(export) if export.export_kind == ImportOrExportKind::Type => {
                return self.blank_whole(it.span());
            }
            Statement::ExportDeclaration(export) if is_erased(&export.declaration) => {
                return self.blank_whole(it.span());
            }
            Statement::ExportDefaultDeclaration(export) => match &export.declaration {
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => return self.blank_whole(it.span()),
                ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.body.is_none() => {
                    return self.blank_whole(it.span());
                }
                _ => {}
            },
            _ => {}
        }
        self.ends_here(it.span());
        walk::walk_statement(self, it);
    }

    fn visit_import_specifier(&mut self, it: &ImportSpecifier<'a>) {
        if it.import_kind == ImportOrExportKind::Type {
            self.blank_item(it.span);
        }
    }

    fn visit_export_specifier(&mut self, it: &ExportSpecifier<'a>) {
        if it.export_kind == ImportOrExportKind::Type {
            self.blank_item(it.span);
        }
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.refuse(it.span, "TypeScript enum", ENUM);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        self.refuse(it.span, "TypeScript namespace declaration", NAMESPACE);
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        self.refuse(it.span, "TypeScript import equals declaration", "write import … from, or const … = require(…)");
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.refuse(it.span, "TypeScript export assignment", "write export default, or module.exports = …");
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(it.span, "A decorator", "call the function on what it decorates");
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        let start = if self.byte(it.span.start as usize) == b':' {
            it.span.start
        } else {
            let before = self.source.get(..it.span.start as usize).unwrap_or_default();
            before.rfind(':').map_or(it.span.start, |colon| colon as u32)
        };
        self.blank_after(start, it.span.end);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blank(it.span.start, it.span.end);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blank_after(it.span.start, it.span.end);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_after(it.expression.span().end, it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_after(it.expression.span().end, it.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank(it.span.end - 1, it.span.end);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.blank(it.span.start, it.expression.span().start);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.blank_item(it.span);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.refuse(
                it.span,
                "TypeScript parameter property",
                "declare the field, and write this.name = name in the constructor",
            );
        }
        self.class_members(&it.decorators);
        if it.optional {
            self.blank_mark(it.pattern.span().end, b'?');
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.blank_mark(it.id.span().end, b'!');
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class_members(&it.decorators);
        if it.r#abstract {
            let head = self.text(it.span);
            if let Some(at) = head.find("abstract").filter(|at| head.find("class").is_none_or(|class| *at < class)) {
                let start = it.span.start + at as u32;
                self.blank(start, start + 8);
            }
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let before = self.source.get(..first.span.start as usize).unwrap_or_default();
            if let Some(at) = before.rfind("implements") {
                self.blank(at as u32, last.span.end);
            }
        }
        walk::walk_class(self, it);
    }

    fn visit_ts_class_implements(&mut self, _: &TSClassImplements<'a>) {}

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        match it {
            ClassElement::TSIndexSignature(_) => return self.blank_whole(it.span()),
            ClassElement::MethodDefinition(method)
                if method.value.body.is_none() || method.r#type == MethodDefinitionType::TSAbstractMethodDefinition =>
            {
                return self.blank_whole(it.span());
            }
            ClassElement::PropertyDefinition(property)
                if property.declare || property.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition =>
            {
                return self.blank_whole(it.span());
            }
            ClassElement::AccessorProperty(property)
                if property.r#type == AccessorPropertyType::TSAbstractAccessorProperty =>
            {
                return self.blank_whole(it.span());
            }
            _ => {}
        }
        self.ends_here(it.span());
        walk::walk_class_element(self, it);
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.class_members(&it.decorators);
        self.blank_modifiers(it.span.start, Self::key_start(&it.key, it.computed));
        if it.optional {
            self.blank_mark(self.key_end(&it.key, it.computed), b'?');
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.class_members(&it.decorators);
        self.blank_modifiers(it.span.start, Self::key_start(&it.key, it.computed));
        let end = self.key_end(&it.key, it.computed);
        if it.optional {
            self.blank_mark(end, b'?');
        }
        if it.definite {
            self.blank_mark(end, b'!');
        }
        walk::walk_property_definition(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        walk::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        // No line may end between the parenthesis and the arrow, nor behind `async`: the parenthesis moves.
        if let Some(types) =
            it.type_parameters.as_ref().filter(|types| it.r#async && self.text(types.span).contains('\n'))
        {
            self.edit(types.span.start, it.params.span.start + 1, Some(b'('), None);
        }
        if let Some(result) = it.return_type.as_ref().filter(|result| self.text(result.span).contains('\n')) {
            let close = it.params.span.end.saturating_sub(1);
            if self.byte(close as usize) == b')' {
                self.edit(close, result.span.end, None, Some(b')'));
            }
        }
        walk::walk_arrow_function_expression(self, it);
    }
}

/// Whether what is exported is gone with the types.
fn is_erased(declaration: &Declaration<'_>) -> bool {
    match declaration {
        Declaration::VariableDeclaration(declaration) => declaration.declare,
        Declaration::FunctionDeclaration(function) => function.declare || function.body.is_none(),
        Declaration::ClassDeclaration(class) => class.declare,
        Declaration::TSEnumDeclaration(declaration) => declaration.declare,
        Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_) => true,
        Declaration::TSExternalModuleDeclaration(_) | Declaration::TSGlobalDeclaration(_) => true,
        Declaration::TSNamespaceDeclaration(namespace) => namespace.declare || is_type_only(namespace),
        Declaration::TSImportEqualsDeclaration(import) => import.import_kind == ImportOrExportKind::Type,
    }
}

/// Whether a namespace has types alone, so that there is nothing of it at run time.
fn is_type_only(namespace: &TSNamespaceDeclaration<'_>) -> bool {
    match &namespace.body {
        TSNamespaceDeclarationBody::TSModuleBlock(block) => block.body.iter().all(|statement| match statement {
            Statement::TSTypeAliasDeclaration(_) | Statement::TSInterfaceDeclaration(_) => true,
            Statement::TSNamespaceDeclaration(inner) => is_type_only(inner),
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_) => true,
                Declaration::TSNamespaceDeclaration(inner) => is_type_only(inner),
                _ => false,
            },
            _ => false,
        }),
        TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => is_type_only(inner),
    }
}
