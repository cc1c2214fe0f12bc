import { vi } from "vitest";
import { memory } from "../../../src/memory/index.ts";
import type { Session } from "../../../src/memory/index.ts";
import { ScriptedBot } from "../worker.ts";
import { callTool, say, textOf } from "./scripted-model.ts";
import type { ModelScript } from "./scripted-model.ts";
import { createWorld } from "./world.ts";
import type { World, WorldOptions } from "./world.ts";

/** The person writes which tool the model calls: `set_context {"label":"person","content":"..."}`. */
export const obedient: ModelScript = ({ prompt, said }) => {
  const last = prompt.at(-1);
  if (last?.role === "tool") {
    const [result] = last.content;
    return [say(`got ${JSON.stringify(result?.type === "tool-result" ? result.output : "none")}`)];
  }
  const [, tool, input] = /(\w+_context) (\{.*\})/.exec(said) ?? [];
  return tool === undefined || input === undefined ? [say("ok")] : [callTool(tool, JSON.parse(input))];
};

/** A bot with memory. */
export function memoryWorld(
  configureSession: (session: Session) => Session,
  options: WorldOptions = {},
): World {
  ScriptedBot.memory = memory();
  return createWorld({ script: obedient, ...options, settings: { ...options.settings, configureSession } });
}

/** Takes the memory away from the bot's class, which other tests share. */
export function dropMemory(): void {
  ScriptedBot.memory = undefined;
}

/** The system prompt of the newest request. */
export function systemOf(world: World): string {
  return textOf(world.requests.at(-1)?.prompt.find(({ role }) => role === "system"));
}

/** Somebody writes, and the answer to that is returned. */
export async function ask(
  world: World,
  chat: string,
  text: string,
  rest: Parameters<World["write"]>[2] = {},
): Promise<string> {
  const before = world.chats.visible(chat).length;
  await world.write(chat, text, rest);
  await vi.waitFor(
    () => {
      const last = world.chats.visible(chat).at(-1) ?? "";
      if (world.chats.visible(chat).length > before && /^(ok|got .*\}|[^g].*|g[^o].*)$/s.test(last)) return;
      throw new Error(`No answer to ${text}: ${last}`);
    },
    { timeout: 8000, interval: 10 },
  );
  return world.chats.visible(chat).at(-1) ?? "";
}
