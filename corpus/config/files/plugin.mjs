import { middleware } from "leat/middleware";

export default middleware({ name: "nothing", scope: "call", onRequest() {} });
