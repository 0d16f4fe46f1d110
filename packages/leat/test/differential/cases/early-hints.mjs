// writeEarlyHints.
import { get, go, logged, reply, replies, until } from "../script.mjs";

const LINK = "</style.css>; rel=preload; as=style";

const hints = (name, value, script = [get(), replies(2)]) => ({
    name,
    handle(req, res, { attempt, log }) {
        attempt("hints", () => res.writeEarlyHints(value));
        log(res.headersSent);
        res.end("x");
    },
    script,
});

export const cases = [
    hints("one link", { link: LINK }),
    hints("several links", { link: [LINK, "</a.js>; rel=preload; as=script"] }),
    hints("other fields beside", { "X-Trace": "1", link: LINK, "x-more": "2" }),
    hints("no link sends nothing", { "X-Trace": "1" }, [get(), reply]),
    hints("an empty list sends nothing", { link: [] }, [get(), reply]),
    hints("null as link sends nothing", { link: null }, [get(), reply]),
    hints("an invalid link", { link: "bad\r\nlink" }, [get(), reply]),
    hints("no link at all in the text", { link: "nonsense" }, [get(), reply]),
    hints("a string", "text", [get(), reply]),
    hints("nothing", undefined, [get(), reply]),
    {
        name: "with a callback, before the reply",
        handle(req, res, { log, when }) {
            res.writeEarlyHints({ link: LINK }, () => log("written"));
            when("end", () => res.end("x"));
        },
        script: [get(), until("\r\n\r\n"), logged("written"), go("end"), reply],
    },
    {
        name: "twice, then other informational replies",
        handle(req, res) {
            res.writeEarlyHints({ link: LINK });
            res.writeProcessing();
            res.writeEarlyHints({ link: LINK });
            res.writeContinue();
            res.end("x");
        },
        script: [get(), replies(5), get(), replies(5)],
    },
    {
        name: "does not touch the fields of the reply",
        handle(req, res) {
            res.setHeader("X-A", 1);
            res.writeEarlyHints({ link: LINK });
            res.setHeader("X-B", 2);
            res.end("x");
        },
        script: [get(), replies(2)],
    },
];
