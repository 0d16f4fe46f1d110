const { createHash, randomUUID } = require("node:crypto");
const { createReadStream, createWriteStream, mkdtempSync, rmSync } = require("node:fs");
const { open, rename, rm } = require("node:fs/promises");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { Transform } = require("node:stream");
const { pipeline } = require("node:stream/promises");
const { ReplyError, send } = require("./reply");

const FILE_BYTES_MAX = 256 * 1024 * 1024;

/** Files live as long as the process does. */
const folder = mkdtempSync(join(tmpdir(), "leat-notes-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Streams the body to a file, no faster than the disk takes it, and tells its digest. */
async function store(request, response, name) {
    const tooLarge = new ReplyError(413, `at most ${FILE_BYTES_MAX} bytes`, { connection: "close" });
    if (Number(request.headers["content-length"]) > FILE_BYTES_MAX) throw tooLarge;
    const hash = createHash("sha256");
    let bytes = 0;
    const measure = new Transform({
        transform(part, _encoding, done) {
            bytes += part.length;
            hash.update(part);
            // A body of no announced length is cut off, and its client with it.
            done(bytes > FILE_BYTES_MAX ? tooLarge : null, part);
        },
    });
    // Renamed when it is whole: a download never sees half a file.
    const partial = join(folder, `.${randomUUID()}`);
    try {
        await pipeline(request, measure, createWriteStream(partial));
        await rename(partial, join(folder, name));
    } finally {
        await rm(partial, { force: true });
    }
    send(response, 201, { name, bytes, sha256: hash.digest("hex") }, { location: `/files/${name}` });
}

async function fetch(_request, response, name) {
    const file = await open(join(folder, name)).catch(() => {
        throw new ReplyError(404, "there is no such file");
    });
    const { size } = await file.stat();
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": size });
    await pipeline(createReadStream("", { fd: file }), response);
}

module.exports = { fetch, store };
