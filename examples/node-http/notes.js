const { publish } = require("./events");
const { received, ReplyError, send } = require("./reply");

const NOTES_MAX = 1_000;

/** Notes by number, the oldest first. */
const notes = new Map();
let last = 0;

function list(_request, response) {
    send(response, 200, [...notes.values()]);
}

async function create(request, response) {
    const body = await received(request);
    if (typeof body?.text !== "string" || body.text === "") throw new ReplyError(422, "a note needs a text");
    if (notes.size === NOTES_MAX) throw new ReplyError(409, `there are ${NOTES_MAX} notes already`);
    const note = { id: ++last, text: body.text };
    notes.set(note.id, note);
    publish("created", note);
    send(response, 201, note, { location: `/notes/${note.id}` });
}

function show(_request, response, id) {
    const note = notes.get(Number(id));
    if (note === undefined) throw new ReplyError(404, "there is no such note");
    send(response, 200, note);
}

function remove(_request, response, id) {
    if (!notes.delete(Number(id))) throw new ReplyError(404, "there is no such note");
    publish("removed", { id: Number(id) });
    response.writeHead(204).end();
}

module.exports = { create, list, remove, show };
