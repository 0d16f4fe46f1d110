// Hashes, HMACs, derived keys, random numbers and ciphers.
const crypto = require("crypto");
const { Readable, pipeline } = require("stream");
const { promisify } = require("util");

function show(name, work) {
    try {
        const value = work();
        console.log(name, Buffer.isBuffer(value) ? value.toString("hex") : value);
    } catch (error) {
        console.log(name, "throws", error.name, error.code, error.message);
    }
}
for (const name of ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512-256", "sha3-256", "shake128", "SHA256", "RSA-SHA256", "sha-256", "nope"]) {
    show(name, () => crypto.createHash(name).update("hello").update(Buffer.from("é")).digest("hex"));
    show(`hmac ${name}`, () => (name.startsWith("shake") ? "" : crypto.createHmac(name, "key").update("hello").digest("base64")));
}
for (const encoding of ["hex", "base64", "base64url", "latin1", undefined, "buffer"]) show(String(encoding), () => crypto.createHash("sha1").update("x").digest(encoding));
show("encoding of input", () => crypto.createHash("md5").update("00ff", "hex").update("aGk=", "base64").digest("hex"));
show("views", () => crypto.createHash("md5").update(new Uint16Array([1, 2])).update(new DataView(new ArrayBuffer(3), 1)).digest("hex"));
show("bad data", () => crypto.createHash("md5").update(5));
show("no data", () => crypto.createHash("md5").update());
show("twice", () => { const hash = crypto.createHash("md5"); hash.digest(); hash.digest(); });
show("update after", () => { const hash = crypto.createHash("md5"); hash.digest(); hash.update("x"); });
show("hmac twice", () => { const hmac = crypto.createHmac("md5", "k"); hmac.digest(); return hmac.digest("hex"); });
show("copy", () => { const hash = crypto.createHash("md5").update("a"); const copy = hash.copy().update("b"); return [hash.digest("hex"), copy.digest("hex")]; });
show("length", () => crypto.createHash("shake256", { outputLength: 5 }).update("").digest("hex"));
show("bad algorithm", () => crypto.createHash(5));
show("empty key", () => crypto.createHmac("sha256", "").update("x").digest("hex"));
show("no key", () => crypto.createHmac("sha256"));
show("key object", () => crypto.createHmac("sha256", crypto.createSecretKey(Buffer.from("key"))).update("x").digest("hex"));
show("instanceof", () => [crypto.createHash("md5") instanceof crypto.Hash, crypto.createHmac("md5", "") instanceof crypto.Hmac]);
show("hash at once", () => [crypto.hash("sha1", "hello"), crypto.hash("sha1", Buffer.from("hello"), "base64"), crypto.hash("md5", "x", "buffer").length]);
show("hashes", () => ["md5", "sha1", "sha256", "sha512"].every((name) => crypto.getHashes().includes(name)));
show("equal", () => [crypto.timingSafeEqual(Buffer.from("ab"), Buffer.from("ab")), crypto.timingSafeEqual(Buffer.from("ab"), new Uint8Array([97, 99]))]);
show("unequal lengths", () => crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("ab")));
show("equal of text", () => crypto.timingSafeEqual("a", Buffer.from("ab")));

show("pbkdf2", () => crypto.pbkdf2Sync("password", "salt", 1000, 32, "sha512"));
show("pbkdf2 rounds", () => crypto.pbkdf2Sync("password", "salt", 0, 32, "sha512"));
show("pbkdf2 digest", () => crypto.pbkdf2Sync("password", "salt", 1, 32, "nope"));
show("pbkdf2 no digest", () => crypto.pbkdf2Sync("password", "salt", 1, 32));
show("scrypt", () => crypto.scryptSync("password", "salt", 32));
show("scrypt costs", () => crypto.scryptSync("password", "salt", 16, { N: 1024, r: 4, p: 2 }));
show("scrypt bad", () => crypto.scryptSync("password", "salt", 16, { N: 3 }));
show("scrypt memory", () => crypto.scryptSync("password", "salt", 16, { N: 2 ** 20 }));
show("hkdf", () => Buffer.from(crypto.hkdfSync("sha256", "key", "salt", "info", 42)));
show("hkdf length", () => crypto.hkdfSync("sha256", "key", "salt", "info", 1e6));
show("hkdf digest", () => crypto.hkdfSync("nope", "key", "salt", "info", 10));
show("random", () => [crypto.randomBytes(8).length, Buffer.isBuffer(crypto.randomBytes(0)), crypto.randomBytes(16).equals(crypto.randomBytes(16))]);
for (const size of [-1, "a", 2 ** 31, NaN]) show(`random ${size}`, () => crypto.randomBytes(size));
show("uuid", () => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()));
show("uuid options", () => crypto.randomUUID(1));
show("int", () => { for (let at = 0; at < 500; at++) { const drawn = crypto.randomInt(3, 9); if (drawn < 3 || drawn > 8) return drawn; } return "fine"; });
for (const given of [[5, 2], [2 ** 50], ["a"], [1.5], [3, 3]]) show(`int ${given}`, () => crypto.randomInt(...given));
show("fill", () => { const bytes = Buffer.alloc(8); crypto.randomFillSync(bytes, 4); return [bytes.subarray(0, 4).toString("hex"), bytes.length]; });
show("fill text", () => crypto.randomFillSync("a"));
show("values", () => crypto.getRandomValues(new Uint32Array(3)).length);
show("web", () => [typeof crypto.webcrypto.subtle.digest, crypto.webcrypto.randomUUID().length]);
show("constants", () => [crypto.constants.RSA_PKCS1_PSS_PADDING, crypto.constants.RSA_PSS_SALTLEN_DIGEST]);

const key = Buffer.from("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "hex");
const vector = Buffer.from("0f0e0d0c0b0a09080706050403020100", "hex");
for (const bits of [128, 192, 256]) {
    for (const mode of ["cbc", "ctr", "ecb"]) {
        const name = `aes-${bits}-${mode}`;
        show(name, () => {
            const start = mode === "ecb" ? null : vector;
            const cipher = crypto.createCipheriv(name, key.subarray(0, bits / 8), start);
            const made = cipher.update("hello wörld, this is long enough for blocks", "utf8", "hex") + cipher.final("hex");
            const decipher = crypto.createDecipheriv(name, key.subarray(0, bits / 8), start);
            return [made, decipher.update(made, "hex", "utf8") + decipher.final("utf8")];
        });
    }
    show(`aes-${bits}-gcm`, () => {
        const cipher = crypto.createCipheriv(`aes-${bits}-gcm`, key.subarray(0, bits / 8), vector.subarray(0, 12));
        cipher.setAAD(Buffer.from("header"));
        const made = Buffer.concat([cipher.update("secret"), cipher.update(Buffer.from(" text")), cipher.final()]);
        const tag = cipher.getAuthTag();
        const decipher = crypto.createDecipheriv(`aes-${bits}-gcm`, key.subarray(0, bits / 8), vector.subarray(0, 12)).setAAD(Buffer.from("header")).setAuthTag(tag);
        return [made.toString("hex"), tag.toString("hex"), decipher.update(made, undefined, "utf8") + decipher.final("utf8")];
    });
}
const gcm = (kind) => crypto[`create${kind}iv`]("aes-128-gcm", key.subarray(0, 16), vector.subarray(0, 12));
show("long vector", () => { const cipher = crypto.createCipheriv("aes-128-gcm", key.subarray(0, 16), vector); return [cipher.update("x", "utf8", "hex"), cipher.final("hex"), cipher.getAuthTag("hex").toString("hex")]; });
show("wrong tag", () => { const decipher = gcm("Decipher"); decipher.setAuthTag(Buffer.alloc(16)); decipher.update("00", "hex"); return decipher.final(); });
show("no tag", () => { const decipher = gcm("Decipher"); decipher.update("00", "hex"); return decipher.final(); });
show("short tag", () => gcm("Decipher").setAuthTag(Buffer.alloc(1)));
show("early tag", () => gcm("Cipher").getAuthTag());
show("bad cipher", () => crypto.createCipheriv("nope", key, vector));
show("bad vector", () => crypto.createCipheriv("aes-128-cbc", key.subarray(0, 16), "short"));
show("bad key", () => crypto.createCipheriv("aes-128-cbc", "short", vector));
show("final twice", () => { const cipher = crypto.createCipheriv("aes-128-cbc", key.subarray(0, 16), vector); cipher.final(); cipher.final(); });
show("update after final", () => { const cipher = crypto.createCipheriv("aes-128-cbc", key.subarray(0, 16), vector); cipher.final(); cipher.update("x"); });
show("no padding", () => { const cipher = crypto.createCipheriv("aes-128-cbc", key.subarray(0, 16), vector); cipher.setAutoPadding(false); cipher.update("a"); cipher.final(); });
show("cut", () => { const decipher = crypto.createDecipheriv("aes-128-cbc", key.subarray(0, 16), vector); decipher.update(Buffer.alloc(15)); decipher.final(); });
show("info", () => [crypto.getCipherInfo("aes-128-cbc"), crypto.getCipherInfo("nope"), crypto.getCipherInfo("aes-256-gcm")]);

async function main() {
    console.log((await promisify(crypto.pbkdf2)("p", "s", 10, 8, "sha1")).toString("hex"), (await promisify(crypto.scrypt)("p", "s", 8)).toString("hex"));
    console.log((await promisify(crypto.randomBytes)(5)).length, (await promisify(crypto.randomFill)(Buffer.alloc(3))).length, typeof (await promisify(crypto.randomInt)(5)));
    console.log(Buffer.from(await promisify(crypto.hkdf)("sha1", "k", "", "", 8)).toString("hex"));
    console.log(Buffer.from(await crypto.webcrypto.subtle.digest("SHA-256", Buffer.from("x"))).toString("hex"));
    await new Promise((resolve) => {
        const hash = crypto.createHash("sha256");
        Readable.from(["he", "llo"]).pipe(hash).on("finish", () => resolve(console.log("piped", hash.digest("hex"))));
    });
    await new Promise((resolve) => {
        const hash = crypto.createHash("sha256").setEncoding("hex");
        hash.on("data", (text) => console.log("data", text)).on("end", resolve);
        hash.write("hel");
        hash.end("lo");
    });
    await new Promise((resolve) => {
        const parts = [];
        const cipher = crypto.createCipheriv("aes-128-ctr", key.subarray(0, 16), vector);
        cipher.on("data", (part) => parts.push(part));
        pipeline(Readable.from([Buffer.from("hello"), Buffer.from(" there")]), cipher, (error) => resolve(console.log("pipeline", error, Buffer.concat(parts).toString("hex"))));
    });
    const { subtle } = crypto.webcrypto;
    const secret = await subtle.importKey("raw", Buffer.from("secret"), { name: "HMAC", hash: "SHA-256" }, true, ["sign", "verify"]);
    const mac = await subtle.sign("HMAC", secret, Buffer.from("data"));
    console.log(Buffer.from(mac).toString("hex"), await subtle.verify("HMAC", secret, mac, Buffer.from("data")), await subtle.exportKey("jwk", secret).then(({ k, kty }) => [k, kty]));
    const aes = await subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]);
    const sealed = await subtle.encrypt({ name: "AES-GCM", iv: vector.subarray(0, 12) }, aes, Buffer.from("sealed"));
    console.log(Buffer.from(sealed).toString("hex"), Buffer.from(await subtle.decrypt({ name: "AES-GCM", iv: vector.subarray(0, 12) }, aes, sealed)).toString());
    await subtle.exportKey("raw", aes).catch((error) => console.log(error.name));
}
main();
