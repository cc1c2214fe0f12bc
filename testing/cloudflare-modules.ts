/**
 * Lets Node import a bot's module, whose packages import modules that exist only in workerd, and files that only a bundler
 * reads. A test needs the class for its name only; the bot itself runs in workerd.
 *
 * Importing this file is enough, if that happens before the bot is imported.
 */
import { registerHooks } from "node:module";

/** Names that packages import from `cloudflare:workers` and `cloudflare:email`. */
const CLASSES = [
  "DurableObject",
  "EmailMessage",
  "RpcPromise",
  "RpcProperty",
  "RpcStub",
  "RpcTarget",
  "ServiceStub",
  "WorkerEntrypoint",
  "WorkflowEntrypoint",
];
const OBJECTS = ["cache", "env", "exports", "tracing"];
const FUNCTIONS = ["abortIsolate", "waitUntil", "withEnv", "withEnvAndExports", "withExports"];

const SOURCE = [
  ...CLASSES.map((name) => `class ${name} {}`),
  ...OBJECTS.map((name) => `const ${name === "exports" ? "exported" : name} = {};`),
  ...FUNCTIONS.map((name) => `function ${name}() {}`),
  `export { ${[...CLASSES, ...OBJECTS.map((name) => (name === "exports" ? "exported as exports" : name)), ...FUNCTIONS].join(", ")} };`,
  "export default {};",
].join("\n");

/** Kinds of files that wrangler's bundles may import, and Node cannot. */
const BUNDLED = /\.(?:bin|html|sql|txt|wasm)$/;

registerHooks({
  load: (url, context, next) =>
    BUNDLED.test(url)
      ? { format: "module", source: "export default undefined;", shortCircuit: true }
      : next(url, context),
  resolve: (specifier, context, next) =>
    specifier.startsWith("cloudflare:")
      ? { url: `data:text/javascript,${encodeURIComponent(SOURCE)}`, shortCircuit: true }
      : next(specifier, context),
});
