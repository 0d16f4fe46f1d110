// node:v8: what is known of the heap. There is no V8 here; figures are QuickJS's where there are any.
import { missing } from "../leat/coded";

const memory = (): NodeJS.MemoryUsage => (require("node:process") as NodeJS.Process).memoryUsage();

const v8: Record<string, unknown> = {
    getHeapStatistics() {
        const { heapTotal, heapUsed, external } = memory();
        return {
            total_heap_size: heapTotal, total_heap_size_executable: 0, total_physical_size: heapTotal, total_available_size: heapTotal, used_heap_size: heapUsed, heap_size_limit: heapTotal, malloced_memory: heapUsed,
            peak_malloced_memory: heapUsed, does_zap_garbage: 0, number_of_native_contexts: 1, number_of_detached_contexts: 0, total_global_handles_size: 0, used_global_handles_size: 0, external_memory: external,
        };
    },
    getHeapSpaceStatistics: () => [],
    setFlagsFromString() {},
    cachedDataVersionTag: () => 0,
};
for (const name of "serialize deserialize Serializer Deserializer DefaultSerializer DefaultDeserializer getHeapSnapshot writeHeapSnapshot takeCoverage stopCoverage setHeapSnapshotNearHeapLimit getHeapCodeStatistics".split(" ")) {
    v8[name] = function (): never {
        throw missing(`v8.${name}`);
    };
}

module.exports = v8;
