import { matchesMethod } from "./api-log.ts";
import type { ApiCall } from "./api-log.ts";

/** A fault of a call. Delays are in milliseconds, `retryAfter` is in seconds. */
export type FaultKind =
  | { readonly kind: "429"; readonly retryAfter: number }
  | { readonly kind: "5xx"; readonly status?: number; readonly body?: "html" | "json" }
  | { readonly kind: "400" | "403"; readonly description: string }
  /**
   * Affects rich messages only, in any call. `unknown`: the answer of a server that is older than rich messages.
   * Otherwise the content is refused.
   */
  | { readonly kind: "rich-refused"; readonly unknown: boolean }
  /** The correct answer, late. */
  | { readonly kind: "slow"; readonly delayMs: number }
  /** No answer. */
  | { readonly kind: "hang"; readonly processed: boolean }
  /** The connection ends before anything is done. */
  | { readonly kind: "cut-before" }
  /** The call is done, and the connection ends before the answer. */
  | { readonly kind: "cut-after" }
  /** The connection ends, and the call is done `delayMs` later. */
  | { readonly kind: "late"; readonly delayMs: number };

/** A fault, and the calls that it affects. By default the first matching call. */
export type FaultRule = FaultKind & {
  readonly method?: string | RegExp;
  readonly chatId?: number;
  /** Number of calls to affect. @default 1 */
  readonly times?: number;
  /** Number of matching calls to let pass first. @default 0 */
  readonly skip?: number;
  readonly when?: (call: ApiCall) => boolean;
};

interface ActiveRule {
  readonly id: number;
  readonly rule: FaultRule;
  left: number;
  skip: number;
}

export class Faults {
  #rules: ActiveRule[] = [];
  #count = 0;
  onChange: () => void = () => undefined;

  /** Adds a rule. Earlier rules win. Returns a function that removes the rule. */
  add(rule: FaultRule): { readonly id: number; readonly remove: () => void } {
    this.#count += 1;
    const active: ActiveRule = { id: this.#count, rule, left: rule.times ?? 1, skip: rule.skip ?? 0 };
    this.#rules.push(active);
    this.onChange();
    return { id: active.id, remove: () => this.remove(active.id) };
  }

  remove(id: number): void {
    this.#rules = this.#rules.filter((active) => active.id !== id);
    this.onChange();
  }

  clear(): void {
    this.#rules = [];
    this.onChange();
  }

  list(): readonly { readonly id: number; readonly rule: FaultRule; readonly left: number }[] {
    return this.#rules.map(({ id, rule, left }) => ({ id, rule, left }));
  }

  /** Returns the fault for this call, if any, and counts it as used. */
  take(call: ApiCall): FaultKind | undefined {
    for (const active of this.#rules) {
      const { rule } = active;
      if (rule.method !== undefined && !matchesMethod(rule.method, call.method)) continue;
      if (rule.chatId !== undefined && rule.chatId !== call.chatId) continue;
      if (rule.kind === "rich-refused" && call.payload.rich_message === undefined) continue;
      if (rule.when !== undefined && !rule.when(call)) continue;
      if (active.skip > 0) {
        active.skip -= 1;
        continue;
      }
      active.left -= 1;
      if (active.left <= 0) this.remove(active.id);
      return rule;
    }
    return undefined;
  }
}
