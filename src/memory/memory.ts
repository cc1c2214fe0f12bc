import { ImportedFeature } from "../feature/imported-feature.ts";
import { MemoryFeature } from "./memory-feature.ts";

/**
 * Gives the bot memory: `configureSession` with its blocks, `this.session`, the model's tools for them, search in the
 * transcript, and `/memory` for people.
 *
 * @example
 * export class ShopBot extends Think<Env> {
 *   static override memory = memory();
 *   override configureSession(session: Session) {
 *     return session.withContext("customer", { scope: "person", consent: true, description: "Sizes and addresses" });
 *   }
 * }
 */
export function memory(): ImportedFeature {
  return new ImportedFeature({ name: "memory", create: (host) => new MemoryFeature(host) });
}
