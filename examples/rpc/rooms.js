// Rooms in memory: what was said last in each, and who listens.
"use strict";

const { Code, ConnectError } = require("@connectrpc/connect");

/** What waits for a listener that is slow, at most; older lines are dropped. */
const WAITING_MAX = 100;

class Room {
    last;
    listeners = new Set();
}

/** The implementation of `chat.v1.Rooms`. */
function createRooms() {
    const rooms = new Map();
    const named = (name) => {
        if (name === "") throw new ConnectError("a room has a name", Code.InvalidArgument);
        if (!rooms.has(name)) rooms.set(name, new Room());
        return rooms.get(name);
    };
    return {
        last({ room }) {
            const line = rooms.get(room)?.last;
            if (line === undefined) throw new ConnectError(`nobody has said anything in ${room}`, Code.NotFound);
            return line;
        },
        say(line) {
            const room = named(line.room);
            room.last = line;
            for (const hear of room.listeners) hear(line);
            return { listeners: room.listeners.size };
        },
        async* listen({ room: name }, { signal }) {
            const room = named(name);
            const waiting = [];
            let wake = () => {};
            const hear = (line) => {
                if (waiting.length === WAITING_MAX) waiting.shift();
                waiting.push(line);
                wake();
            };
            signal.addEventListener("abort", () => wake());
            room.listeners.add(hear);
            try {
                while (!signal.aborted) {
                    if (waiting.length > 0) yield waiting.shift();
                    else await new Promise((resolve) => { wake = resolve; });
                }
            } finally {
                room.listeners.delete(hear);
            }
        },
    };
}

module.exports = { createRooms };
