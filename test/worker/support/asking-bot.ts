import { vi } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import type { ActionContext, ActionOptions } from "../../../src/index.ts";
import type { FakeMessage } from "./fake-platform.ts";
import { callTool, say } from "./scripted-model.ts";
import type { ModelScript } from "./scripted-model.ts";
import { createWorld } from "./world.ts";
import type { World, WorldOptions } from "./world.ts";

/** Calls `act` when a person writes "Do <order>", and says what it is told of the outcome. */
export const askingScript: ModelScript = ({ prompt, said }) => {
  if (prompt.at(-1)?.role === "tool") return [say(`Tool: ${JSON.stringify(prompt.at(-1)?.content)}`)];
  const outcome = /^Result: (.*)$/m.exec(said);
  if (outcome !== null) return [say(`Told: ${outcome[1]}`)];
  const order = /\bdo (\w+)/i.exec(said)?.[1];
  return order === undefined ? [say(`Heard: ${said}`)] : [callTool("act", { order })];
};

export interface AskingBot {
  readonly world: World;
  /** What the runs have done, in order. */
  readonly done: string[];
}

type Ask = (ctx: ActionContext, order: string, done: string[]) => unknown;

/** A bot with one action, `act`, that asks people. */
export function createAskingBot(
  ask: Ask,
  rest: WorldOptions = {},
  options: Partial<ActionOptions<z.ZodType<{ order: string }>, unknown>> = {},
): AskingBot {
  const done: string[] = [];
  const act = action({
    description: "Does something with an order.",
    inputSchema: z.object({ order: z.string() }),
    execute: ({ order }, ctx) => ask(ctx, order, done),
    ...options,
  });
  const world = createWorld({ script: askingScript, getActions: () => ({ act }), ...rest });
  return { world, done };
}

/** Resolves with the newest message of the chat that contains a text, when there is one. */
export async function expectShown(world: World, text: string, chat = "c1"): Promise<FakeMessage> {
  return vi.waitFor(
    () => {
      const found = world.chats.messages(chat).findLast(({ texts }) => texts.at(-1)?.includes(text) === true);
      if (found !== undefined) return found;
      throw new Error(
        `Chat ${chat} does not show "${text}" but:\n${world.chats.visible(chat).join("\n---\n")}`,
      );
    },
    { timeout: 8000, interval: 20 },
  );
}
