import { ImportedFeature } from "../feature/imported-feature.ts";
import { CodemodeFeature } from "./codemode-feature.ts";

/**
 * Lets a bot's class have runtimes for code: see `createCodemodeRuntime`.
 *
 * @example
 * export class ShopBot extends Think<Env> {
 *   static override codemode = codemode();
 * }
 */
export function codemode(): ImportedFeature {
  return new ImportedFeature({ name: "codemode", create: (host) => new CodemodeFeature(host) });
}
