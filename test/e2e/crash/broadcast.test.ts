import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realFloodRules } from "../../../playground/telegram/control/flood.ts";
import type { SimChat } from "../../../playground/telegram/simulator.ts";
import { startRig, type Rig } from "../../../lab/support/rig.ts";
import type { Broadcast } from "../../../src/core/turn/broadcast.ts";

const SUBSCRIBERS = 31;
/** The platform takes this long for a message. */
const SEND_MS = 400;

describe("SIGKILL in the middle of a broadcast", () => {
  let rig: Rig;
  let chats: readonly SimChat[];

  beforeAll(async () => {
    rig = await startRig({
      config: "test/e2e/bots/subscribed/wrangler.jsonc",
      simulator: { flood: realFloodRules },
    });
    chats = Array.from({ length: SUBSCRIBERS }, (_, index) => {
      const user = rig.simulator.addUser({ first_name: `Person ${index}` });
      const chat = rig.simulator.privateChat(user);
      rig.simulator.sendText(chat, user, "/subscribe");
      return chat;
    });
    await until(() => chats.every((chat) => fromBot(chat).length === 1));
  });
  afterAll(async () => {
    await rig.close();
  });

  const until = (condition: () => boolean) => rig.simulator.waitFor(condition);
  const fromBot = (chat: SimChat) =>
    rig.simulator
      .messages(chat)
      .filter(({ from }) => from.isBot)
      .map(({ text }) => text);
  const showing = (text: string) => chats.map((chat) => fromBot(chat).filter((one) => one.includes(text)));
  /** Resolves when the outcome of every message is known. */
  const ended = async (id: string): Promise<Broadcast> => {
    for (let tries = 0; tries < 1_200; tries += 1) {
      const response = await fetch(`${rig.bot.url}/state?id=${id}`);
      const broadcast = (await response.json()) as Broadcast;
      if (broadcast.state === "done") return broadcast;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error("The broadcast has not ended.");
  };

  it("shows the text once to everyone, killed after 12 posts", async () => {
    const text = "News.";
    rig.simulator.fault({ kind: "slow", delayMs: SEND_MS, method: "sendMessage", times: 1_000 });
    const response = await fetch(`${rig.bot.url}/broadcast?text=${encodeURIComponent(text)}`);
    const id = await response.text();
    await until(() => showing(text).flat().length >= 12);
    await rig.bot.kill("SIGKILL");
    await rig.bot.restart();
    const broadcast = await ended(id);
    rig.simulator.clearFaults();
    expect(broadcast).toMatchObject({ sent: SUBSCRIBERS, failed: 0 });
    expect(showing(text)).toEqual(chats.map(() => [text]));
  }, 180_000);
});
