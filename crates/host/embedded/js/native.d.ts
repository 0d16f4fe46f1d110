/** The native functions called `name`, made when they are first asked for. Only built-in modules have this. */
declare function native(name: string): unknown;
