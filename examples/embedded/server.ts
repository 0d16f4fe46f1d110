// Starts the app. SIGTERM and SIGINT need no code: what is under way is answered, then the program ends.
import type { AddressInfo } from "node:net";
import { makeApp } from "./app.ts";

const server = makeApp().listen(Number(process.env["PORT"] ?? 3000), process.env["HOST"] ?? "127.0.0.1", (error?: Error) => {
    if (error) throw error;
    const { address, port } = server.address() as AddressInfo;
    console.log(`notices on http://${address}:${port}`);
});
