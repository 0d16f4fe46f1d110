// Leat's own router, in the two dialects: each module has the public shape of the one that it stands for.
export { Router as Router5 } from "./v5/router";
export { Route as Route5 } from "./v5/route";
export { Layer as Layer5 } from "./v5/layer";
export { Router as Router4 } from "./v4/router";
export { Route as Route4 } from "./v4/route";
export { Layer as Layer4 } from "./v4/layer";
export { lazyParsedUrl } from "./pathname";
