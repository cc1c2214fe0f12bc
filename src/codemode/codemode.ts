import { checkOptions, TEXT, type OptionRules } from "../core/json/check-options.ts";
import { ImportedFeature } from "../feature/imported-feature.ts";
import { CodemodeFeature, type CodemodeOptions } from "./codemode-feature.ts";

const OPTIONS: OptionRules<CodemodeOptions> = { texts: { doneBefore: TEXT } };

/**
 * Lets a bot's class have runtimes for code: see `createCodemodeRuntime`.
 *
 * @throws {ConfigurationError} `codemode-option`
 * @example
 * export class ShopBot extends Think<Env> {
 *   static override codemode = codemode();
 * }
 */
export function codemode(options: CodemodeOptions = {}): ImportedFeature {
  checkOptions(options, OPTIONS, { owner: "codemode", code: "codemode-option" });
  return new ImportedFeature({ name: "codemode", create: (host) => new CodemodeFeature(host, options) });
}
