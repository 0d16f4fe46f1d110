import { NestFactory } from "@nestjs/core";
import { announce } from "./announce.mjs";
import { AppModule } from "./nest-module.mjs";

const app = await NestFactory.create(AppModule, { logger: false, forceCloseConnections: true });
await app.listen(0, "127.0.0.1");
announce(app.getHttpServer(), () => app.close());
