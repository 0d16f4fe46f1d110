//! What a module asks for, told from its syntax tree without running it.

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AwaitExpression, BinaryExpression, CallExpression, Expression, ForOfStatement,
    Function, ImportAttributeKey, ImportDeclaration, ImportDeclarationSpecifier, ImportExpression, ImportOrExportKind,
    ModuleDeclaration, NewExpression, Program, StringLiteral, TemplateLiteral, WithClause,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::{Parser, ParserReturn};
use oxc_span::SourceType;
use oxc_syntax::scope::ScopeFlags;

/// What is read as which language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Module,
    Script,
    TypeScript,
}

/// How a module asks for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `import … from` and `export … from`.
    Import,
    /// `import(…)`.
    Dynamic,
    /// `require(…)`.
    Require,
    /// `require.resolve(…)`.
    Resolve,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// `None`: it is not written there, but calculated.
    pub(crate) specifier: Option<String>,
    /// The names that are imported; `None`: any may be asked for.
    pub(crate) names: Option<Vec<String>>,
    /// The `type` of its attributes.
    pub(crate) kind: Option<String>,
    pub(crate) way: Way,
    /// Byte in the source.
    pub(crate) at: usize,
    /// It stands in a `try`, or in a function: the module can do without.
    pub(crate) late: bool,
}

/// What a module's source has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    pub(crate) requests: Vec<Request>,
    /// `import` or `export` statements, or `import.meta`.
    pub(crate) module_syntax: bool,
    /// Files beside the module that it seems to read: where they are named, and their paths from its folder.
    pub(crate) beside: Vec<(usize, String)>,
    /// Where the first `await` outside of functions stands.
    pub(crate) awaits: Option<usize>,
    /// The parser could not read it: what it says and where.
    pub(crate) problem: Option<(String, usize)>,
}

impl Scan {
    /// Whether one of the `import` statements has attributes.
    pub(crate) fn has_attributes(&self) -> bool {
        self.requests.iter().any(|request| request.way == Way::Import && request.kind.is_some())
    }
}

/// Reads a source as `language`.
pub(crate) fn scan(source: &str, language: Language) -> Scan {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, source, language);
    let mut finder = Finder { scan: Scan::default(), functions: 0, late: 0 };
    finder.visit_program(&parsed.program);
    let mut scan = finder.scan;
    scan.module_syntax = parsed.module_record.has_module_syntax;
    scan.problem = parsed.diagnostics.iter().next().map(|problem| {
        let at = problem.labels.first().map_or(0, |label| label.span().start as usize);
        (problem.message.to_string(), at)
    });
    scan
}

/// Parses a source.
pub(crate) fn parse<'a>(allocator: &'a Allocator, source: &'a str, language: Language) -> ParserReturn<'a> {
    let kind = match language {
        Language::Module => SourceType::mjs(),
        Language::Script => SourceType::cjs(),
        Language::TypeScript => SourceType::ts(),
    };
    Parser::new(allocator, source, kind).parse()
}

struct Finder {
    scan: Scan,
    functions: usize,
    late: usize,
}

impl Finder {
    fn push(&mut self, specifier: Option<&str>, way: Way, at: u32) {
        let late = self.late > 0 || self.functions > 0;
        let specifier = specifier.map(str::to_owned);
        self.scan.requests.push(Request { specifier, names: None, kind: None, way, at: at as usize, late });
    }

    fn import(&mut self, source: &StringLiteral<'_>, with: Option<&WithClause<'_>>, names: Option<Vec<String>>) {
        let specifier = Some(source.value.to_string());
        let kind = with.and_then(attribute);
        let at = source.span.start as usize;
        self.scan.requests.push(Request { specifier, names, kind, way: Way::Import, at, late: false });
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_program(&mut self, program: &Program<'a>) {
        // Imports come before all else that a module does.
        for statement in &program.body {
            match statement.as_module_declaration() {
                Some(ModuleDeclaration::ImportDeclaration(import)) if is_value(import) => {
                    self.import(&import.source, import.with_clause.as_deref(), imported(import));
                }
                Some(ModuleDeclaration::ExportFromDeclaration(export))
                    if export.export_kind == ImportOrExportKind::Value =>
                {
                    self.import(&export.source, export.with_clause.as_deref(), None);
                }
                Some(ModuleDeclaration::ExportAllDeclaration(export))
                    if export.export_kind == ImportOrExportKind::Value =>
                {
                    self.import(&export.source, export.with_clause.as_deref(), None);
                }
                _ => {}
            }
        }
        walk::walk_program(self, program);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        let way = match &call.callee {
            Expression::Identifier(name) if name.name == "require" => Some(Way::Require),
            Expression::StaticMemberExpression(member)
                if member.property.name == "resolve"
                    && matches!(&member.object, Expression::Identifier(name) if name.name == "require") =>
            {
                Some(Way::Resolve)
            }
            _ => None,
        };
        if let (Some(way), Some(argument)) = (way, call.arguments.first()) {
            let text = match argument {
                Argument::StringLiteral(text) => Some(text.value.as_str()),
                Argument::TemplateLiteral(text) if text.expressions.is_empty() => {
                    text.quasis.first().and_then(|quasi| quasi.value.cooked.as_deref())
                }
                _ => None,
            };
            self.push(text, way, call.span.start);
        }
        // `path.join(__dirname, "views", "a.html")`, and whatever else is given a folder and names in it.
        if let Some((first, names)) = call.arguments.split_first()
            && first.as_expression().is_some_and(is_own_folder)
        {
            let names: Vec<&str> = names
                .iter()
                .map_while(|name| match name {
                    Argument::StringLiteral(name) => Some(name.value.as_str()),
                    _ => None,
                })
                .collect();
            if !names.is_empty() {
                self.scan.beside.push((call.span.start as usize, names.join("/")));
            }
        }
        walk::walk_call_expression(self, call);
    }

    /// `__dirname + "/views"`.
    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        if let Expression::StringLiteral(name) = &it.right
            && is_own_folder(&it.left)
        {
            self.scan.beside.push((it.span.start as usize, name.value.to_string()));
        }
        walk::walk_binary_expression(self, it);
    }

    /// `` `${__dirname}/views` ``.
    fn visit_template_literal(&mut self, it: &TemplateLiteral<'a>) {
        if let ([folder], [before, name]) = (it.expressions.as_slice(), it.quasis.as_slice())
            && before.value.raw.is_empty()
            && is_own_folder(folder)
            && let Some(name) = name.value.cooked
        {
            self.scan.beside.push((it.span.start as usize, name.to_string()));
        }
        walk::walk_template_literal(self, it);
    }

    /// `new URL("a.html", import.meta.url)`.
    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        if let [Argument::StringLiteral(name), Argument::StaticMemberExpression(base)] = it.arguments.as_slice()
            && base.property.name == "url"
            && matches!(base.object, Expression::ImportMeta(_))
        {
            self.scan.beside.push((it.span.start as usize, name.value.to_string()));
        }
        walk::walk_new_expression(self, it);
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        let text = match &import.source {
            Expression::StringLiteral(text) => Some(text.value.as_str()),
            _ => None,
        };
        self.push(text, Way::Dynamic, import.span.start);
        walk::walk_import_expression(self, import);
    }

    fn visit_try_statement(&mut self, it: &oxc_ast::ast::TryStatement<'a>) {
        self.late += 1;
        walk::walk_try_statement(self, it);
        self.late -= 1;
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.functions += 1;
        walk::walk_function(self, it, flags);
        self.functions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.functions += 1;
        walk::walk_arrow_function_expression(self, it);
        self.functions -= 1;
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        if self.functions == 0 {
            self.scan.awaits.get_or_insert(it.span.start as usize);
        }
        walk::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if it.r#await && self.functions == 0 {
            self.scan.awaits.get_or_insert(it.span.start as usize);
        }
        walk::walk_for_of_statement(self, it);
    }
}

/// `__dirname` or `import.meta.dirname`.
fn is_own_folder(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::Identifier(name) => name.name == "__dirname",
        Expression::StaticMemberExpression(member) => {
            member.property.name == "dirname" && matches!(member.object, Expression::ImportMeta(_))
        }
        _ => false,
    }
}

fn is_value(import: &ImportDeclaration<'_>) -> bool {
    import.import_kind == ImportOrExportKind::Value
}

/// The names of an import; `None` for a namespace.
fn imported(import: &ImportDeclaration<'_>) -> Option<Vec<String>> {
    let specifiers = import.specifiers.iter().flatten();
    let names = specifiers.map(|specifier| match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(specifier) => Some(specifier.imported.name().to_string()),
        ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => Some("default".to_owned()),
        ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => None,
    });
    names.collect()
}

fn attribute(with: &WithClause<'_>) -> Option<String> {
    let entry = with.with_entries.iter().find(|entry| match &entry.key {
        ImportAttributeKey::Identifier(name) => name.name == "type",
        ImportAttributeKey::StringLiteral(name) => name.value == "type",
    })?;
    Some(entry.value.value.to_string())
}
