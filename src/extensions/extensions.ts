import { checkOptions, isObject } from "../core/check-options.ts";
import type { OptionRules } from "../core/check-options.ts";
import { ImportedFeature } from "../feature/imported-feature.ts";
import { ExtensionsFeature } from "./extensions-feature.ts";
import type { ExtensionsOptions } from "./extension-config.ts";

const OPTIONS: OptionRules<ExtensionsOptions> = {
  rules: ["an object of rules by the names of extensions", isObject],
  limits: ["an object of limits", isObject],
};

/**
 * Lets the bot's code load extensions: tools and hooks in JavaScript that it does not trust. See `getExtensions`.
 *
 * @throws {ConfigurationError} `extensions-option`
 * @example
 * export class DeskBot extends Think<Env> {
 *   static override extensions = extensions();
 *   override getExtensions() {
 *     return [{ manifest: { name: "math", version: "1.0.0" }, source: mathSource }];
 *   }
 * }
 */
export function extensions(options: ExtensionsOptions = {}): ImportedFeature {
  checkOptions(options, OPTIONS, { owner: "extensions", code: "extensions-option" });
  return new ImportedFeature({ name: "extensions", create: (host) => new ExtensionsFeature(host, options) });
}
