import { log } from './order.mjs'; log.push('beside');
