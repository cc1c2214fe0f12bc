import { ConfigurationError } from "../core/errors.ts";
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

/** The static members of a bot's class that bring a feature, and the imports that make their values. */
const MEMBERS = {
  mcpServer: "switchboard/mcp",
  mcpClient: "switchboard/mcp-client",
  telemetry: "switchboard/telemetry",
} as const;

/**
 * Returns the features that a bot's class has by imports.
 *
 * @throws {ConfigurationError} `feature-not-imported` for a value that the import has not made
 */
export function importedFeatures(agentClass: object): FeatureKind<Feature, unknown>[] {
  return Object.entries(MEMBERS).flatMap(([member, from]) => {
    const value: unknown = Reflect.get(agentClass, member);
    if (value === undefined) return [];
    if (value instanceof ImportedFeature) return [value.kind];
    throw new ConfigurationError(
      "feature-not-imported",
      `The static member ${member} of the bot's class must be made by ${member}() of "${from}": import { ${member} } from "${from}".`,
    );
  });
}
