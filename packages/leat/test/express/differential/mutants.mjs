// Versions of real Express with one fault each. The table must tell every one of them from the original.
export const mutants = {};
