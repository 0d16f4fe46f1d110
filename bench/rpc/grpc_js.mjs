// Rival: the echo service on @grpc/grpc-js, with messages by @grpc/proto-loader. grpc_js.mjs PORT
import { fileURLToPath } from 'node:url';
import { loadPackageDefinition, Server, ServerCredentials } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const { bench } = loadPackageDefinition(loadSync(fileURLToPath(new URL('echo.proto', import.meta.url))));
const server = new Server();
server.addService(bench.v1.Echo.service, { say: (call, answer) => answer(null, call.request) });
server.bindAsync(`127.0.0.1:${process.argv[2]}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
