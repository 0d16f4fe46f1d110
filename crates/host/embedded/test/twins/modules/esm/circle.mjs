import "./circle.cjs"; export const done = 1;
