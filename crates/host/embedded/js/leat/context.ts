export function current(): unknown { return undefined; }
export function enter(context: unknown): void { void context; }
