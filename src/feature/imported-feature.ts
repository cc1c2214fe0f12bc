import { ConfigurationError } from "../core/base/errors.ts";
import type { Feature, FeatureKind } from "./feature.ts";

/**
 * A feature that a bot has only through an import: a function of that import makes it, for a static member of the bot's
 * class. Without the import no byte of it is in the bundle.
 */
export class ImportedFeature {
  /** @internal */
  readonly kind: FeatureKind<Feature, unknown>;

  constructor(kind: FeatureKind<Feature, unknown>) {
    this.kind = kind;
  }
}

/** The fix for a bot that uses memory without its import. */
export const MEMORY_MISSING =
  'configureSession() and this.session need `static memory = memory()`: import { memory } from "switchboard/memory".';

const registered: FeatureKind<Feature, unknown>[] = [];

/** Adds a feature to all bots of the Worker. Only as a module is loaded that such a bot imports. */
export function registerFeature(kind: FeatureKind<Feature, unknown>): void {
  registered.push(kind);
}

/** The static members of a bot's class that bring a feature, and the imports that make their values. */
const MEMBERS = {
  mcpServer: "switchboard/mcp",
  mcpClient: "switchboard/mcp-client",
  telemetry: "switchboard/telemetry",
  memory: "switchboard/memory",
  workspace: "switchboard/workspace",
  skills: "switchboard/skills",
  codemode: "switchboard/codemode",
  undo: "switchboard/undo",
  extensions: "switchboard/extensions",
} as const;

/** A static member of a bot's class that brings a feature. */
export type ImportedMember = keyof typeof MEMBERS;

/** Returns the error of a bot's code that uses a feature which the bot has not imported. */
export function notImported(member: ImportedMember): ConfigurationError {
  return new ConfigurationError(
    "feature-not-imported",
    `The bot's class has no static member ${member}. Make it with ${member}() of "${MEMBERS[member]}".`,
  );
}

/**
 * Returns the features that a bot's class has by imports.
 *
 * @throws {ConfigurationError} `feature-not-imported` for a value that the import has not made, or a method without it
 */
export function importedFeatures(agentClass: object): FeatureKind<Feature, unknown>[] {
  const { extensions, memory, prototype, skills } = agentClass as {
    readonly extensions?: unknown;
    readonly memory?: unknown;
    readonly skills?: unknown;
    readonly prototype?: object;
  };
  if (skills === undefined && prototype !== undefined && "getSkills" in prototype)
    throw notImported("skills");
  if (extensions === undefined && prototype !== undefined && "getExtensions" in prototype)
    throw notImported("extensions");
  if (memory === undefined && prototype !== undefined && "configureSession" in prototype)
    throw new ConfigurationError("feature-not-imported", MEMORY_MISSING);
  const own = Object.entries(MEMBERS).flatMap(([member, from]) => {
    const value: unknown = Reflect.get(agentClass, member);
    if (value === undefined) return [];
    if (value instanceof ImportedFeature) return [value.kind];
    throw new ConfigurationError(
      "feature-not-imported",
      `The static member ${member} of the bot's class must be made by ${member}() of "${from}": import { ${member} } from "${from}".`,
    );
  });
  return [...own, ...registered];
}
