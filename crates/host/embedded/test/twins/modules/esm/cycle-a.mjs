import { b } from './cycle-b.mjs'; export const a = 'a'; export function lateA() { return a + b; }
