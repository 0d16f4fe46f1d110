// What can be made of servers, as types: node:http's and node:https' are made alike.
import { type IncomingMessage, type RequestListener, type Server as HttpServer, type ServerOptions as HttpOptions, type ServerResponse } from "node:http";
import { type Server as HttpsServer, type ServerOptions as HttpsOptions } from "node:https";

/** A class of requests, and one of responses to them, as node:http's types name them. */
export type RequestClass = typeof IncomingMessage;
export type ResponseClass<Request extends RequestClass> = typeof ServerResponse<InstanceType<Request>>;
export type AnyResponseClass = typeof ServerResponse;

/** Options of node:http's `createServer`, and Leat's own. */
export interface PlainOptions<Request extends RequestClass = RequestClass, Response extends ResponseClass<Request> = AnyResponseClass> extends HttpOptions<Request, Response> {
    /** Speaks HTTP/2 too, without TLS to clients that know beforehand. */
    http2?: boolean;
}

/** Options of node:https' `createServer`, and Leat's own. */
export interface TlsOptions<Request extends RequestClass = RequestClass, Response extends ResponseClass<Request> = AnyResponseClass> extends HttpsOptions<Request, Response> {
    /** Offers HTTP/2 beside HTTP/1.1. */
    http2?: boolean;
}

/** Options and servers by kind: with TLS, without, and by what the options say. */
interface Kinds<Request extends RequestClass, Response extends ResponseClass<Request>> {
    plain: { options: PlainOptions<Request, Response>; server: HttpServer<Request, Response> };
    tls: { options: TlsOptions<Request, Response>; server: HttpsServer<Request, Response> };
    either: { options: TlsOptions<Request, Response>; server: HttpServer<Request, Response> };
}

type Kind = keyof Kinds<RequestClass, AnyResponseClass>;

/** Makes a server; `requestListener` is called for each request. */
export interface CreateServer<K extends Kind> {
    <Request extends RequestClass = RequestClass, Response extends ResponseClass<Request> = AnyResponseClass>(
        requestListener?: RequestListener<Request, Response>,
    ): Kinds<Request, Response>[K]["server"];
    <Request extends RequestClass = RequestClass, Response extends ResponseClass<Request> = AnyResponseClass>(
        options: Kinds<Request, Response>[K]["options"],
        requestListener?: RequestListener<Request, Response>,
    ): Kinds<Request, Response>[K]["server"];
}

/** The constructor of servers, which may be called with or without `new`, and inherited from. */
export interface ServerConstructor<K extends Kind = "plain"> extends CreateServer<K> {
    new <Request extends RequestClass = RequestClass, Response extends ResponseClass<Request> = AnyResponseClass>(
        requestListener?: RequestListener<Request, Response>,
    ): Kinds<Request, Response>[K]["server"];
    new <Request extends RequestClass = RequestClass, Response extends ResponseClass<Request> = AnyResponseClass>(
        options: Kinds<Request, Response>[K]["options"],
        requestListener?: RequestListener<Request, Response>,
    ): Kinds<Request, Response>[K]["server"];
    readonly prototype: Kinds<RequestClass, AnyResponseClass>[K]["server"];
}
