// Routes, JSON, a middleware, errors.
import express from "express";
import type { NextFunction, Request, Response } from "express";
import { Board } from "./board.ts";

const NOTICES_MAX = 100;
const TEXT_CHARACTERS_MAX = 200;

/** An app of its own, with an empty board. */
export function makeApp(): express.Express {
    const board = new Board(NOTICES_MAX);
    const app = express();
    app.use(express.json({ limit: "4kb" }));
    app.use((request: Request, response: Response, next: NextFunction) => {
        response.set("x-worker", process.env["LEAT_WORKER"] ?? "0");
        next();
    });

    app.get("/notices", (request: Request, response: Response) => {
        response.json(board.all());
    });
    app.get("/notices/:id", (request: Request, response: Response, next: NextFunction) => {
        const notice = board.find(Number(request.params["id"]));
        if (notice) response.json(notice);
        else next();
    });
    app.post("/notices", (request: Request, response: Response) => {
        const text: unknown = request.body?.text;
        if (typeof text !== "string" || text.length === 0 || text.length > TEXT_CHARACTERS_MAX) {
            response.status(400).json({ error: `text must be a text of 1 to ${TEXT_CHARACTERS_MAX} characters` });
            return;
        }
        response.status(201).json(board.put(text));
    });

    app.use((request: Request, response: Response) => {
        response.status(404).json({ error: "there is nothing here; try /notices" });
    });
    app.use((error: { status?: number; message: string }, request: Request, response: Response, next: NextFunction) => {
        if (response.headersSent) next(error);
        else response.status(error.status ?? 500).json({ error: error.message });
    });
    return app;
}
