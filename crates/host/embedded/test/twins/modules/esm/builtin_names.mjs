import { Agent, createServer } from "node:http";
export { createServer as passedOn } from "http";
export { Agent, createServer };
