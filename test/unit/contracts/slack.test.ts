import { createSlackAdapter } from "@chat-adapter/slack";
import { afterEach, describe, expect, it } from "vitest";
import { EmulatorServer } from "../../contracts/emulator-server.ts";
import { SlackEmulator } from "../../contracts/slack/emulator.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { createRig } from "../providers/chat-sdk/rig.ts";

const ada = { id: "7001", name: "Ada 1" };
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** The real adapter, whose calls go to an emulator. */
async function connect(emulator: SlackEmulator) {
  const server = await new EmulatorServer(emulator).start();
  closers.push(() => server.close());
  const options = JSON.parse(emulator.env(server.url)["PLATFORM_OPTIONS"] ?? "") as Parameters<
    typeof createSlackAdapter
  >[0];
  const rig = createRig(createSlackAdapter({ ...options, botUserId: "U0BOT" }));
  return { rig, surface: rig.platform.surface(rig.context) };
}

describe("the emulator of Slack", () => {
  it("tells that it drops events, of which the log warns, and goes on", async () => {
    const emulator = new SlackEmulator();
    const { rig } = await connect(emulator);
    const { accepted, response } = await rig.receive(emulator.dropEvents().request("https://bot.example/"));
    expect([response.status, accepted]).toEqual([200, []]);
    const events = rig.log.map((line) => (JSON.parse(line) as { readonly event: string }).event);
    expect(events).toContain("chat-sdk.events-dropped");
    const acted = await emulator.act({ kind: "write", by: ada, in: emulator.direct(ada), text: "Hello" });
    for (const webhook of acted?.webhooks ?? []) {
      const next = await rig.receive(webhook.request("https://bot.example/"));
      expect([next.response.status, next.accepted.length]).toEqual([200, 1]);
    }
    expect(rig.log.filter((line) => line.includes("events-dropped"))).toHaveLength(1);
  });

  it("lets an app outside of the Marketplace look for a lost post once a minute, and finds it then", async () => {
    const postedAt = Date.now();
    let now = postedAt;
    const emulator = new SlackEmulator({ isSoldOutside: true, now: () => now });
    const { surface } = await connect(emulator);
    const options = { signal: new AbortController().signal };
    const channel = emulator.shared("general");
    const address: Address = {
      messengerId: "slack",
      chatId: `slack:${channel}`,
      threadId: `slack:${channel}:`,
      isDirectMessage: false,
    };
    const key = (post: number): string => `k3y000000000000000000${post}aa`;
    for (let post = 0; post < 20; post += 1)
      await surface.post(address, { text: `Post ${post}`, entities: [], key: key(post) }, options);
    const find = async (post: number): Promise<unknown> => {
      const lost = {
        key: key(post),
        since: postedAt,
        until: postedAt,
        isText: () => false,
        isOther: () => false,
      };
      try {
        return await surface.search?.find(address, lost, options);
      } catch (error) {
        return surface.classifyError(error);
      }
    };
    expect(await find(19)).toEqual([{ messageId: emulator.seen(channel)[19]?.id }]);
    const refused = { kind: "retry-after", code: "too-many-requests", retryAfterMs: 60_000 };
    expect(await find(18)).toEqual(refused);
    now += 60_000;
    expect(await find(18)).toEqual([{ messageId: emulator.seen(channel)[18]?.id }]);
    now += 60_000;
    // It is not among the fifteen that an answer has.
    expect(await find(0)).toBe("undecided");
  });
});
