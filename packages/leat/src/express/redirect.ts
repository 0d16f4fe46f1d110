import { type Response } from "./types";

/** Sets Location, and gives the body that the client accepts: `page` as HTML or text, or none. */
export function redirectBody(res: Response, url: unknown, page: (html: boolean, target: string) => string): string {
    const target = res.location(url).get("Location") as string;
    let body = "";
    res.format({
        text: () => {
            body = page(false, target);
        },
        html: () => {
            body = page(true, target);
        },
        default: () => {
            body = "";
        },
    });
    return body;
}
