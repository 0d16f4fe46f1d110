// Where a program registers its services: the router of @connectrpc/connect, so that its functions run unchanged.
import { type DescFile, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { type ConnectRouter, type Interceptor, type MethodImpl, type MethodImplSpec, type ServiceImpl } from "@connectrpc/connect";
import { type UniversalHandlerOptions } from "@connectrpc/connect/protocol";
import { connect } from "./libraries";

/** Longest message that is taken unless told otherwise, in bytes: as gRPC's servers have it. */
export const READ_BYTES_MAX = 4 * 1024 * 1024;

/** What of a router's options Leat's protocol layer leaves to JavaScript; all others are the engine's. */
export interface CallOptions {
    /** Around every call, the first one outermost. */
    interceptors?: Interceptor[];
    /** Longest message that is taken, in bytes, after decompression. 4 MiB unless told, as by gRPC. */
    readMaxBytes?: number;
    /** Longest message that is sent, in bytes. No limit unless told. */
    writeMaxBytes?: number;
    /** Longest time that a client may give a call, in milliseconds. No limit unless told. */
    maxTimeoutMs?: number;
    /** Whether what goes out may hold unknown fields; passed to `toBinary`. */
    binaryOptions?: UniversalHandlerOptions["binaryOptions"];
}

/** A method with what a program made of it. */
export interface Route {
    readonly spec: MethodImplSpec;
    readonly options: CallOptions;
}

/** Registers services and methods; later ones win. */
export class Routes implements ConnectRouter {
    readonly byPath = new Map<string, Route>();
    /** Nothing: the protocols are the engine's. Programs that look here want connect's own adapters. */
    readonly handlers: ConnectRouter["handlers"] = [];
    readonly #options: CallOptions;

    constructor(options: CallOptions) {
        this.#options = options;
    }

    service<T extends DescService>(service: T, implementation: Partial<ServiceImpl<T>>, options?: Partial<UniversalHandlerOptions>): this {
        for (const spec of Object.values(connect().createServiceImplSpec(service, implementation).methods)) this.#add(spec, options);
        return this;
    }

    rpc<M extends DescMethod>(method: M, implementation: MethodImpl<M>, options?: Partial<UniversalHandlerOptions>): this {
        this.#add(connect().createMethodImplSpec(method, implementation), options);
        return this;
    }

    /** The files that the services stand in, and those that they import, each behind what it needs. */
    files(): DescFile[] {
        const found = new Set<DescFile>();
        const add = (file: DescFile): void => {
            if (found.has(file)) return;
            for (const dependency of file.dependencies) add(dependency);
            found.add(file);
        };
        for (const { spec } of this.byPath.values()) add(spec.method.parent.file);
        return [...found];
    }

    /** Longest message that any of the methods takes, in bytes. */
    readBytesMax(): number {
        return Math.max(READ_BYTES_MAX, ...[...this.byPath.values()].map(({ options }) => options.readMaxBytes ?? READ_BYTES_MAX));
    }

    #add(spec: MethodImplSpec, options: Partial<UniversalHandlerOptions> | undefined): void {
        this.byPath.set(`/${spec.method.parent.typeName}/${spec.method.name}`, { spec, options: { ...this.#options, ...(options as CallOptions | undefined) } });
    }
}
