const { write } = native("process") as { write(to: number, text: string): void };
export function log(...values: unknown[]): void {
    write(1, `${values.map(String).join(" ")}\n`);
}
