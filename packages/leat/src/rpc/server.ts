// Servers of RPC on Leat's engine: every protocol on one port, the same implementations behind all of them.
import { type IncomingMessage, type RequestListener, type Server } from "node:http";
import { type ConnectRouter, type ContextValues } from "@connectrpc/connect";
import { type Compression } from "@connectrpc/connect/protocol";
import { createServer as createHttpServer } from "../http";
import { type TlsOptions } from "../http/constructor";
import { kRpc, type ServerSettings } from "../http/settings";
import { answer } from "./call";
import { compressionSettings, corsSettings, type CorsOptions } from "./edges";
import { protobuf, wkt } from "./libraries";
import { type CallOptions, Routes } from "./router";

/** What a server of RPC is made of. All of node:http's options, and node:https' with `key` and `cert`, apply as well. */
export interface RpcOptions extends TlsOptions, CallOptions {
    /** Registers the services, as for every adapter of @connectrpc/connect. */
    routes: (router: ConnectRouter) => void;
    /** What interceptors and implementations find in `context.values`, made for each request. */
    contextValues?: (request: IncomingMessage) => ContextValues;
    /** Which pages may call the methods: those of every origin unless told. `false`: nothing is said to browsers. */
    cors?: CorsOptions | false;
    /**
     * How replies may be compressed, in the order of preference: what @connectrpc/connect-node has, or names. gzip and brotli unless
     * told, an empty list for none. The engine compresses: of what it is given only the name counts.
     */
    acceptCompression?: readonly (Compression | string)[];
    /** Messages of fewer bytes are sent as they are. 1,024 unless told. */
    compressMinBytes?: number;
    /** Answers requests that are for none of the methods; unless told they get each protocol's "unimplemented", or 404. */
    fallback?: RequestListener;
}

/**
 * Makes a server that answers gRPC, gRPC-Web, Connect and, where methods say `google.api.http`, REST on one port, over HTTP/1.1 and
 * HTTP/2 (without TLS to clients that know beforehand). Framing, compression, JSON and the form of errors are the engine's;
 * implementations get messages.
 */
export function createServer(options: RpcOptions): Server {
    const { routes: register, contextValues, fallback, cors, acceptCompression, compressMinBytes, interceptors, readMaxBytes, writeMaxBytes, maxTimeoutMs, binaryOptions, ...http } = options;
    const given = { interceptors, readMaxBytes, writeMaxBytes, maxTimeoutMs, binaryOptions };
    const edges = { ...corsSettings(cors), ...compressionSettings(acceptCompression, compressMinBytes) };
    const routes = new Routes(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)));
    register(routes);
    const server = createHttpServer({ http2: true, ...http }, (request, response) => {
        const route = routes.byPath.get(request.url ?? "");
        if (route !== undefined && isGrpc(request)) answer(route, request, response, contextValues?.(request));
        else if (fallback !== undefined) fallback(request, response);
        else response.writeHead(404).end();
    });
    (server as unknown as ServerSettings)[kRpc] = { descriptors: descriptorsOf(routes), hasFallback: fallback !== undefined, readMaxBytes: routes.readBytesMax(), ...edges };
    return server;
}

function isGrpc(request: IncomingMessage): boolean {
    return (request.headers["content-type"] ?? "").startsWith("application/grpc");
}

/** A FileDescriptorSet, from which the engine reads the methods, and JSON from binary and back. */
function descriptorsOf(routes: Routes): Uint8Array {
    const { create, toBinary } = protobuf();
    const { FileDescriptorSetSchema } = wkt();
    return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: routes.files().map((file) => file.proto) }));
}
