import { checkOptions, isObject, POSITIVE } from "../core/json/check-options.ts";
import type { OptionRules } from "../core/json/check-options.ts";
import { ImportedFeature } from "../feature/imported-feature.ts";
import { createQuickJSExecutor } from "../sandbox/index.ts";
import { ExtensionsFeature } from "./extensions-feature.ts";
import type { ExtensionCallRules, ExtensionRules, ExtensionsOptions } from "./extension-config.ts";

const OPTIONS: OptionRules<ExtensionsOptions> = {
  rules: ["an object of rules by the names of extensions", isObject],
  limits: ["an object of limits", isObject],
};

const CALL_RULES: OptionRules<ExtensionCallRules> = {
  approval: true,
  approvers: true,
  askIn: true,
  expiresAfterMs: POSITIVE,
  grantable: true,
  permissions: true,
  requesterMayApprove: true,
  timeoutMs: POSITIVE,
};
const RULES: OptionRules<ExtensionRules> = { ...CALL_RULES, tools: ["an object of rules", isObject] };

/**
 * Lets the bot's code load extensions: tools and hooks in JavaScript that it does not trust. See `getExtensions`.
 *
 * @throws {ConfigurationError} `extensions-option`, `sandbox-option`
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
  // It checks the limits.
  createQuickJSExecutor({ limits: options.limits ?? {} });
  for (const [name, { tools = {}, ...rules }] of Object.entries(options.rules ?? {})) {
    const owner = `extensions.rules.${name}`;
    checkOptions({ ...rules, tools }, RULES, { owner, code: "extensions-option" });
    for (const [tool, own] of Object.entries(tools))
      checkOptions(own, CALL_RULES, { owner: `${owner}.tools.${tool}`, code: "extensions-option" });
  }
  return new ImportedFeature({ name: "extensions", create: (host) => new ExtensionsFeature(host, options) });
}
