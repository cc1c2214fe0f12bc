import { expect, vi } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import type { Action, ActionContext, ActionOptions } from "../../../src/index.ts";
import type { FakeMessage } from "./fake-platform.ts";
import { callTool, say } from "./scripted-model.ts";
import type { ModelScript } from "./scripted-model.ts";
import { createWorld } from "./world.ts";
import type { World, WorldOptions } from "./world.ts";

export const refundInput = z.object({ orderId: z.string() });
export type RefundOptions = Partial<ActionOptions<typeof refundInput, unknown>>;

/** Calls `refund` when a person asks for it, and says what it is told of the outcome. */
export const refundScript: ModelScript = ({ prompt, said }) => {
  if (prompt.at(-1)?.role === "tool") return [say("Somebody has to decide.")];
  const outcome = /Decision: (.*)\nResult: (.*)$/.exec(said);
  if (outcome !== null) return [say(`Told: ${outcome[1]} → ${outcome[2]}`)];
  const orderId = /refund (\d+)/i.exec(said)?.[1];
  return orderId === undefined ? [say("Hm?")] : [say("I'll ask."), callTool("refund", { orderId })];
};

/** A bot with one action, `refund`, that needs consent. */
export interface RefundBot {
  readonly world: World;
  /** Orders that were refunded, in order. */
  readonly effects: string[];
  readonly runs: ActionContext[];
}

/** The action `refund`, with its effects in order. */
export function refundAction(
  options: RefundOptions = {},
): Omit<RefundBot, "world"> & { readonly refund: Action } {
  const effects: string[] = [];
  const runs: ActionContext[] = [];
  const refund = action({
    description: "Refund an order.",
    inputSchema: refundInput,
    approval: true,
    approvalSummary: ({ input }) => `Refund order ${input.orderId}`,
    idempotencyKey: ({ input }) => input.orderId,
    execute: ({ orderId }, ctx) => {
      effects.push(orderId);
      runs.push(ctx);
      return { refunded: orderId };
    },
    ...options,
  });
  return { refund, effects, runs };
}

export function createRefundBot(options: RefundOptions = {}, rest: WorldOptions = {}): RefundBot {
  const { effects, refund, runs } = refundAction(options);
  const world = createWorld({ script: refundScript, getActions: () => ({ refund }), ...rest });
  return { world, effects, runs };
}

/** Resolves when one of the chat's messages contains this text. */
export async function shown(world: World, text: string, chat = "c1"): Promise<void> {
  await vi.waitFor(
    () => {
      const visible = world.chats.visible(chat).join("\n---\n");
      if (!visible.includes(text)) throw new Error(`Chat ${chat} does not show "${text}" but:\n${visible}`);
    },
    { timeout: 8000, interval: 20 },
  );
}

/** The newest message of the chat with this text. */
export function found(world: World, text: string, chat = "c1"): FakeMessage {
  const message = world.chats.messages(chat).findLast(({ texts }) => texts.at(-1)?.includes(text) === true);
  if (message === undefined) throw new Error(`Chat ${chat} does not show "${text}"`);
  return message;
}

/** Resolves with the id of the chat's newest question. */
export async function asked(world: World, chat = "c1"): Promise<string> {
  return vi.waitFor(
    () => {
      const question = world.chats
        .messages(chat)
        .findLast(
          ({ buttons, texts }) =>
            buttons.some(({ label }) => label === "Approve") || texts.at(-1)?.includes("1. Approve") === true,
        );
      if (question === undefined) throw new Error(`Chat ${chat} has no question.`);
      return question.id;
    },
    { timeout: 8000, interval: 20 },
  );
}

/** Somebody turns the card of a chat, which then shows all that is possible. */
export async function more(
  world: World,
  chat = "c1",
  rest: Parameters<World["press"]>[2] = {},
): Promise<void> {
  expect(await world.press(chat, "More", rest)).toBeUndefined();
  await vi.waitFor(
    () => {
      if (world.chats.button(chat, "Less") === undefined)
        throw new Error(`The card of ${chat} is not turned`);
    },
    { timeout: 8000, interval: 10 },
  );
}

/** What the chat was told of outcomes. */
export function told(world: World, chat = "c1"): string[] {
  return world.chats.visible(chat).filter((text) => text.startsWith("Told:"));
}
