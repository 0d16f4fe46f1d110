// The compiler of plans, with what a host needs of it beyond `leat/middleware`.
export * from "../../../../../packages/leat/src/middleware/index";
export { checkName, isSame, patched } from "../../../../../packages/leat/src/middleware/patch";
export { type Layer } from "../../../../../packages/leat/src/middleware/layer";
export { type Frame, Record } from "../../../../../packages/leat/src/middleware/record";
export { type Called, goOn, LATER, leave } from "../../../../../packages/leat/src/middleware/walk";
