// Credentials: set on each try, renewed when the peer refuses them.
import { isThenable } from "../../middleware/apply";
import { type Context } from "../../middleware/context";
import { type Awaitable, type Response } from "../../middleware/message";
import { middleware, type Middleware, type Next } from "../../middleware/middleware";
import { isSendable, type Body } from "../body/body";
import { call, type Call } from "../call";
import { authSettingsOf, type AuthOptions, type Fixed } from "./auth_options";
import { discard } from "./discard";
import { callOf } from "./own_call";
import { Tokens } from "./tokens";

/**
 * Sets credentials on each try. A token of a function is asked for once, whoever needs it; it is renewed when it runs out, and once
 * more when the peer answers 401. A token that was new and is refused too is the end of it: the 401 is the result.
 *
 * Credentials are taken out of every error, by their values.
 *
 * @throws {TransportError} `options.invalid`; in calls `auth.failed`, if no token came about
 */
export function auth(options: AuthOptions): Middleware<"attempt"> {
    const settings = authSettingsOf(options);
    if (settings.kind === "fixed") return fixed(settings);
    const renewing = new Renewing(settings.header, settings.scheme, new Tokens(settings));
    return middleware({ name: "auth", scope: "attempt", repeats: true, reads: [call], around: (context, next) => renewing.around(context, next) });
}

function fixed({ header, value, secrets }: Fixed): Middleware<"attempt"> {
    const patch = Object.freeze({ headers: Object.freeze({ [header]: value }) });
    return middleware({
        name: "auth",
        scope: "attempt",
        reads: [call],
        onRequest(context) {
            const { redactor } = callOf(context);
            for (const each of secrets) redactor.add(each);
            return patch;
        },
    });
}

class Renewing {
    private readonly header: Lowercase<string>;
    private readonly scheme: string;
    private readonly tokens: Tokens;

    constructor(header: Lowercase<string>, scheme: string, tokens: Tokens) {
        this.header = header;
        this.scheme = scheme;
        this.tokens = tokens;
    }

    around(context: Context<typeof call>, next: Next): Awaitable<Response> {
        const own = callOf(context);
        const body = context.request.body as Body | undefined;
        const token = this.tokens.present(own.clock.nowMs());
        if (token === undefined) return this.first(own, body, next);
        const response = this.send(own, token, next);
        return isThenable(response) ? this.judge(own, body, token, next, response) : this.judgeNow(own, body, token, next, response);
    }

    private async first(own: Call, body: Body | undefined, next: Next): Promise<Response> {
        const token = await this.tokens.renewed(own, undefined);
        return this.judge(own, body, token, next, this.send(own, token, next));
    }

    private async judge(own: Call, body: Body | undefined, token: string, next: Next, pending: Awaitable<Response>): Promise<Response> {
        return this.judgeNow(own, body, token, next, await pending);
    }

    private judgeNow(own: Call, body: Body | undefined, token: string, next: Next, response: Response): Awaitable<Response> {
        if (response.status !== 401) {
            this.tokens.accepted(token);
            return response;
        }
        if (!isSendable(body) || !this.tokens.isWorthRenewing(token, own.clock.nowMs())) return response;
        return this.again(own, token, next, response);
    }

    private async again(own: Call, refused: string, next: Next, response: Response): Promise<Response> {
        discard(response);
        const token = await this.tokens.renewed(own, refused);
        const second = await this.send(own, token, next);
        if (second.status !== 401) this.tokens.accepted(token);
        return second;
    }

    private send(own: Call, token: string, next: Next): Awaitable<Response> {
        own.redactor.add(token);
        return next({ headers: { [this.header]: this.scheme === "" ? token : `${this.scheme} ${token}` } });
    }
}
