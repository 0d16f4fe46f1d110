export function runTimers(): void {}
export function runImmediates(): void {}
