import { jsonSchema } from "ai";
import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import type { ThinkActions } from "../../../src/actions/declare/action.ts";
import { defineAction } from "../../../src/actions/declare/define-action.ts";
import { wait } from "../../../src/core/base/deps.ts";
import type { Life } from "../machine/life.ts";
import type { Proposal } from "../oracle/approval-watch.ts";
import { fileName } from "../oracle/check-attached.ts";
import type { Oracle } from "../oracle/oracle.ts";
import { MOST_WORTH, WORTH } from "../plan/plan.ts";
import type { Size } from "../plan/plan.ts";

/** Input of every action. */
interface Effect {
  /** Name of the effect, unique in the run. */
  readonly effect: string;
  readonly size?: Size;
}

interface EffectCall {
  readonly input: Effect;
}

/** The name of the action of the bot that the answer to a message calls. */
export function actionName({ spends, token }: Pick<Proposal, "spends" | "token">): string {
  return spends === true ? "spend" : `act_${token}`;
}

/** The bot's actions: one for each message whose answer calls one, and one that spends. All have effects outside. */
export function botActions(
  proposals: readonly Proposal[],
  { approvals, questions }: Oracle,
  life: Life,
): ThinkActions {
  return Object.fromEntries(
    proposals.map(({ approvers, expiresAfterMs, files, quorum, repeats, size, spends, token, workMs }) => [
      actionName({ spends, token }),
      defineAction<ReturnType<typeof effectSchema>, unknown, ActionContext>({
        description: "Acts.",
        inputSchema: effectSchema(size !== undefined),
        async execute(input: Effect, ctx: ActionContext) {
          const { attachReply, signal } = ctx;
          const { effect } = input;
          await questions.ask(token, effect, ctx.chat?.id ?? "", ctx, life);
          life.write("effect", () => approvals.runs(input, life));
          if (workMs > 0) await wait(life.clock, workMs, signal);
          for (let index = 0; index < files; index += 1) {
            const name = fileName(effect, index);
            attachReply({ type: "image", name, source: new TextEncoder().encode(name) });
          }
          return { done: effect };
        },
        ...(approvers !== "nobody" && {
          approval: true,
          approvalSummary: ({ input }: EffectCall) => summaryOf(input),
          approvers: approvers === "ada" ? ["7"] : "anyone",
          askIn: "here" as const,
          ...(quorum !== undefined && { quorum }),
          ...(spends === true && {
            amount: ({ input }: EffectCall) => ({ value: WORTH[input.size ?? "small"], currency: "EUR" }),
            grantable: () => ({
              scope: "all",
              words: "All",
              budget: "all",
              sum: { value: MOST_WORTH, currency: "EUR" },
            }),
          }),
          expiresAfterMs,
        }),
        ...(repeats !== "never" && { idempotencyKey: ({ input }: EffectCall) => input.effect }),
        ...(repeats === "verified" && {
          verify: ({ input }: EffectCall) =>
            approvals.hasRun(input.effect) ? { done: true, output: { done: input.effect } } : { done: false },
        }),
      }),
    ]),
  );
}

function summaryOf({ effect, size }: Effect): string {
  return size === undefined ? `Let ${effect} happen` : `Let ${effect} happen, ${size}`;
}

function effectSchema(hasSize: boolean): ReturnType<typeof jsonSchema<Effect>> {
  return jsonSchema<Effect>({
    type: "object",
    properties: {
      effect: { type: "string" },
      ...(hasSize && { size: { type: "string", enum: Object.keys(WORTH) } }),
    },
    required: ["effect", ...(hasSize ? ["size"] : [])],
  });
}
