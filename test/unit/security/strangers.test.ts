import { describe, expect, it } from "vitest";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { definitionOf } from "../../../lab/support/messenger-events.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { admitWebhook } from "../../../src/messengers/root/webhook.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { createIntakeRig } from "../inbox/intake-rig.ts";

const group = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };
const mallory = { userId: "666", fullName: "Mallory" };
const ada = { userId: "7", fullName: "Ada" };

describe("who may not use the bot", () => {
  it.each([
    { name: "somebody who is not on the list", author: mallory },
    { name: "another bot", author: { ...ada, isBot: true } },
    { name: "a message without an author", author: undefined },
    { name: "an anonymous administrator, who writes as the group", author: { userId: "-5" } },
    { name: "a channel that is linked to the group", author: { userId: "-1007" } },
  ])("does not subscribe a thread by a mention of $name", async ({ author }) => {
    const rig = createIntakeRig({
      definition: { allow: ["7"], respondTo: ["mention", "subscribed-thread"] },
    });
    rig.receive("@bot listen to all of this", { kind: "mention", thread: group, author });
    await rig.intake.run();
    rig.receive("nobody asked the bot", { kind: "message", thread: group, author: ada });
    await rig.intake.run();
    expect(rig.waiting()).toEqual([]);
    rig.receive("@bot, please", { kind: "mention", thread: group, author: ada });
    await rig.intake.run();
    rig.receive("and this too", { kind: "message", thread: group, author: ada });
    await rig.intake.run();
    expect(rig.waiting()).toEqual(["@bot, please", "and this too"]);
  });

  it.each([undefined, mallory, { userId: "-5" }])("runs no command for %j", async (author) => {
    let runs = 0;
    const count = (): void => void (runs += 1);
    const rig = createIntakeRig({
      definition: { allow: ["7"] },
      commands: { stop: { description: "", handler: count } },
    });
    const command = { name: "stop", args: "" };
    for (const kind of ["direct-message", "mention", "message"] as const) {
      rig.receive("/stop", { kind, thread: group, author, message: { command } });
    }
    await rig.intake.run();
    expect(runs).toBe(0);
  });

  it("is refused once, however often and with whatever", async () => {
    const rig = createIntakeRig({ definition: { allow: ["7"], respondTo: ["direct-message", "action"] } });
    for (let count = 0; count < 20; count += 1) rig.receive("let me in", { author: mallory });
    rig.receive("", { kind: "action", author: mallory, action: { id: "1", data: "x" } });
    await rig.intake.run();
    expect(rig.sent).toHaveLength(1);
    expect(rig.waiting()).toEqual([]);
  });
});

describe("a stranger in a group that the bot listens to", () => {
  const inGroup = { thread: group, author: mallory } as const;
  const listening = async () => {
    const rig = createIntakeRig({
      definition: { allow: ["7"], respondTo: ["mention", "subscribed-thread", "action"] },
      commands: { hours: { description: "Hours", handler: () => "9 to 5" } },
    });
    rig.receive("@bot listen", { kind: "mention", thread: group, author: ada });
    await rig.intake.run();
    return rig;
  };

  it("hears nothing while it speaks to others", async () => {
    const rig = await listening();
    rig.receive("who brings the cake?", { kind: "message", ...inGroup });
    await rig.intake.run();
    expect(rig.sent).toEqual([]);
    expect(rig.waiting()).toEqual(["@bot listen"]);
    expect(rig.outcomes().at(-1)).toBe("ignored: not allowed");
  });

  it.each([
    { what: "a mention or a reply to the bot", event: { kind: "mention" } },
    { what: "a command", event: { kind: "message", message: { command: { name: "hours", args: "" } } } },
    { what: "a press", event: { kind: "action", action: { id: "1", data: "x" } } },
  ] as const)("is refused once for $what, also after it spoke to others", async ({ event }) => {
    const rig = await listening();
    rig.receive("who brings the cake?", { kind: "message", ...inGroup });
    rig.receive("let me in", { ...inGroup, ...event });
    rig.receive("let me in", { ...inGroup, ...event });
    await rig.intake.run();
    expect(rig.sent).toEqual([expect.stringContaining("private")]);
    expect(rig.outcomes().slice(-2)).toEqual(["refused: not allowed", "ignored: not allowed"]);
  });
});

describe("two chats that share one agent", () => {
  it("stops and starts over on behalf of the chat that asks, not of another", async () => {
    const asked: string[] = [];
    const ask = ({ thread }: MessengerEvent): boolean => {
      asked.push(thread.id);
      return false;
    };
    const rig = createIntakeRig({
      host: { stopAll: ask, startOver: ask },
    });
    for (const name of ["stop", "new"]) {
      const thread = { ...group, id: `telegram:${name}` };
      rig.receive(`/${name}`, { kind: "mention", thread, message: { command: { name, args: "" } } });
    }
    await rig.intake.run();
    expect(asked).toEqual(["telegram:stop", "telegram:new"]);
  });
});

describe("a webhook request without the secret", () => {
  it("is refused before its body is read, also when the bot verifies on top", async () => {
    const { platform } = definitionOf();
    let asked = 0;
    const [definition] = normalizeMessengers({
      bot: definitionOf({
        platform: {
          ...platform,
          verification: {
            kind: "header",
            verify: (headers) => Promise.resolve(headers.get("secret") === "right"),
          },
        },
        verifyWebhook: () => {
          asked += 1;
          return true;
        },
      }),
    });
    if (definition === undefined) throw new Error("no definition");
    let pulls = 0;
    const body = new ReadableStream({ pull: () => void (pulls += 1) }, { highWaterMark: 0 });
    const request = new Request("https://bot.example/", { method: "POST", body, duplex: "half" });
    const answer = await admitWebhook(request, definition, systemDeps.clock);
    expect(answer).toBeInstanceOf(Response);
    expect([(answer as Response).status, asked, pulls]).toEqual([401, 0, 0]);
    const right = new Request("https://bot.example/", {
      method: "POST",
      body: "{}",
      headers: { secret: "right" },
    });
    expect(await admitWebhook(right, definition, systemDeps.clock)).toBeInstanceOf(Request);
    expect(asked).toBe(1);
  });
});

it("waits no longer than 20 s for the body of somebody who has shown no secret", async () => {
  const clock = createVirtualClock();
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
    cancel: () => void (isCancelled = true),
  });
  const request = new Request("https://bot.example/hook", {
    method: "POST",
    headers: { "content-length": "100" },
    body,
    duplex: "half",
  });
  const [definition] = normalizeMessengers({ m: definitionOf({ verifyWebhook: () => true }) });
  if (definition === undefined) throw new Error("No definition");
  const admitting = admitWebhook(request, definition, clock);
  await clock.advance(20_000);
  expect(((await admitting) as Response).status).toBe(408);
  expect(isCancelled).toBe(true);
});
