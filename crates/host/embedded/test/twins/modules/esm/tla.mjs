import { log } from './order.mjs'; log.push('tla before'); await new Promise((resolve) => Promise.resolve().then(resolve)); log.push('tla after'); export const waited = true;
