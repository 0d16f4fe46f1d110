import { addon } from "./load";

/** A `google.protobuf.FileDescriptorSet` of what `paths` stand for and import; throws `LEAT_RPC` with all that is wrong, with places. */
export function descriptors(paths: string[], includes: string[]): Uint8Array {
    return addon().descriptors(paths, includes);
}
