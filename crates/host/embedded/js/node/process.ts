export const hooks = {
    ticks(): void {},
    rejections(): void {},
    rejected(): void {},
    uncaught(error: unknown): void {
        const { write, exit } = native("process") as { write(to: number, text: string): void; exit(code: number): void };
        write(2, `Uncaught ${String(error)}\n${(error as { stack?: string }).stack}\n`);
        exit(1);
    },
    beforeExit(): void {},
    exit(): void {},
};
