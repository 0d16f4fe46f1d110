// A merge that was done before, and is not done again.
import { type HeaderPatch, type Headers, type HeaderValue } from "./message";
import { isOwn } from "./own";

/** Merges that are looked at for one to keep: the first, the second, the fourth and so on up to this one. */
const LOOKS_MAX = 1 << 24;

/**
 * What one layer's patch of headers came to last, on headers that are frozen. Most middleware that set headers set the same ones each
 * time, and on what does not change from call to call either: the client's own settings, or what another one kept here. Then
 * nothing is copied. The headers before are told by themselves, since what is frozen stays what it is; the patch is read and compared, unless it is frozen too.
 *
 * It holds one merge at most, which is forgotten as soon as a patch has another value: a header that is a call's own is not kept longer than to the next call.
 */
export class KnownMerge {
    private headers: Headers | undefined = undefined;
    private merged: Headers | undefined = undefined;
    private names: readonly string[] = [];
    private values: readonly (HeaderValue | null)[] = [];
    /** The patch itself, if nobody can change it. */
    private frozen: HeaderPatch | undefined = undefined;
    private misses = 0;

    /** `headers` with `patch` merged in, if that is what it did last. The result is frozen. */
    of(headers: Headers, patch: HeaderPatch): Headers | undefined {
        if (headers !== this.headers) return undefined;
        if (patch === this.frozen || this.isSame(patch)) return this.merged;
        this.forget();
        return undefined;
    }

    /** Keeps a merge that may come again; then `merged` is frozen, and is nobody's to write. */
    learnt(headers: Headers, patch: HeaderPatch, merged: Headers): boolean {
        if (this.misses >= LOOKS_MAX) return false;
        const misses = ++this.misses;
        // At powers of two: what never comes again is looked at ever less often.
        if ((misses & (misses - 1)) !== 0 || !Object.isFrozen(headers)) return false;
        const own = Object.entries(patch).filter(([, value]) => value !== undefined) as readonly (readonly [string, HeaderValue | null])[];
        // A list would have to be read and compared too.
        if (own.some(([, value]) => typeof value === "object" && value !== null)) return false;
        this.names = own.map(([name]) => name);
        this.values = own.map(([, value]) => value);
        this.frozen = Object.isFrozen(patch) ? patch : undefined;
        this.headers = headers;
        this.merged = Object.freeze(merged);
        return true;
    }

    private isSame(patch: HeaderPatch): boolean {
        const { names, values } = this;
        let at = 0;
        for (const name in patch) {
            if (!isOwn(patch, name)) continue;
            const value = patch[name as Lowercase<string>];
            if (value === undefined) continue;
            if (names[at] !== name || values[at] !== value) return false;
            at++;
        }
        return at === names.length;
    }

    private forget(): void {
        this.headers = undefined;
        this.merged = undefined;
        this.frozen = undefined;
        this.names = [];
        this.values = [];
    }
}
