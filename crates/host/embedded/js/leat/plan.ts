// The compiler of plans, with what a host needs of it beyond `leat/middleware`.
export * from "../../../../../packages/leat/src/middleware/index";
export { checkName, isSame, patched } from "../../../../../packages/leat/src/middleware/patch";
export { type Record } from "../../../../../packages/leat/src/middleware/record";
export { LATER, leave } from "../../../../../packages/leat/src/middleware/walk";
