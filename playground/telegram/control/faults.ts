import { matchesMethod } from "./api-log.ts";
import type { ApiCall } from "./api-log.ts";

/** What goes wrong. Delays are milliseconds, `retryAfter` is seconds. */
export type FaultKind =
  | { readonly kind: "429"; readonly retryAfter: number }
  | { readonly kind: "5xx"; readonly status?: number; readonly body?: "html" | "json" }
  | { readonly kind: "400" | "403"; readonly description: string }
  /**
   * Hits rich messages only, in whichever call. `unknown`: answered as by a server that is older than rich messages;
   * else their content is refused.
   */
  | { readonly kind: "rich-refused"; readonly unknown: boolean }
  /** Answered late, but well. */
  | { readonly kind: "slow"; readonly delayMs: number }
  /** Never answered. */
  | { readonly kind: "hang"; readonly processed: boolean }
  /** The connection ends; nothing was done. */
  | { readonly kind: "cut-before" }
  /** It was done; the connection ends before the answer. */
  | { readonly kind: "cut-after" }
  /** The connection ends; it is done `delayMs` later. */
  | { readonly kind: "late"; readonly delayMs: number };

/** A fault and the calls that it hits: the first matching call by default. */
export type FaultRule = FaultKind & {
  readonly method?: string | RegExp;
  readonly chatId?: number;
  /** How many calls are hit. @default 1 */
  readonly times?: number;
  /** How many matching calls pass before. @default 0 */
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

  /** Rules are asked in the order in which they came. Returns what removes this one. */
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

  /** The fault that hits this call, if any; uses it up. */
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
