// A chat of rooms on one port: PORT [18141].
"use strict";

const { join } = require("node:path");
const { createServer, loadSchema, serviceOf } = require("leat/rpc");
const { createRooms } = require("./rooms");

const Rooms = serviceOf(loadSchema(join(__dirname, "chat.proto")), "chat.v1.Rooms");
const server = createServer({ routes: (router) => router.service(Rooms, createRooms()) });
server.listen(Number(process.env.PORT ?? 18141), "127.0.0.1", () => {
    console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
