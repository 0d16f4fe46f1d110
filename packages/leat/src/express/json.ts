// `express.json`: body-parser's, except that a small plain body which is all there is parsed without its stream.
import { type IncomingMessage } from "node:http";
import { jsonBytes, takeBody } from "../http/body";
import { peekField } from "../http/incoming";
import { type Dialect } from "./dialect";
import { type Lazy, lazy } from "./libraries";
import { type Middleware, type Next, type Request, type Response } from "./types";

interface Options {
    limit?: unknown;
    strict?: unknown;
    inflate?: unknown;
    reviver?: unknown;
    type?: unknown;
    verify?: unknown;
    defaultCharset?: unknown;
}

/** What body-parser takes where nothing is said. */
const LIMIT_BYTES = 102_400;

/** Longer bodies come in more than one piece anyway. */
const WHOLE_BYTES_MAX = 16_384;

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;
const DIGITS = /^[0-9]{1,9}$/;
const LIMIT = /^(\d{1,9}(?:\.\d{1,9})?) *(b|kb|mb|gb)?$/i;
const UNIT_BYTES: Record<string, number> = { b: 1, kb: 1 << 10, mb: 1 << 20, gb: 1 << 30 };

interface Parsing extends Request {
    _body?: boolean;
}

/** Middleware that parses JSON bodies, with the options of body-parser. */
export function json({ libraries, version }: Dialect, options: Options | undefined): Middleware {
    const given = { ...options };
    const limit = limitOf(given.limit);
    // What else there is to be done is body-parser's, and so are complaints about options.
    if (limit === undefined || given.type || given.verify || given.reviver || given.defaultCharset) return libraries.bodyParser().json(options);
    const parser = lazy(() => libraries.bodyParser().json(given));
    const taker = new JsonTaker(parser, given.strict !== false, version === 4);
    // Tools know the layer by this name.
    return function jsonParser(req: Parsing, res, next) {
        const bytes = wholeBytes(req);
        if (bytes > 0 && bytes <= limit && !(version === 4 && req._body) && takeBody(req, bytes, taker, res, next)) {
            if (version === 4) req.body ||= {};
            else if (!("body" in req)) (req as Request).body = undefined;
            return;
        }
        parser()(req, res, next);
    };
}

class JsonTaker {
    constructor(
        private readonly parser: Lazy<Middleware>,
        readonly strict: boolean,
        private readonly marks: boolean,
    ) {}

    parse(body: Buffer): unknown {
        const text = body.toString("utf8");
        const first = text.charCodeAt(0);
        // An object or an array; whatever else may come is looked at by body-parser, whose errors are part of the API.
        if (this.strict ? first !== 0x7b && first !== 0x5b : first === 0xfeff) return undefined;
        try {
            return JSON.parse(text) as unknown;
        } catch {
            return undefined;
        }
    }

    done(req: Parsing, _res: Response, next: Next, value: unknown): void {
        if (this.marks) req._body = true;
        req.body = value;
        next();
    }

    read(req: Request, res: Response, next: Next): void {
        this.parser()(req, res, next);
    }
}

/** The length of a body that is plain JSON in UTF-8; 0 for all others. */
function wholeBytes(req: IncomingMessage): number {
    const known = jsonBytes === undefined ? -1 : jsonBytes(req);
    if (known >= 0) return known <= WHOLE_BYTES_MAX ? known : 0;
    const type = peekField(req, "content-type");
    if (typeof type !== "string" || (type !== "application/json" && !JSON_TYPE.test(type))) return 0;
    const length = peekField(req, "content-length");
    if (typeof length !== "string" || !DIGITS.test(length)) return 0;
    if (peekField(req, "content-encoding") !== undefined || peekField(req, "transfer-encoding") !== undefined) return 0;
    const bytes = Number(length);
    return bytes <= WHOLE_BYTES_MAX ? bytes : 0;
}

/** A limit in bytes, if it is given in a usual way. */
function limitOf(limit: unknown): number | undefined {
    if (limit == null) return LIMIT_BYTES;
    if (typeof limit === "number") return limit >= 0 ? limit : undefined;
    const parts = typeof limit === "string" ? LIMIT.exec(limit) : null;
    if (parts === null) return undefined;
    const unit = parts[2]?.toLowerCase();
    // Without a unit the library takes the whole part.
    return Math.floor(Number(parts[1]) * (unit === undefined ? 1 : (UNIT_BYTES[unit] as number)));
}
