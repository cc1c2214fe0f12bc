import { createHmac } from "node:crypto";
import { createSlackAdapter } from "@chat-adapter/slack";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Address } from "../../../../src/core/chat/surface.ts";
import { type PlatformStub, startPlatformStub } from "./platform-stub.ts";
import { createRig } from "./rig.ts";
import type { Rig } from "./rig.ts";

/* The real adapter of an app that Slack shows as an agent. */

const secret = "s3cret";
const threadId = "slack:C1:1782234671.392669";
const address: Address = { messengerId: "bot", chatId: "slack:C1", threadId, isDirectMessage: false };
const options = { signal: new AbortController().signal };

let stub: PlatformStub;

beforeAll(async () => {
  stub = await startPlatformStub();
});
beforeEach(() => {
  stub.answer({ status: 200, body: { ok: true, ts: "1.2", user_id: "U0", bot_id: "B0" } });
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await stub.close();
});

const createBot = (agentView: boolean): Rig =>
  createRig(
    createSlackAdapter({
      apiUrl: `${stub.url}/`,
      botToken: "xoxb-1",
      botUserId: "U0",
      signingSecret: secret,
      agentView,
    }),
  );

function signed(event: object): Request {
  const body = JSON.stringify({ type: "event_callback", team_id: "T1", event_id: "Ev1", event });
  const time = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex");
  return new Request("https://bot.example/webhook", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-slack-request-timestamp": time,
      "x-slack-signature": `v0=${signature}`,
    },
    body,
  });
}

/** The event as Slack documents it. */
const stop = (eventTs = "1783536983.783769") =>
  signed({
    type: "agent_session_stopped",
    channel: "C1",
    thread_ts: "1782234671.392669",
    user: "U123ABC456",
    streaming_message_ts: [],
    event_ts: eventTs,
  });

const statuses = (): (string | null)[] =>
  stub.requests.flatMap((request, index) =>
    request.endsWith("/agents.sessions.setStatus")
      ? [new URLSearchParams(stub.bodies[index]).get("status")]
      : [],
  );

describe("the stop button of a session on Slack", () => {
  it("stops the running answer of its thread, once, and ends the sign that it is processed", async () => {
    const rig = createBot(true);
    const { accepted, response } = await rig.receive(stop());
    expect(response.status).toBe(200);
    expect(accepted).toHaveLength(1);
    const [incoming] = accepted;
    if (incoming === undefined) throw new Error("Nothing was accepted.");
    expect(incoming.thread).toMatchObject({ id: threadId, chatId: "slack:C1", topicId: threadId });
    expect(await rig.parse(incoming)).toMatchObject({
      kind: "mention",
      author: { userId: "U123ABC456" },
      message: { command: { name: "stop", isForThisBot: true } },
    });
    expect(statuses()).toEqual(["active"]);
    const again = await rig.receive(stop());
    expect(again.accepted[0]?.key).toBe(incoming.key);
    const later = await rig.receive(stop("1783536999.000001"));
    expect(later.accepted[0]?.key).not.toBe(incoming.key);
  });

  it("is offered while the bot shows that it works, until it writes", async () => {
    const rig = createBot(true);
    const surface = rig.platform.surface(rig.context);
    await surface.typing(address, options);
    expect(statuses()).toEqual(["processing"]);
    await surface.post(address, { text: "Hello", entities: [] }, options);
    await expect.poll(statuses).toEqual(["processing", "active"]);
    await surface.post(address, { text: "More", entities: [] }, options);
    expect(stub.requests.at(-1)).toContain("chat.postMessage");
    expect(statuses()).toHaveLength(2);
  });

  it("is not offered by an app that is no agent", async () => {
    const rig = createBot(false);
    const surface = rig.platform.surface(rig.context);
    await surface.typing(address, options);
    await surface.post(address, { text: "Hello", entities: [] }, options);
    expect(statuses()).toEqual([]);
  });
});
