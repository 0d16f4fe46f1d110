// A service with a method of each kind, described without a compiler of .proto files.
import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Label as Label, FieldDescriptorProto_Type as Type, FileDescriptorSetSchema, MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";

const field = (name, number, type, label = Label.OPTIONAL) => ({ name, number, type, label, jsonName: name });
const method = (name, clientStreaming, serverStreaming, options) => ({ name, inputType: ".leat.test.Note", outputType: ".leat.test.Note", clientStreaming, serverStreaming, ...(options && { options }) });

const set = create(FileDescriptorSetSchema, {
    file: [{
        name: "leat/test.proto",
        package: "leat.test",
        syntax: "proto3",
        messageType: [{
            name: "Note",
            field: [field("text", 1, Type.STRING), field("id", 2, Type.INT64), field("data", 3, Type.BYTES), field("tags", 4, Type.STRING, Label.REPEATED)],
        }],
        service: [{
            name: "Notes",
            method: [
                method("Say", false, false, { idempotencyLevel: Level.NO_SIDE_EFFECTS }),
                method("Count", false, true),
                method("Join", true, false),
                method("Talk", true, true),
                method("Missing", false, false),
            ],
        }],
    }],
});

// Through bytes, so that what is absent gets its defaults.
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, toBinary(FileDescriptorSetSchema, set)));
export const Notes = registry.getService("leat.test.Notes");
export const Note = registry.getMessage("leat.test.Note");
