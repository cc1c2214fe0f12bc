import { z } from "zod";
import type { ActionOptions } from "../../../src/actions/declare/action.ts";
import { defineAction } from "../../../src/actions/declare/define-action.ts";

const inputSchema = z.object({ order: z.string(), amount: z.number() });
const PERMISSION = "billing:refund";

/** Money that was paid back. */
export interface Effect {
  readonly call: { readonly turn: string; readonly order: string; readonly amount: number };
  readonly person: string | undefined;
  readonly at: number;
}

/** The state of a story that the bot's class reads and changes. */
interface Refunds {
  readonly clock: { now(): number };
  /** Everything that was paid back. */
  readonly effects: Effect[];
  /** The people who may ask for refunds. */
  readonly holders: ReadonlySet<string>;
}

/** The bot's own class: who may do what, and the action. `isDead`: whether the object's process has been killed. */
export function consentBot({ clock, effects, holders }: Refunds, isDead: () => boolean): object {
  const options: ActionOptions<typeof inputSchema, unknown> = {
    kind: "approval-gated",
    description: "Refund an order.",
    inputSchema,
    idempotencyKey: ({ input }) => input.order,
    permissions: [PERMISSION],
    approval: true,
    approvers: ["dana", "eli"],
    requesterMayApprove: false,
    remindAfterMs: 20 * 60_000,
    expiresAfterMs: 60 * 60_000,
    grantable: ({ input }) => ({
      scope: scopeOf(input.amount),
      words: `Refunds: ${scopeOf(input.amount)}`,
    }),
    execute: async ({ amount, order }, ctx) => {
      await Promise.resolve();
      if (isDead()) return new Promise(() => {});
      const call = { turn: ctx.requestId, order, amount };
      effects.push({ call, person: ctx.person?.userId, at: clock.now() });
      await Promise.resolve();
      return { paid: amount };
    },
    verify: ({ input: { order } }) => {
      const made = effects.find(({ call }) => call.order === order);
      return made === undefined ? { done: false } : { done: true, output: { paid: made.call.amount } };
    },
  };
  const refund = defineAction(options);
  const refundPrivately = defineAction({ ...options, askIn: "approver-dm" });
  return {
    actionLedgerPendingRetryLeaseMs: 300_000,
    actionTemplates: false,
    approvalWords: { yes: ["yes"], no: ["no"] },
    getActions: () => ({ refund, refund_privately: refundPrivately }),
    getTools: () => ({}),
    authorizeTurn: ({ person }: { readonly person?: { readonly userId: string } }) => ({
      allowed: true,
      grantedPermissions: holders.has(person?.userId ?? "") ? [PERMISSION] : [],
    }),
    authorizeAction: ({ isGranted }: { readonly isGranted: boolean }) => isGranted,
  };
}

/** The calls that one grant covers. */
export function scopeOf(amount: number): string {
  return amount < 10_000 ? "small" : "large";
}
