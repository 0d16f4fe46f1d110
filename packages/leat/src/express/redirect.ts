import { type Response } from "./types";

/** The body of a redirect that the client accepts: `page` as HTML or text, or none. */
export function redirectBody(res: Response, page: (html: boolean) => string): string {
    let body = "";
    res.format({
        text: () => {
            body = page(false);
        },
        html: () => {
            body = page(true);
        },
        default: () => {
            body = "";
        },
    });
    return body;
}
