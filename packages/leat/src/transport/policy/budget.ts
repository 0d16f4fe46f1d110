// How many retries there may be beside requests, so that retries never multiply an outage.

/** A retry costs a token; balances are in thousandths of it. */
const TOKEN = 1000;
const US_A_MS = 1000;
/** The most tokens that can be kept; what the gateway's budgets hold. */
export const BURST_MAX = 16_777;

/** What a budget is made with. */
export interface BudgetSettings {
    /** Tokens that a request brings, from 0 to 1; thousandths count. */
    readonly ratio: number;
    /** Tokens that a second brings, whether requests come or not. */
    readonly perSecond: number;
    /** Tokens that are kept at most, and there at first. From 1 to `BURST_MAX`. */
    readonly burst: number;
}

/**
 * A bucket of tokens that fills by a fraction of a token with every request and by a few tokens a second, and gives one for every
 * retry. In any time T with N requests there are at most `burst + ratio × N + perSecond × T` retries (time in whole
 * milliseconds, by the furthest clock that it was told). Share one among all that send to the same upstream.
 */
export class Budget {
    private readonly ratio: number;
    private readonly perSecond: number;
    private readonly burst: number;
    private balance: number;
    private atMs = 0;

    constructor({ ratio, perSecond, burst }: BudgetSettings) {
        this.ratio = Math.round(ratio * TOKEN);
        this.perSecond = perSecond;
        this.burst = burst * TOKEN;
        this.balance = this.burst;
    }

    /** A request came (not a retry). */
    deposit(nowUs: number): void {
        this.fill(nowUs, this.ratio);
    }

    /** Takes a token for a retry; false if there is none. */
    withdraw(nowUs: number): boolean {
        if (this.available(nowUs) === 0) return false;
        this.balance -= TOKEN;
        return true;
    }

    /** Retries that could be made now. */
    available(nowUs: number): number {
        this.fill(nowUs, 0);
        return Math.floor(this.balance / TOKEN);
    }

    /** A clock that stepped back fills nothing and stays where it was. */
    private fill(nowUs: number, extra: number): void {
        const nowMs = Math.max(Math.floor(nowUs / US_A_MS), this.atMs);
        // Tokens a second are thousandths of a token a millisecond.
        this.balance = Math.min(this.burst, this.balance + (nowMs - this.atMs) * this.perSecond + extra);
        this.atMs = nowMs;
    }
}
