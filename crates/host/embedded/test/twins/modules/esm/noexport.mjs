import { nope } from "./order.mjs";
