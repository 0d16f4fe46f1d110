// Makes calls to a server of another process, and prints what each took by the lane's own counters: `node crossings.mjs PORT AT_ONCE`.
import { metrics } from "leat/http";
import { leat, Transport } from "leat/transport";

const WARM = 500;
const COUNTED = 2000;
const [, , port, atOnce] = process.argv.map(Number);
const transport = new Transport({ nodes: `http://127.0.0.1:${port}`, connection: leat({ connections: atOnce }) });

async function calls(count) {
    let left = count;
    await Promise.all(Array.from({ length: atOnce }, async () => {
        while (left-- > 0) await transport.request({ path: "/", as: "bytes" });
    }));
}

const read = (name) => Number(new RegExp(`^leat_lane_${name}_total\\{lane="0"\\} (\\d+)$`, "m").exec(metrics())[1]);
const counts = () => Object.fromEntries(["calls", "wakes", "flushes"].map((name) => [name, read(name)]));

await calls(WARM);
const before = counts();
await calls(COUNTED);
const after = counts();
const each = (name) => (after[name] - before[name]) / COUNTED;
console.log("counts", JSON.stringify({ calls: each("calls"), "wake-ups": each("wakes"), flushes: each("flushes") }));
await transport.close();
