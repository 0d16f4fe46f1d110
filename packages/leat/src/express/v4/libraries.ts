// The libraries in the versions that Express 4 uses.
import { lazy, libraries as current, type Libraries, type Mime } from "../libraries";

interface OldMime {
    lookup(name: string): string;
    charsets: { lookup(type: string): string | undefined };
}

const oldMime = lazy(() => (require("send-0") as { mime: OldMime }).mime);

const CHARSET = /;\s*charset\s*=/;

const mime: Mime = {
    lookup: (name) => oldMime().lookup(name),
    contentType(type) {
        if (CHARSET.test(type)) return type;
        const charset = oldMime().charsets.lookup(type.split(";")[0] as string);
        return charset ? `${type}; charset=${charset.toLowerCase()}` : type;
    },
};

export const libraries: Libraries = {
    ...current,
    accepts: lazy(() => require("accepts-1") as never),
    bodyParser: lazy(() => require("body-parser-1") as never),
    contentDisposition: lazy(() => require("content-disposition-0") as never),
    contentType: lazy(() => require("content-type-1") as never),
    cookieSignature: lazy(() => require("cookie-signature-1.0") as never),
    finalHandler: lazy(() => require("finalhandler-1") as never),
    fresh: lazy(() => require("fresh-0") as never),
    mime: () => mime,
    qs: lazy(() => require("qs-6.16") as never),
    rangeParser: lazy(() => require("range-parser-1.2") as never),
    send: lazy(() => require("send-0") as never),
    serveStatic: lazy(() => require("serve-static-1") as never),
    typeIs: lazy(() => require("type-is-1") as never),
};
