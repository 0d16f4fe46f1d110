import { lateA } from './cycle-a.mjs'; export const b = 'b'; export const tried = (() => { try { return lateA(); } catch (error) { return error.constructor.name; } })();
