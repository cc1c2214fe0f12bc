import { checkOptions } from "../core/json/check-options.ts";
import { ImportedFeature } from "../feature/imported-feature.ts";
import { UndoFeature } from "./undo-feature.ts";
import { OPTIONS } from "./undo-options.ts";
import type { UndoOptions } from "./undo-options.ts";

/**
 * Lets people undo what actions with a `revert` did: with a button below the answer, or in their own words. The person who
 * asked may undo, and the one who agreed.
 *
 * @throws {ConfigurationError} `undo-option`
 * @example
 * export class ShopBot extends Think<Env> {
 *   static override undo = undo();
 * }
 */
export function undo(options: UndoOptions = {}): ImportedFeature {
  checkOptions(options, OPTIONS, { owner: "undo", code: "undo-option" });
  return new ImportedFeature({ name: "undo", create: (host) => new UndoFeature(host, options) });
}
