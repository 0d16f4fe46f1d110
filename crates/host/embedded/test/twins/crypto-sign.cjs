// Keys and signatures. The keys of keys/ are for this test alone.
const crypto = require("crypto");
const pairs = require("./keys/pairs.json");

function show(name, work) {
    try {
        const value = work();
        console.log(name, Buffer.isBuffer(value) ? value.toString("hex") : JSON.stringify(value));
    } catch (error) {
        console.log(name, "throws", error.name, error.code, error.message);
    }
}
for (const [name, { privateKey, publicKey }] of Object.entries(pairs)) {
    const [secret, open] = [crypto.createPrivateKey(privateKey), crypto.createPublicKey(publicKey)];
    show(`${name} key`, () => [secret.type, secret.asymmetricKeyType, open.type, open.asymmetricKeyType, secret.asymmetricKeyDetails?.namedCurve, String(secret.asymmetricKeyDetails?.publicExponent), secret.asymmetricKeyDetails?.modulusLength]);
    show(`${name} pem`, () => [secret.export({ type: "pkcs8", format: "pem" }) === privateKey, open.export({ type: "spki", format: "pem" }) === publicKey]);
    show(`${name} jwk`, () => [secret.export({ format: "jwk" }), open.export({ format: "jwk" })]);
    show(`${name} from jwk`, () => [
        crypto.createPrivateKey({ key: secret.export({ format: "jwk" }), format: "jwk" }).export({ type: "pkcs8", format: "pem" }) === privateKey,
        crypto.createPublicKey({ key: open.export({ format: "jwk" }), format: "jwk" }).export({ type: "spki", format: "pem" }) === publicKey,
    ]);
    show(`${name} der`, () => [secret.export({ type: "pkcs8", format: "der" }), crypto.createPublicKey({ key: open.export({ type: "spki", format: "der" }), type: "spki", format: "der" }).export({ type: "spki", format: "pem" }) === publicKey]);
    show(`${name} public of private`, () => [crypto.createPublicKey(privateKey).export({ type: "spki", format: "pem" }) === publicKey, crypto.createPublicKey(secret).equals(open), open.equals(secret)]);
    if (name === "rsa") show("pkcs1", () => {
        const pem = secret.export({ type: "pkcs1", format: "pem" });
        return [pem, open.export({ type: "pkcs1", format: "pem" }), crypto.createPrivateKey(pem).export({ type: "pkcs8", format: "pem" }) === privateKey, crypto.createPublicKey(open.export({ type: "pkcs1", format: "pem" })).equals(open)];
    });
    if (name.startsWith("p")) show("sec1", () => {
        const pem = secret.export({ type: "sec1", format: "pem" });
        return [pem, crypto.createPrivateKey(pem).export({ type: "pkcs8", format: "pem" }) === privateKey];
    });
    const digest = name === "ed25519" ? null : name === "p384" ? "sha384" : "sha256";
    show(`${name} sign`, () => {
        const made = crypto.sign(digest, Buffer.from("data"), privateKey);
        return [name.startsWith("p") ? made[0] : made.toString("hex"), crypto.verify(digest, Buffer.from("data"), publicKey, made), crypto.verify(digest, Buffer.from("date"), publicKey, made), crypto.verify(digest, Buffer.from("data"), open, Buffer.from("junk"))];
    });
    if (name.startsWith("p")) show(`${name} raw`, () => {
        const made = crypto.sign(digest, Buffer.from("data"), { key: privateKey, dsaEncoding: "ieee-p1363" });
        return [made.length, crypto.verify(digest, Buffer.from("data"), { key: publicKey, dsaEncoding: "ieee-p1363" }, made)];
    });
    if (name === "rsa") {
        show("Sign", () => {
            const made = crypto.createSign("RSA-SHA256").update("da").update("ta").sign(privateKey, "base64");
            return [made, crypto.createVerify("RSA-SHA256").update("data").verify(publicKey, made, "base64"), crypto.createVerify("sha512").update("data").verify(publicKey, made, "base64")];
        });
        show("pss", () => {
            const options = { padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: crypto.constants.RSA_PSS_SALTLEN_DIGEST };
            const made = crypto.sign("sha256", Buffer.from("data"), { key: privateKey, ...options });
            return [made.length, crypto.verify("sha256", Buffer.from("data"), { key: publicKey, ...options }, made), crypto.verify("sha256", Buffer.from("data"), publicKey, made)];
        });
    }
}
show("no key", () => crypto.createSign("sha256").update("x").sign());
show("bad key", () => crypto.createSign("sha256").update("x").sign("secret"));
show("bad digest", () => crypto.createSign("nope"));
show("bad private", () => crypto.createPrivateKey("junk"));
show("public as private", () => crypto.createPrivateKey(pairs.rsa.publicKey));
show("bad type", () => crypto.createPublicKey(5));
show("secret", () => { const key = crypto.createSecretKey("abc", "utf8"); return [key.type, key.symmetricKeySize, key.export().toString(), key.export({ format: "jwk" }), key.asymmetricKeyType]; });
show("generate", () => {
    const { publicKey, privateKey } = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" });
    return [publicKey.type, crypto.verify("sha256", Buffer.from("x"), publicKey, crypto.sign("sha256", Buffer.from("x"), privateKey))];
});
show("generate bad", () => crypto.generateKeyPairSync("ec", { namedCurve: "nope" }));
crypto.generateKeyPair("ed25519", { publicKeyEncoding: { type: "spki", format: "pem" }, privateKeyEncoding: { type: "pkcs8", format: "pem" } }, (error, publicKey, privateKey) => {
    console.log(error, publicKey.split("\n")[0], privateKey.split("\n")[0]);
    const { subtle } = crypto.webcrypto;
    (async () => {
        const jwk = crypto.createPrivateKey(pairs.p256.privateKey).export({ format: "jwk" });
        const key = await subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
        const made = await subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, Buffer.from("x"));
        console.log(made.byteLength, crypto.verify("sha256", Buffer.from("x"), { key: pairs.p256.publicKey, dsaEncoding: "ieee-p1363" }, Buffer.from(made)), key.type, key.usages);
    })();
});
