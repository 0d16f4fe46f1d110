import { log } from './order.mjs'; import './second.cjs'; log.push('first'); export let live = 1; export function bump() { live += 1; } export default class Thing {} 
