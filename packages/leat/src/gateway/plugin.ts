// The types of a plug-in's file.
import { type Middleware } from "../middleware/middleware";
import { type Request, type Response } from "../middleware/message";

/**
 * What a plug-in's file exports by default: middleware, or a function that makes them of the `options` in the configuration. Scopes
 * mean the same as in a transport; the gateway runs `attempt` middleware once a request, since plug-ins stand outside of its tries.
 */
export type Plugin<O = Readonly<Record<string, unknown>>> = Middleware | readonly Middleware[] | ((options: O) => Middleware | readonly Middleware[]);

/** A request as a plug-in of the gateway sees it. Read its body with `body`, where the middleware has declared that it does. */
export type PluginRequest = Request;

/** A response as a plug-in of the gateway sees it. A `body` in a patch takes the place of the upstream's. */
export type PluginResponse = Response;
