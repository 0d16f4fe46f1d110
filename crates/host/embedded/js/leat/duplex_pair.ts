// `stream.duplexPair`: two streams, each of which reads what is written to the other.
import { Duplex, type DuplexOptions } from "node:stream";

type Done = (error?: Error | null) => void;

class Side extends Duplex {
    other: Side | undefined;
    waiting: Done | undefined;

    override _read(): void {
        const done = this.waiting;
        this.waiting = undefined;
        done?.();
    }

    override _write(chunk: Buffer, encoding: BufferEncoding, done: Done): void {
        const other = this.other as Side;
        if (chunk.length === 0) {
            process.nextTick(done);
            return;
        }
        other.push(chunk, encoding);
        other.waiting = done;
    }

    override _final(done: Done): void {
        const other = this.other as Side;
        other.on("end", done as () => void);
        other.push(null);
    }
}

/** The two streams; `options` are those of both. */
export function duplexPair(options?: DuplexOptions): [Duplex, Duplex] {
    const [one, other] = [new Side(options), new Side(options)];
    one.other = other;
    other.other = one;
    return [one, other];
}
