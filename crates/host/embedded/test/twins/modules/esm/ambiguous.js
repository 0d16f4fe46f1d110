export const ambiguous = "esm by syntax";
