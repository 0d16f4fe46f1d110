// The links: a Router that an app mounts where it likes.
const { Router } = require("leat/express");

const LINKS_MAX = 10_000;
const NAME = /^[\w-]{1,40}$/;

/** Links by name: where they lead, and how often they were followed. */
const links = new Map();

/** An error that an Express app answers with its status. */
function wrong(status, message) {
    return Object.assign(new Error(message), { status });
}

function parsed({ name, to } = {}) {
    if (typeof name !== "string" || !NAME.test(name)) throw wrong(422, "name must be 1 to 40 letters, digits, _ or -");
    if (!URL.canParse(to) || !/^https?:$/.test(new URL(to).protocol)) throw wrong(422, "to must be an http or https address");
    return { name, to, followed: 0 };
}

const router = Router();

router.param("name", (request, _response, next, name) => {
    request.link = links.get(name);
    next(request.link === undefined ? wrong(404, `no link is called ${name}`) : undefined);
});

router
    .route("/")
    .get((_request, response) => response.json([...links.values()]))
    .post(async (request, response) => {
        const link = parsed(request.body);
        if (links.has(link.name)) throw wrong(409, `${link.name} is taken`);
        if (links.size >= LINKS_MAX) throw wrong(507, "no more links fit here");
        links.set(link.name, link);
        response.status(201).location(`${request.baseUrl}/${link.name}`).json(link);
    });

router
    .route("/:name")
    .get((request, response) => response.json(request.link))
    .delete((request, response) => {
        links.delete(request.link.name);
        response.sendStatus(204);
    });

/** Where a link leads, counted; undefined where there is none of that name. */
function follow(name) {
    const link = links.get(name);
    if (link !== undefined) link.followed += 1;
    return link;
}

module.exports = { router, follow };
