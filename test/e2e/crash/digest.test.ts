import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say } from "../../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../../lab/support/rig.ts";
import { lastUserText } from "../../../lab/support/scripted-model.ts";
import type { OccurrenceRecord } from "../../../src/schedules/rules/occurrence.ts";
import type { SimChat } from "../../../playground/telegram/simulator.ts";

const LEAD_MS = 1500;

describe("SIGKILL around a due digest", () => {
  let rig: Rig;
  let chat: SimChat;

  beforeAll(async () => {
    rig = await startRig({ config: "test/e2e/bots/digest/wrangler.jsonc" });
    const user = rig.simulator.addUser();
    chat = rig.simulator.privateChat(user);
    rig.simulator.sendText(chat, user, "Hello");
    await until(() => fromBot().includes("You said: Hello"));
  });
  afterAll(async () => {
    await rig.close();
  });

  const until = (condition: () => boolean) => rig.simulator.waitFor(condition);
  const fromBot = () =>
    rig.simulator
      .messages(chat)
      .filter(({ from }) => from.isBot)
      .map(({ text }) => text);
  const occurrences = async () =>
    (await (await fetch(`${rig.bot.url}/occurrences`)).json()) as readonly OccurrenceRecord[];
  const ended = async (count: number) => {
    for (let tries = 0; tries < 300; tries += 1) {
      const found = await occurrences();
      if (found.filter(({ endedAt }) => endedAt !== undefined).length === count) return found;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`Not ended: ${JSON.stringify(await occurrences())}`);
  };
  let at = "";
  const plan = async () => {
    at = new Date(Date.now() + LEAD_MS).toISOString();
    await fetch(`${rig.bot.url}/plan?at=${encodeURIComponent(at)}`);
  };
  const passes = async () => {
    const left = Date.parse(at) - Date.now();
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  };

  it.each<[string, (text: string) => Promise<void>]>([
    [
      "right before it is due",
      async (text) => {
        rig.model.script(() => [say(text)]);
        await rig.bot.kill("SIGKILL");
        await passes();
      },
    ],
    [
      "while the model writes it",
      async (text) => {
        const gate = createGate();
        let isFirst = true;
        rig.model.script((request) => {
          const hangs = isFirst && lastUserText(request).includes("Write the digest");
          isFirst &&= !hangs;
          return hangs ? [say(text.slice(0, 5)), holdAt(gate), say(text.slice(5))] : [say(text)];
        });
        await gate.reached;
        await rig.bot.kill("SIGKILL");
      },
    ],
    [
      "while it is posted, and the post was made",
      async (text) => {
        rig.model.script(() => [say(text)]);
        const before = rig.simulator.calls({ method: "sendMessage", chatId: chat.id }).length;
        rig.simulator.fault({ method: "sendMessage", chatId: chat.id, kind: "hang", processed: true });
        await until(() => rig.simulator.calls({ method: "sendMessage", chatId: chat.id }).length > before);
        rig.simulator.clearFaults();
        await rig.bot.kill("SIGKILL");
      },
    ],
  ])("delivers it exactly once: %s", async (name, die) => {
    const text = `The digest (${name}).`;
    const before = (await occurrences()).length;
    await plan();
    await die(text);
    await rig.bot.restart();
    await until(() => fromBot().includes(text));
    const found = await ended(before + 1);
    expect(found[0]).toMatchObject({ state: "delivered", scheduledFor: Date.parse(at) });
    expect(fromBot().filter((shown) => shown === text)).toHaveLength(1);
    expect(fromBot()).toHaveLength(before + 2);
  });
});
