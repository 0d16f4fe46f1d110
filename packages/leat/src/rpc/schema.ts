// Services without generated code: descriptors are read when the program starts.
import { type DescService, type FileRegistry } from "@bufbuild/protobuf";
import { descriptors } from "../native/descriptors";
import { protobuf, wkt } from "./libraries";

/** Where imports are looked for. */
export interface SchemaOptions {
    /** Folders, beside those of the files themselves. The files of google.protobuf, google.rpc and google.api are always there. */
    include?: string | string[];
}

/**
 * The services and messages of .proto files, of folders of them, and of descriptor sets: a registry of @bufbuild/protobuf, whose
 * services `router.service` takes. Implementations get and give plain objects. Throws an error of code `LEAT_RPC` that lists all that
 * is wrong with the files, by file, line and column.
 */
export function loadSchema(paths: string | string[], options: SchemaOptions = {}): FileRegistry {
    const set = descriptors([paths].flat(), [options.include ?? []].flat());
    return protobuf().createFileRegistry(protobuf().fromBinary(wkt().FileDescriptorSetSchema, set));
}

/** The service of this full name, such as `shop.v1.Orders`; throws an error that lists those that there are. */
export function serviceOf(registry: FileRegistry, name: string): DescService {
    const found = registry.getService(name);
    if (found !== undefined) return found;
    const known = [...registry].filter((each) => each.kind === "service").map((each) => each.typeName);
    throw Object.assign(new Error(`there is no service ${name}; there are: ${known.join(", ") || "none"}`), { code: "LEAT_RPC" });
}
