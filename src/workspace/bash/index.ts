/** A shell for the model of a bot with a workspace. It makes a bundle 356 KB larger (gzipped). */
export { bash } from "./bash.ts";
export type { BashOptions } from "./bash.ts";
export type { BashTool } from "../bash-tool.ts";
