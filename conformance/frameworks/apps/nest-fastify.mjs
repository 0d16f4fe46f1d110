import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { announce } from "./announce.mjs";
import { AppModule } from "./nest-module.mjs";

const app = await NestFactory.create(AppModule, new FastifyAdapter({ forceCloseConnections: true }), { logger: false });
app.getHttpAdapter().getInstance().addContentTypeParser("application/octet-stream", (request, payload, done) => done(null));
await app.listen(0, "127.0.0.1");
announce(app.getHttpServer(), () => app.close());
