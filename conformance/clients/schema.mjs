// The service of notes.proto as clients of connect-es want it, without generated code.
import { join } from "node:path";
import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema, MethodOptionsSchema, MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";
import { loadSync } from "@grpc/proto-loader";
import { here } from "./mock.mjs";

/** `clients.v1.Notes`. What the loader of grpc-js leaves out is put back: names in JSON, and the option that Connect's GET needs. */
export function notesService() {
    const loaded = loadSync(join(here, "notes.proto"));
    const file = loaded["clients.v1.Note"].fileDescriptorProtos.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
    for (const each of file) {
        each.syntax = "proto3";
        for (const field of each.messageType.flatMap((message) => message.field)) field.jsonName = field.name;
        for (const method of each.service.flatMap((service) => service.method)) {
            if (method.name === "Say") method.options = create(MethodOptionsSchema, { idempotencyLevel: Level.NO_SIDE_EFFECTS });
        }
    }
    const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
    return createFileRegistry(fromBinary(FileDescriptorSetSchema, set)).getService("clients.v1.Notes");
}
