export const meta = import.meta;
