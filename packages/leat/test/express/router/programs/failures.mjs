// Handlers that throw, reject, and give back what is no promise.
import { answer, caught, mended, pass } from "./handlers.mjs";

const thenable = (settle) => ({ then: settle });

export const failures = [
    {
        name: "handlers that throw",
        make: ({ router }) =>
            router()
                .use("/a", () => {
                    throw new Error("use");
                })
                .get("/b", () => {
                    throw new Error("route");
                })
                .get("/c", () => {
                    throw undefined;
                })
                .get("/d", () => {
                    throw "route";
                })
                .get("/d", pass("after d"))
                .use("/e", () => {
                    throw "router";
                })
                .use(() => {
                    throw null;
                })
                .use(caught("first"))
                // eslint-disable-next-line @typescript-eslint/no-unused-vars -- Its four parameters make it a handler of errors.
                .use((error, req, res, next) => {
                    req.log("throws again");
                    throw new Error(`again: ${error.message}`);
                })
                .use(mended("mend"))
                .use(answer("end")),
        requests: ["/a", "/b", "/c", "/d", "/e", "/f"],
    },
    {
        name: "handlers that throw after next",
        make: ({ router }) =>
            router()
                .use((req, res, next) => {
                    next();
                    throw new Error("after next");
                })
                .get("/a", pass("a"))
                .use(caught("errors"))
                .get("/b", pass("b")),
        requests: ["/a", "/b"],
    },
    {
        name: "bad percent encodings",
        make: ({ router }) => router().get("/a/:x", pass("a")).use("/:y", pass("y")).get("/:x/b", pass("b")).get(/^\/(.*)$/, pass("all")).use(caught("errors")).get("/c", pass("c")),
        requests: ["/a/%", "/a/%zz", "/%zz", "/%zz/b", "/a/%E0%A4%A", "/%25", "/a/%2525", "/c"],
    },
    {
        name: "bad percent encodings and an error before",
        make: ({ router }) =>
            router()
                .use((req, res, next) => next(new Error("before")))
                .get("/:x", pass("a"))
                .use("/:x", caught("errors"))
                .use(caught("end")),
        requests: ["/%zz", "/a"],
    },
    {
        name: "handlers of more parameters than four, and of none",
        make: ({ router }) =>
            router()
                .use((a, b, c, d, e) => void [a, b, c, d, e])
                .use((...all) => void all[0].log("rest", all.length) || all[2]())
                .get("/a", (a, b, c, d, e) => void [a, b, c, d, e], (error, req, res, next) => next(error), pass("a")),
        requests: ["/a", "/b"],
    },
    {
        name: "rejections",
        only: 5,
        make: ({ router }) =>
            router()
                .use("/a", async () => {
                    throw new Error("use");
                })
                .get("/b", () => Promise.reject(new Error("route")))
                .get("/c", () => Promise.reject())
                .get("/d", () => Promise.reject("route"), pass("never"))
                .get("/d", pass("after"))
                .use("/e", () => Promise.reject("router"))
                .use("/f", async (req, res, next) => next())
                .use("/f", async (req, res, next) => {
                    next();
                    throw new Error("after next");
                })
                .use(caught("first"))
                .use(async (error) => {
                    throw new Error(`again: ${error?.message}`);
                })
                .use(caught("second"))
                .use(() => Promise.reject(0)),
        requests: ["/a", "/b", "/c", "/d", "/e", "/f"],
    },
    {
        name: "what looks like a promise",
        only: 5,
        make: ({ router }) =>
            router()
                .use("/a", () => thenable((ok, no) => no(new Error("thenable"))))
                .use("/b", () => thenable(() => void 0))
                .use("/c", () =>
                    thenable(() => {
                        throw new Error("then throws");
                    }),
                )
                .use("/d", (req, res, next) => (next(), { then: 5 }))
                .use("/e", (req, res, next) => (next(), Object.assign(() => {}, { then: (ok) => ok() })))
                .use("/f", (req, res, next) => (next(), null))
                .use(caught("errors"))
                .use("/b", answer("b")),
        requests: ["/a", "/c", "/d", "/e", "/f"],
    },
];
