// A certificate for localhost that lives as long as one run of a suite.
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Writes `cert.pem` and `key.pem` (P-256, one day) into `folder` and returns their paths. */
export function certificate(folder) {
    const cert = join(folder, "cert.pem");
    const key = join(folder, "key.pem");
    execFileSync(
        "openssl",
        ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", cert],
        { stdio: ["ignore", "ignore", "pipe"] },
    );
    return { cert, key };
}
