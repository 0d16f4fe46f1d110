// Versions of node:http that differ in one way each. The table must tell every one of them from the original.
export const mutants = {};
