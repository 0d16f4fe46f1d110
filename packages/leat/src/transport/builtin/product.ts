// What a client says of itself with each call, and whether the peer is what it should be.
import { type Responded } from "../../middleware/context";
import { type HeaderPatch, type Response } from "../../middleware/message";
import { middleware, type Middleware } from "../../middleware/middleware";
import { TransportError, wrongOption } from "../error";
import { objectOf } from "../given";
import { listOf } from "./header";

/** What responses of the product carry. */
export interface ProductCheck {
    /** The header, in lower case: "x-elastic-product". */
    readonly header: string;
    /** Its value. */
    readonly value: string;
}

/** The client's side of a product. */
export interface ProductOptions {
    /** Set on each request, names in lower case: `{ "user-agent": "my-sdk/1.0" }`. `null` takes a header away. */
    readonly headers?: HeaderPatch;
    /** Checked on each response with a status from 200 to 299; others may come from something before it. Default: no check. */
    readonly check?: ProductCheck;
}

const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/**
 * Sets the same headers on each request, and refuses responses of another product (`product.mismatch`).
 *
 * @throws {TransportError} `options.invalid`
 */
export function product(options: ProductOptions): Middleware<"call"> {
    const given = objectOf("product", options, ["headers", "check"]);
    if (given["headers"] === undefined && given["check"] === undefined) throw wrongOption("product", options, "headers, check, or both");
    const headers = headersOf(given["headers"] ?? {});
    const check = given["check"] === undefined ? undefined : checkOf(given["check"]);
    const patch = Object.freeze({ headers });
    return middleware({
        name: "product",
        scope: "call",
        onRequest: () => patch,
        ...(check !== undefined && { onResponse: ({ response }: Responded) => checked(check, response) }),
    });
}

function checked({ header, value }: ProductCheck, response: Response): undefined {
    if (response.status < 200 || response.status > 299) return undefined;
    const found = listOf(response.headers, header);
    if (found === value) return undefined;
    const what = found === undefined ? `has no header "${header}"` : `has another value in the header "${header}"`;
    throw new TransportError("product.mismatch", `the response ${what}, so the peer is not the product that this client is for ("${value}")`, { response });
}

function headersOf(given: unknown): HeaderPatch {
    if (typeof given !== "object" || given === null || Array.isArray(given)) throw wrongOption("product.headers", given, 'headers by their names: { "user-agent": "my-sdk/1.0" }');
    for (const [name, value] of Object.entries(given)) {
        if (!NAME.test(name)) throw wrongOption("product.headers", given, `names of headers in lower case, and "${name}" is none`);
        const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
        if (value !== null && typeof value !== "string" && !isList) throw wrongOption(`product.headers["${name}"]`, value, "a text, an array of texts, or null");
    }
    return Object.freeze({ ...(given as HeaderPatch) });
}

function checkOf(given: unknown): ProductCheck {
    const { header, value } = objectOf("product.check", given, ["header", "value"]);
    if (typeof header !== "string" || !NAME.test(header)) throw wrongOption("product.check.header", header, 'the name of a header in lower case: "x-elastic-product"');
    if (typeof value !== "string" || value === "") throw wrongOption("product.check.value", value, "the value that the header has: \"Elasticsearch\"");
    return { header, value };
}
