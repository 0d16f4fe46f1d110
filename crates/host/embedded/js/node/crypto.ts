// node:crypto. Its parts are modules of their own, loaded when one of their names is first read.
import { lib } from "../leat/crypto";
import { missing } from "../leat/coded";

type Part = Record<string, unknown>;

const crypto: Part = {};

function late(names: string, load: () => unknown): void {
    for (const name of names.split(" ")) {
        const put = (value: unknown): void => {
            Object.defineProperty(crypto, name, { configurable: true, enumerable: true, writable: true, value });
        };
        Object.defineProperty(crypto, name, {
            configurable: true,
            enumerable: true,
            get() {
                const value = (load() as Part)[name];
                put(value);
                return value;
            },
            set: put,
        });
    }
}

const hashes = (): typeof import("../leat/crypto_hash") => require("../leat/crypto_hash") as typeof import("../leat/crypto_hash");
const ciphers = (): typeof import("../leat/crypto_cipher") => require("../leat/crypto_cipher") as typeof import("../leat/crypto_cipher");

late("Hash Hmac hash", hashes);
late("Cipheriv Decipheriv getCipherInfo", ciphers);
late("pbkdf2 pbkdf2Sync scrypt scryptSync hkdf hkdfSync randomBytes randomFill randomFillSync randomInt randomUUID timingSafeEqual", () => require("../leat/crypto_kdf"));
late("KeyObject createSecretKey createPublicKey createPrivateKey generateKeyPair generateKeyPairSync generateKey generateKeySync", () => require("../leat/crypto_keys"));
late("Sign Verify createSign createVerify sign verify", () => require("../leat/crypto_sign"));
late("webcrypto subtle getRandomValues", () => require("../leat/crypto_web"));

crypto["createHash"] = (algorithm: unknown, options?: object) => new (hashes().Hash)(algorithm, options);
crypto["createHmac"] = (algorithm: unknown, key: unknown, options?: object) => new (hashes().Hmac)(algorithm, key, options);
crypto["createCipheriv"] = (name: unknown, key: unknown, vector: unknown, options?: object) => new (ciphers().Cipheriv)(name, key, vector, options);
crypto["createDecipheriv"] = (name: unknown, key: unknown, vector: unknown, options?: object) => new (ciphers().Decipheriv)(name, key, vector, options);
crypto["getHashes"] = () => [...lib.hashes];
crypto["getCiphers"] = () => [...lib.ciphers];
crypto["getCurves"] = () => ["prime256v1", "secp256k1", "secp384r1", "secp521r1"];
crypto["getFips"] = () => 0;
crypto["secureHeapUsed"] = () => undefined;
crypto["constants"] = Object.freeze({
    RSA_PKCS1_PADDING: 1, RSA_NO_PADDING: 3, RSA_PKCS1_OAEP_PADDING: 4, RSA_X931_PADDING: 5, RSA_PKCS1_PSS_PADDING: 6,
    RSA_PSS_SALTLEN_DIGEST: -1, RSA_PSS_SALTLEN_MAX_SIGN: -2, RSA_PSS_SALTLEN_AUTO: -2,
    POINT_CONVERSION_COMPRESSED: 2, POINT_CONVERSION_UNCOMPRESSED: 4, POINT_CONVERSION_HYBRID: 6,
    defaultCoreCipherList: "", TLS1_VERSION: 769, TLS1_1_VERSION: 770, TLS1_2_VERSION: 771, TLS1_3_VERSION: 772,
});

for (const name of "checkPrime checkPrimeSync createDiffieHellman createDiffieHellmanGroup createECDH diffieHellman generatePrime generatePrimeSync getDiffieHellman privateDecrypt privateEncrypt publicDecrypt publicEncrypt setEngine setFips Certificate DiffieHellman DiffieHellmanGroup ECDH X509Certificate".split(" ")) {
    crypto[name] = function (): never {
        throw missing(`crypto.${name}`);
    };
}

module.exports = crypto;
