import { value } from "./second.mjs";
console.log("first begins", value);
await new Promise((resolve) => setTimeout(resolve, 1));
console.log("first ends");
export const first = "first";
