// nginx with a configuration of its own in a temporary folder, as a proxy in front of the echo.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";

const START_TRIES_MAX = 50;
const START_WAIT_MS = 100;

/** The version as `major.minor`, or undefined where there is no nginx. */
export function version() {
    const { stderr, error } = spawnSync("nginx", ["-v"], { encoding: "utf8", env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` } });
    return error ? undefined : /nginx\/(\d+\.\d+)/.exec(stderr)?.[1];
}

/**
 * Buffers are as large as Leat's limits, so that differences in what is legal are not hidden by differences in size;
 * everything that decides about requests stands as nginx comes.
 */
const configuration = (folder, port, echoPort) => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log crit;
${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections 512; }
http {
    access_log off;
    client_body_temp_path ${folder}/body;
    proxy_temp_path ${folder}/proxy;
    fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi;
    scgi_temp_path ${folder}/scgi;
    large_client_header_buffers 4 32k;
    client_max_body_size 64m;
    lingering_close off;
    server {
        listen 127.0.0.1:${port};
        location / {
            proxy_pass http://127.0.0.1:${echoPort};
            proxy_ignore_client_abort on;
        }
    }
}
`;

/** Starts it in front of the echo at `echoPort`; resolves to `{ name, version, port, stop }`. */
export async function start(echoPort) {
    const folder = mkdtempSync(join(tmpdir(), "leat-nginx-"));
    chmodSync(folder, 0o755);
    const port = await freePort();
    writeFileSync(join(folder, "nginx.conf"), configuration(folder, port, echoPort));
    const child = spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], {
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    });
    const ended = once(child, "exit");
    const stop = async () => {
        child.kill("SIGTERM");
        await ended;
        rmSync(folder, { recursive: true, force: true });
    };
    for (let tries = 0; tries < START_TRIES_MAX; tries += 1) {
        if (child.exitCode !== null) break;
        if (await answers(port)) return { name: "nginx", version: version(), port, stop };
        await new Promise((next) => setTimeout(next, START_WAIT_MS));
    }
    await stop();
    throw new Error(`nginx did not start on 127.0.0.1:${port}`);
}

async function freePort() {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address();
    server.close();
    await once(server, "close");
    return port;
}

function answers(port) {
    return new Promise((resolve) => {
        const socket = connect(port, "127.0.0.1");
        socket.on("connect", () => {
            socket.destroy();
            resolve(true);
        });
        socket.on("error", () => resolve(false));
    });
}
