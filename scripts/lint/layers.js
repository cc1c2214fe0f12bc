/**
 * The layer rule, as an oxlint plugin. It is plain JavaScript, because any Node may start oxlint.
 *
 *   core ← { inbox, turn, actions, replay, forms, sandbox, outgoing, models, log, texts, delivery,
 *            providers/* }
 *        ← messengers ← scheduled-runs ← feature
 *        ← { approvals, questions, schedules, broadcasts, submissions, hooks, mcp, mcp-client, telemetry, memory,
 *            workspace, agent-tools }
 *        ← agent ← the shell (files directly in src/) ← examples
 *
 * - A file may import from its own part, from `core`, and from layers below its own.
 * - A large part has rooms; a room imports lower ones only.
 * - Nothing outside of delivery/ imports anything of it but delivery/index.ts.
 * - Parts of one layer meet only through contracts in `core`. A provider never imports another provider.
 * - The product never imports what stands outside of it.
 * - Outside, each imports lower ones only: ops ← scripts ← playground ← cli ← lab ← testing ← test. The first three
 *   never import the product, because they play the outside world; the lab and the tests may import all of it. Three
 *   files are shared: they define secrets, find the name that was meant, and tell how long a failure rests.
 */
import path from "node:path";
import { circles } from "./circles.js";

/**
 * Rooms of a part, lower ones first. Rooms of one line never import each other. Files beside the rooms may import all
 * of them. A room with rooms of its own comes after its part.
 */
const ROOMS = {
  "src/core": [
    ["base"],
    ["time", "bytes"],
    ["text", "web", "store"],
    ["message"],
    ["json", "action"],
    ["chat"],
    ["turn"],
  ],
  delivery: [
    ["text", "files"],
    ["budget", "outbox"],
    ["calls"],
    ["modes", "lost-posts"],
    ["lane"],
    ["marks"],
  ],
  "src/actions": [["declare"], ["memory", "ledger", "attachments"], ["runs"], ["tools"]],
  "src/messengers": [["declare"], ["root"], ["replies"], ["intake", "turns"], ["thread"], ["tools"]],
  "src/approvals": [["rules"], ["stored"], ["consent"], ["root"], ["chat"]],
  "src/schedules": [["rules"], ["stored"], ["runs"], ["chat"]],
  lab: [["support"], ["bench", "chaos", "simulation"]],
  "lab/simulation": [["machine"], ["plan"], ["platform"], ["oracle"], ["world", "mutants"]],
};
const LAYERS = {
  core: 0,
  part: 1,
  messengers: 2,
  shared: 3,
  contract: 4,
  feature: 5,
  agent: 6,
  shell: 7,
  examples: 8,
};

/** The layers of the folders of `src/` that are no parts. */
const LAYER_OF = {
  core: "core",
  messengers: "messengers",
  "scheduled-runs": "shared",
  feature: "contract",
  approvals: "feature",
  schedules: "feature",
  broadcasts: "feature",
  submissions: "feature",
  hooks: "feature",
  mcp: "feature",
  "mcp-client": "feature",
  telemetry: "feature",
  memory: "feature",
  workspace: "feature",
  "agent-tools": "feature",
  skills: "feature",
  questions: "feature",
  codemode: "feature",
  undo: "feature",
  extensions: "feature",
  agent: "agent",
};

/** Folders outside the product, lower ones first. */
const OUTSIDE = ["ops", "scripts", "playground", "cli", "lab", "testing", "test"];

/** Outside folders that play the outside world, or build or operate the product. */
const STRANGERS = new Set(["ops", "playground", "scripts"]);

/** Files of the product that these folders may still import. They import nothing themselves. */
const SHARED = new Set([
  "src/log/hide-secrets.ts",
  "src/core/text/closest-name.ts",
  "src/core/base/rest-after.ts",
]);

/**
 * Returns the part of the product that a file belongs to.
 * @param {string} relative path from the project's root, with forward slashes
 * @returns {{ layer: string, part: string } | undefined} undefined where the rule does not apply
 */
export function partOf(relative) {
  const [top, second, third] = relative.split("/");
  if (top === "src") {
    if (third === undefined) return { layer: "shell", part: "src" };
    return { layer: LAYER_OF[second] ?? "part", part: `src/${second}` };
  }
  if (top === "delivery") return { layer: "part", part: "delivery" };
  if (top === "providers" && third !== undefined) return { layer: "part", part: `providers/${second}` };
  if (top === "examples" && third !== undefined) return { layer: "examples", part: `examples/${second}` };
  if (OUTSIDE.includes(top)) return { layer: top, part: top };
  return undefined;
}

/**
 * Returns the problem of an import inside a part that has rooms.
 * @param {string} part
 * @param {string} from importing file, relative to the root
 * @param {string} to imported file, relative to the root
 * @returns {string | undefined}
 */
function roomBreach(part, from, to) {
  const floors = ROOMS[part];
  if (floors === undefined) return undefined;
  const [source, target] = [from, to].map((file) => {
    const rest = file.slice(part.length + 1).split("/");
    return rest.length === 1 ? undefined : rest[0];
  });
  if (source === undefined || source === target) return undefined;
  if (target === undefined)
    return `${part}/${source}/ is below the files beside it and must not import ${to}.`;
  const [low, high] = [source, target].map((room) => floors.findIndex((floor) => floor.includes(room)));
  const unknown = low === -1 ? source : high === -1 ? target : undefined;
  if (unknown !== undefined) {
    return `${part}/${unknown}/ is no room that scripts/lint/layers.js knows: give it a place there.`;
  }
  if (low > high) return undefined;
  return `${part}/${source}/ is not above ${part}/${target}/ and must not import it; the order is in scripts/lint/layers.js.`;
}

/**
 * Returns the problem of an import from outside the product.
 * @param {string} source importing part
 * @param {{ layer: string, part: string }} target imported part
 * @param {string} to imported file
 * @returns {string | undefined}
 */
function outsideBreach(source, target, to) {
  if (target.layer in LAYERS) {
    return STRANGERS.has(source) && !SHARED.has(to)
      ? `${source}/ stands outside the product and does not import ${target.part}/; talk to it as its users do.`
      : undefined;
  }
  if (OUTSIDE.indexOf(source) > OUTSIDE.indexOf(target.part)) return undefined;
  return `${source}/ is below ${target.part}/ and must not import it; the order is ${OUTSIDE.join(", ")}.`;
}

/**
 * Checks one import.
 * @param {string} from importing file, relative to the root
 * @param {string} to imported file, relative to the root
 * @returns {string | undefined} what is wrong with the import, in one sentence
 */
export function breach(from, to) {
  const source = partOf(from);
  const target = partOf(to);
  if (source === undefined || target === undefined) return undefined;
  if (source.part === target.part) {
    const narrowest = Object.keys(ROOMS).findLast((part) =>
      [from, to].every((file) => file.startsWith(`${part}/`)),
    );
    return roomBreach(narrowest ?? source.part, from, to);
  }
  if (OUTSIDE.includes(source.layer)) return outsideBreach(source.part, target, to);
  if (!(target.layer in LAYERS)) return `The product (${source.part}/) does not import ${target.part}/.`;
  if (target.part === "delivery" && to !== "delivery/index.ts") {
    return `${source.part}/ imports delivery/index.ts, which is the whole face of delivery/, and not ${to}.`;
  }
  if (LAYERS[source.layer] > LAYERS[target.layer]) return undefined;
  if (source.layer === target.layer) {
    return `${source.part}/ and ${target.part}/ are parts of one layer and do not import each other; put the contract in src/core/.`;
  }
  return `${source.part}/ (${source.layer}) is below ${target.part}/ (${target.layer}) and must not import it; the order is core, parts, messengers, scheduled-runs, feature, features, agent, src/*.ts, examples.`;
}

const rule = {
  meta: { type: "problem", docs: { description: "Imports follow the order of the layers." }, schema: [] },
  create(context) {
    const root = context.cwd;
    const check = (source) => {
      if (source === null || source === undefined || typeof source.value !== "string") return;
      const specifier = source.value;
      const toSelf = /^switchboard(\/|$)/.test(specifier);
      if (!specifier.startsWith(".") && !toSelf) return;
      const from = path.relative(root, context.filename).split(path.sep).join("/");
      const to = toSelf ? "src/index.ts" : path.posix.join(path.posix.dirname(from), specifier);
      const problem = breach(from, to);
      if (problem !== undefined) context.report({ node: source, message: problem });
    };
    return {
      ImportDeclaration: (node) => check(node.source),
      ExportNamedDeclaration: (node) => check(node.source),
      ExportAllDeclaration: (node) => check(node.source),
      ImportExpression: (node) => check(node.source),
      TSImportType: (node) => check(node.source ?? node.argument),
    };
  },
};

/** TypeScript's `private` does not exist at run time: such a method of a Durable Object can be called over RPC. */
const hashPrivate = {
  meta: { type: "problem", docs: { description: "Private members are #private." }, schema: [] },
  create(context) {
    const check = (node) => {
      if (node.accessibility === "private") {
        context.report({
          node: node.key ?? node,
          message: "Use #name; `private` members stay callable over RPC.",
        });
      }
    };
    return { PropertyDefinition: check, MethodDefinition: check, TSParameterProperty: check };
  },
};

export default {
  meta: { name: "switchboard" },
  rules: { circles, layers: rule, "hash-private": hashPrivate },
};
