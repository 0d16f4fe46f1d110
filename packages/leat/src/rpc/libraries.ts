// The libraries whose types and errors services are written with. They are the program's own, so that its classes are these; they are
// loaded when the first service is registered.
import type * as ConnectLibrary from "@connectrpc/connect";
import type * as GrpcLibrary from "@connectrpc/connect/protocol-grpc";
import type * as ProtocolLibrary from "@connectrpc/connect/protocol";
import type * as ProtobufLibrary from "@bufbuild/protobuf";
import type * as WktLibrary from "@bufbuild/protobuf/wkt";

export type Connect = typeof ConnectLibrary;
export type Grpc = typeof GrpcLibrary;
export type Protocol = typeof ProtocolLibrary;
export type Protobuf = typeof ProtobufLibrary;
export type Wkt = typeof WktLibrary;

/** A library once it is asked for, or an error that says what to install. */
function lazy<T>(load: () => T): () => T {
    let loaded: T | undefined;
    return () => {
        try {
            return (loaded ??= load());
        } catch (error) {
            if ((error as { code?: string }).code !== "MODULE_NOT_FOUND") throw error;
            throw Object.assign(new Error("leat/rpc needs two libraries beside it: npm install @connectrpc/connect @bufbuild/protobuf", { cause: error }), { code: "LEAT_RPC_LIBRARY" });
        }
    };
}

export const connect = lazy(() => require("@connectrpc/connect") as Connect);
export const grpc = lazy(() => require("@connectrpc/connect/protocol-grpc") as Grpc);
export const protocol = lazy(() => require("@connectrpc/connect/protocol") as Protocol);
export const protobuf = lazy(() => require("@bufbuild/protobuf") as Protobuf);
export const wkt = lazy(() => require("@bufbuild/protobuf/wkt") as Wkt);
