/** Imports a package of this project, as a program of it would. */
export const load = (name) => import(name);
