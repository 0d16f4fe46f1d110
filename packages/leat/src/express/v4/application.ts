// What only Express 4's apps have, or have in their own way.
import { applicationMethods } from "../application";
import { type Dialect } from "../dialect";
import { answerUnanswered } from "../final";
import { debugOf, deprecationsOf } from "../libraries";
import { type Application, type Next, type Request, type Response } from "../types";
import { initialize } from "./init";
import { query } from "./query";

const debug = debugOf("express:application");

interface Shared {
    defaultConfiguration(this: Application): void;
    set(this: Application, ...args: unknown[]): unknown;
    delete(this: Application, ...args: unknown[]): Application;
}

/** The methods of apps of Express 4. */
export function oldApplicationMethods(dialect: Dialect): object {
    const deprecations = deprecationsOf(() => dialect.libraries.depd()("express"));
    const shared = applicationMethods(dialect) as unknown as Shared;
    return {
        ...shared,

        defaultConfiguration(this: Application): void {
            shared.defaultConfiguration.call(this);
            Object.defineProperty(this, "router", {
                get() {
                    throw new Error("'app.router' is deprecated!\nPlease see the 3.x to 4.x migration guide for details on how to update your app.");
                },
            });
        },

        lazyrouter(this: Application): void {
            if (this._router) return;
            this._router = new dialect.Router({ caseSensitive: this.enabled("case sensitive routing"), strict: this.enabled("strict routing") });
            this._router.use(query(this.get("query parser fn")));
            this._router.use(initialize(dialect, this));
        },

        handle(this: Application, req: Request, res: Response, callback?: Next): void {
            const env = callback || this.get === dialect.ownApp.get ? undefined : this.get("env");
            const done = callback || ((error?: unknown) => answerUnanswered(dialect, this, req, res, env, error));
            if (!this._router) {
                debug("no routes defined on app");
                done();
                return;
            }
            this._router.handle(req, res, done);
        },

        // Inherited settings count, but not what every object has.
        set(this: Application, name: string, value: unknown): unknown {
            if (arguments.length !== 1) return shared.set.call(this, name, value);
            return dialect.readSetting(this.settings, name);
        },

        del(this: Application, ...args: unknown[]): Application {
            deprecations()("app.del: Use app.delete instead");
            return shared.delete.apply(this, args);
        },
    };
}
