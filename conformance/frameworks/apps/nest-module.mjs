// A Nest application without a compiler: the decorators are called as the functions that they are.
import "reflect-metadata";
import { Readable } from "node:stream";
import { BadRequestException, Body, Controller, Get, Header, HttpCode, Injectable, Module, Param, Post, Query, Req, Res, Sse, StreamableFile } from "@nestjs/common";
import { from, map } from "rxjs";
import { bytesOf, digest, pieces } from "../bytes.mjs";

/** What Nest's own decorators would do to a method and its parameters. */
function decorate(type, method, decorators, parameters = []) {
    const descriptor = Object.getOwnPropertyDescriptor(type.prototype, method);
    for (const decorator of decorators) decorator(type.prototype, method, descriptor);
    parameters.forEach((decorator, at) => decorator(type.prototype, method, at));
}

class Items {
    find(id) {
        if (id === "bad") throw new BadRequestException("a bad id");
        return { id };
    }
}
Injectable()(Items);

export const STREAM_BYTES = 2_000_000;

class ItemsController {
    constructor(items) {
        this.items = items;
    }
    root() {
        return "root";
    }
    find(id, query) {
        return { ...this.items.find(id), query };
    }
    create(body) {
        return body;
    }
    throws() {
        throw new Error("hidden");
    }
    stream() {
        return new StreamableFile(Readable.from(pieces(bytesOf(STREAM_BYTES), 50_000), { objectMode: false }), { type: "application/octet-stream" });
    }
    events() {
        return from([1, 2, 3]).pipe(map((data) => ({ data: { data } })));
    }
    async upload(request) {
        // The Fastify adapter gives its own request, whose stream is `raw`.
        const chunks = [];
        for await (const chunk of request.raw ?? request) chunks.push(chunk);
        return { digest: digest(Buffer.concat(chunks)) };
    }
    own(response) {
        const raw = response.raw ?? response;
        raw.writeHead(202, { "content-type": "text/plain", "x-own": "1" });
        raw.end("own");
    }
}
Reflect.defineMetadata("design:paramtypes", [Items], ItemsController);
Controller()(ItemsController);
decorate(ItemsController, "root", [Get("/")]);
decorate(ItemsController, "find", [Get("/items/:id"), Header("x-item", "1")], [Param("id"), Query()]);
decorate(ItemsController, "create", [Post("/items"), HttpCode(202)], [Body()]);
decorate(ItemsController, "throws", [Get("/throws")]);
decorate(ItemsController, "stream", [Get("/stream")]);
decorate(ItemsController, "events", [Sse("/events")]);
decorate(ItemsController, "own", [Get("/own")], [Res()]);
decorate(ItemsController, "upload", [Post("/upload")], [Req()]);

export class AppModule {}
Module({ controllers: [ItemsController], providers: [Items] })(AppModule);
