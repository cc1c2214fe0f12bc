import type { ExtensionHook } from "../../../src/extensions/index.ts";

/**
 * The behaviour of a hook.
 *
 * - `works`: `beforeTurn` adds a word to the prompt, the others write a file
 * - `copies`: it reads the file of effects, and writes it as it was
 * - `throws`, `loops`, `hangs`: it fails
 */
export type HookManner = "works" | "copies" | "throws" | "loops" | "hangs";

/** Items of plans that are about extensions. */
export interface ExtensionItem {
  /** The tool that a proposal calls is one of an extension. Its effect is a line in a file of the conversation. */
  readonly kind: "extension";
  /** Name of the message, as the proposal has it. */
  readonly token: string;
  readonly hooks: Readonly<Partial<Record<ExtensionHook, HookManner>>>;
  /** The product's own sandbox, or a plain one that is faster and must not be given a loop. */
  readonly sandbox: "quickjs" | "plain";
}
