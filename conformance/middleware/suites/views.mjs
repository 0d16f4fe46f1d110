// View engines.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const ejs = await use("ejs");
const ejsLayouts = await use("express-ejs-layouts");
const { engine } = await use("express-handlebars", { all: true });
const hbs = await use("hbs");
const nunjucks = await use("nunjucks");

const root = mkdtempSync(join(tmpdir(), "leat-views-"));
process.once("exit", () => rmSync(root, { recursive: true, force: true }));
const views = {
    "ejs/index.ejs": "<%- include('part', { name }) %><p><%= title %> <%= settings.env %></p>",
    "ejs/part.ejs": "<h1><%= name %></h1>",
    "ejs/fails.ejs": "<%= none.of.this %>",
    "ejs/layout.ejs": "<main><%- body %></main><%- defineContent('foot') %>",
    "ejs/laid.ejs": "<b><%= name %></b><%- contentFor('foot') %><i>below</i>",
    "ejs/page.html": "<b><%= name %></b>",
    "pug/layout.pug": "html\n  body\n    block content",
    "pug/index.pug": "extends layout\nblock content\n  h1= name\n  p #{title}\n  each item in items\n    li= item\n",
    "handlebars/layouts/main.handlebars": "<main>{{{body}}}</main>",
    "handlebars/index.handlebars": "{{> part}}{{shout title}}{{#each items}}<li>{{this}}</li>{{/each}}",
    "handlebars/partials/part.handlebars": "<h1>{{name}}</h1>",
    "hbs/layout.hbs": "<main>{{{body}}}</main>",
    "hbs/index.hbs": "<h1>{{name}}</h1>{{whisper title}}",
    "nunjucks/layout.njk": "<main>{% block content %}{% endblock %}</main>",
    "nunjucks/index.njk": "{% extends 'layout.njk' %}{% block content %}<h1>{{ name }}</h1>{{ items | join('-') }}{% endblock %}",
};
for (const [name, text] of Object.entries(views)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
}

/** An app that renders `index` with values of the app, the reply and the call. */
function app(express, engineName, extension = engineName) {
    const made = express().set("views", join(root, engineName)).set("view engine", extension).set("env", "test");
    made.locals.title = "of the app";
    made.get("/", (request, response) => {
        response.locals.name = "<Ann>";
        response.render("index", { items: [1, 2] });
    });
    made.get("/none", (request, response) => response.render("none"));
    made.get("/callback", (request, response, next) => response.render("index", { name: "call", title: "back", items: [] }, (error, html) => error ? next(error) : response.send(html.toUpperCase())));
    // Paths of the folder differ from run to run.
    made.use((error, request, response, next) => response.status(500).json([error.name, error.message.replaceAll(root, "ROOT").slice(0, 100), error.view?.name]));
    return made;
}

middleware("ejs", ({ express, it }) => {
    it("includes, locals, escapes, and its errors", async ({ listen }) => {
        const made = app(express, "ejs").engine("html", ejs.renderFile);
        const routes = express.Router().get("/fails", (request, response) => response.render("fails")).get("/page", (request, response) => response.render("page.html", { name: "b" }));
        made.use("/more", routes);
        made.use((error, request, response, next) => response.status(500).json(error.message.split("\n").at(-1)));
        const peer = await listen(made);
        const page = await peer.get("/");
        assert.deepEqual([page.text, page.headers["content-type"]], ["<h1>&lt;Ann&gt;</h1><p>of the app test</p>", "text/html; charset=utf-8"]);
        assert.equal((await peer.get("/callback")).text, "<H1>CALL</H1><P>BACK TEST</P>");
        assert.equal((await peer.get("/more/page")).text, "<b>b</b>");
        assert.deepEqual((await peer.get("/none")).json, ["Error", 'Failed to lookup view "none" in views directory "ROOT/ejs"', "none"]);
        assert.equal((await peer.get("/more/fails")).json, "none is not defined");
    });

    it("app.render, and the view cache", async ({ note }) => {
        const made = app(express, "ejs").enable("view cache");
        const render = (name, options) => new Promise((resolve, reject) => made.render(name, options, (error, html) => error ? reject(error) : resolve(html)));
        note([await render("index", { name: "one", title: "t" }), await render("index", { name: "two", title: "t" }), Object.keys(made.cache)]);
        await assert.rejects(render("none", {}), /Failed to lookup view "none"/);
    });
});

middleware("express-ejs-layouts", ({ express, it }) => {
    it("wraps what is rendered, with named parts, or not", async ({ listen }) => {
        const made = app(express, "ejs").use(ejsLayouts).set("layout extractScripts", true);
        made.get("/laid", (request, response) => response.render("laid", { name: "in it" }));
        made.get("/bare", (request, response) => response.render("page.html", { name: "alone", layout: false }));
        made.engine("html", ejs.renderFile);
        const peer = await listen(made);
        assert.equal((await peer.get("/laid")).text, "<main><b>in it</b></main><i>below</i>");
        assert.equal((await peer.get("/bare")).text, "<b>alone</b>");
    });
});

middleware("pug", ({ express, it }) => {
    it("layouts, loops, escapes", async ({ listen }) => {
        const peer = await listen(app(express, "pug"));
        assert.equal((await peer.get("/")).text, "<html><body><h1>&lt;Ann&gt;</h1><p>of the app</p><li>1</li><li>2</li></body></html>");
        assert.equal((await peer.get("/callback")).text, "<HTML><BODY><H1>CALL</H1><P>BACK</P></BODY></HTML>");
        assert.equal((await peer.get("/none")).json[2], "none");
    });
});

middleware("express-handlebars", ({ express, it }) => {
    it("layouts, partials, helpers", async ({ listen }) => {
        const made = app(express, "handlebars");
        made.engine("handlebars", engine({ helpers: { shout: (text) => text.toUpperCase() } }));
        const peer = await listen(made);
        assert.equal((await peer.get("/")).text, "<main><h1>&lt;Ann&gt;</h1>OF THE APP<li>1</li><li>2</li></main>");
        assert.equal((await peer.get("/callback")).text, "<MAIN><H1>CALL</H1>BACK</MAIN>");
    });
});

middleware("hbs", ({ express, it }) => {
    it("a layout, helpers, and locals as template data", async ({ listen }) => {
        const engineOfItsOwn = hbs.create();
        engineOfItsOwn.registerHelper("whisper", (text) => text.toLowerCase());
        const made = app(express, "hbs").engine("hbs", engineOfItsOwn.__express);
        engineOfItsOwn.localsAsTemplateData(made);
        const peer = await listen(made);
        assert.equal((await peer.get("/")).text, "<main><h1>&lt;Ann&gt;</h1>of the app</main>");
    });
});

middleware("nunjucks", ({ express, it }) => {
    it("an environment that takes the app over", async ({ listen }) => {
        const made = app(express, "nunjucks", "njk");
        nunjucks.configure(join(root, "nunjucks"), { autoescape: true, express: made });
        const peer = await listen(made);
        assert.equal((await peer.get("/")).text, "<main><h1>&lt;Ann&gt;</h1>1-2</main>");
        assert.equal((await peer.get("/none")).status, 500);
    });
});
