// What a counted program tells the test over IPC: its port, the lane's counters, and how many objects V8 has allocated.
import { Session } from "node:inspector/promises";
import { engine } from "../subject.mjs";

/** Every allocation, or nearly: V8 draws how many bytes it skips, one on average. */
const SAMPLING = { samplingInterval: 1, includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };

/** Answers the messages "counts", "sample", "sampled" and "end" of the parent. */
export function counting(server) {
    server.once("listening", () => process.send({ is: "port", port: server.address().port }));
    const session = new Session();

    const answers = {
        counts: () => ({ counts: engine() }),
        async sample() {
            session.connect();
            await session.post("HeapProfiler.startSampling", SAMPLING);
            return {};
        },
        async sampled() {
            const { profile } = await session.post("HeapProfiler.stopSampling");
            return { objects: profile.samples.length, bytes: profile.samples.reduce((sum, { size }) => sum + size, 0) };
        },
        end: () => process.exit(0),
    };
    process.on("message", async (asked) => process.send({ is: asked, ...(await answers[asked]()) }));
}
