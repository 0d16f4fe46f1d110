// Rival: the echo service on @connectrpc/connect-node: gRPC on HTTP/2, and Connect on either. connect_node.mjs PORT DESCRIPTORS [h1]
import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import { createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { connectNodeAdapter } from '@connectrpc/connect-node';

const [port, descriptors, version] = process.argv.slice(2);
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(descriptors)));
const echo = registry.getService('bench.v1.Echo');
const handler = connectNodeAdapter({ routes: (router) => router.service(echo, { say: (note) => note }) });
const server = version === 'h1' ? http.createServer(handler) : http2.createServer(handler);
server.listen(Number(port), '127.0.0.1');
