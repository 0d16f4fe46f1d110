import { FIELD_WORDS } from "./records";

/** Bytes of one slab. The engine fills it from the start; once it goes on with another one, this one is lent again. */
export const SLAB_BYTES = 65_536;

/** What Buffer has besides its documented methods: the quickest way from bytes to text. */
interface Latin1 {
    latin1Slice(from: number, to: number): string;
}

/** Memory that the engine fills with records: the same bytes as words and as text. Never written to from here. */
export class Slab {
    readonly bytes: Buffer & Latin1;
    readonly words: Uint32Array;

    constructor(length = SLAB_BYTES) {
        this.bytes = Buffer.allocUnsafeSlow(length) as Buffer & Latin1;
        this.words = new Uint32Array(this.bytes.buffer, this.bytes.byteOffset, length >>> 2);
    }

    /** The word at index `at`. */
    word(at: number): number {
        return this.words[at]!;
    }

    /** `length` bytes from `at` as text, one char a byte. */
    text(at: number, length: number): string {
        return this.bytes.latin1Slice(at, at + length);
    }

    /** A copy of `length` bytes from `at`: what JavaScript keeps or changes must not pin or spoil the slab. */
    copy(at: number, length: number): Buffer {
        const out = Buffer.allocUnsafe(length);
        this.bytes.copy(out, 0, at, at + length);
        return out;
    }

    /** Names and values of `count` fields whose words begin at word `at`, as sent: `[name, value, name, value…]`. */
    rawFields(at: number, count: number): string[] {
        const out: string[] = [];
        for (let i = 0, w = at; i < count; i++, w += FIELD_WORDS) {
            const nameAt = this.words[w]!;
            const valueAt = this.words[w + 2]!;
            out.push(
                this.bytes.latin1Slice(nameAt, nameAt + (this.words[w + 1]! & 0xffff)),
                this.bytes.latin1Slice(valueAt, valueAt + this.words[w + 3]!),
            );
        }
        return out;
    }
}
