import { jsonSchema } from "ai";
import type { ActionContext, ThinkActions } from "../../../src/actions/declare/action.ts";
import { defineAction } from "../../../src/actions/declare/define-action.ts";
import { wait } from "../../../src/core/deps.ts";
import type { Life } from "../machine/life.ts";
import type { Proposal } from "../oracle/approval-watch.ts";
import { fileName } from "../oracle/check-attached.ts";
import type { Oracle } from "../oracle/oracle.ts";

/** Input of every action. */
interface Effect {
  /** Name of the effect, unique in the run. */
  readonly effect: string;
}

interface EffectCall {
  readonly input: Effect;
}

/** The name of the action that the answer to a message calls. */
export function actionName(token: string): string {
  return `act_${token}`;
}

/** The bot's actions, one for each message whose answer calls one. All have their effects in the outside world. */
export function botActions(
  proposals: readonly Proposal[],
  { approvals, questions }: Oracle,
  life: Life,
): ThinkActions {
  return Object.fromEntries(
    proposals.map(({ approvers, expiresAfterMs, files, quorum, repeats, token, workMs }) => [
      actionName(token),
      defineAction<ReturnType<typeof effectSchema>, unknown, ActionContext>({
        description: "Acts.",
        inputSchema: effectSchema(),
        async execute({ effect }: Effect, ctx: ActionContext) {
          const { attachReply, signal } = ctx;
          await questions.ask(token, effect, ctx.chat?.id ?? "", ctx, life);
          life.write("effect", () => approvals.runs({ effect }, life));
          if (workMs > 0) await wait(life.clock, workMs, signal);
          for (let index = 0; index < files; index += 1) {
            const name = fileName(effect, index);
            attachReply({ type: "image", name, source: new TextEncoder().encode(name) });
          }
          return { done: effect };
        },
        ...(approvers !== "nobody" && {
          approval: true,
          approvalSummary: ({ input }: EffectCall) => `Let ${input.effect} happen`,
          approvers: approvers === "ada" ? ["7"] : "anyone",
          askIn: "here" as const,
          ...(quorum !== undefined && { quorum }),
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

function effectSchema(): ReturnType<typeof jsonSchema<Effect>> {
  return jsonSchema<Effect>({
    type: "object",
    properties: { effect: { type: "string" } },
    required: ["effect"],
  });
}
