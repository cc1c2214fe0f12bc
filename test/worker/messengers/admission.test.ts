import { beforeEach, describe, expect, it, vi } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { createWorld } from "../support/world.ts";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

const outcomes = (): unknown[] =>
  log.filter(({ event }) => event === "inbox.event").map(({ outcome }) => outcome);

describe("who may use the bot", () => {
  const JOIN = { kind: "link", label: "Join", url: "https://library.example/join" } as const;

  it.each([
    ["by id", ["ada", 42]],
    ["by a function", async ({ userId }: { readonly userId: string }) => ["ada", "42"].includes(userId)],
  ])("%s: others get one refusal, then silence, and the model is never asked", async (_name, allow) => {
    const world = createWorld({
      messenger: {
        allow,
        respondTo: ["direct-message", "mention", "action"],
        delivery: { refusedResponseText: "Not for you.", editEveryMs: 0 },
      },
    });
    const eve = { user: "eve" };
    await world.write("c1", "Hello", eve);
    await world.write("c1", "Hello?", eve);
    await world.write("c1", "/help", eve);
    await world.post({ kind: "press", id: "p1", chat: "c1", user: "eve", text: "yes" });
    await vi.waitFor(() => expect(outcomes()).toHaveLength(4));
    await world.shows("c1", "Not for you.");
    expect(outcomes()).toEqual([
      "refused: not allowed",
      "ignored: not allowed",
      "ignored: not allowed",
      "ignored: not allowed",
    ]);
    expect(world.requests).toEqual([]);
    await world.write("c2", "Hello", { user: "42" });
    await world.shows("c2", "You said: Hello");
  });

  it.each([
    ["content", () => ({ kind: "card", text: "Ask us.", buttons: [[JOIN]] }) as const],
    ["nothing usable", () => Promise.reject(new Error("secret of the bot"))],
  ])("refuses with %s of the bot's own, once for each stranger", async (what, make) => {
    let asked = 0;
    const refusal = (): ReturnType<typeof make> => {
      asked += 1;
      return make();
    };
    const world = createWorld({ messenger: { allow: ["ada"], refusal } });
    await world.write("c1", "Hello", { user: "eve" });
    await world.write("c1", "Hello?", { user: "eve" });
    await vi.waitFor(
      () => expect(outcomes()).toEqual(["refused: not allowed", "ignored: not allowed"]),
      8000,
    );
    const isContent = what === "content";
    await world.shows("c1", isContent ? "Ask us." : "Sorry, this bot is private, so I can't help you here.");
    expect(world.chats.messages("c1")[0]?.buttons).toEqual(isContent ? [JOIN] : []);
    expect(asked).toBe(1);
    expect(world.requests).toEqual([]);
    expect(JSON.stringify(log)).not.toContain("secret of the bot");
  });

  it("refuses each stranger of a group once, and answers the others there", async () => {
    const world = createWorld({ messenger: { allow: ["ada"] } });
    const group = { isGroup: true, mentions: true };
    const refusal = "Sorry, this bot is private, so I can't help you here.";
    await world.write("g1", "Hello", { ...group, user: "eve" });
    await world.write("g1", "Hello", { ...group, user: "mallory" });
    await world.write("g1", "Hello", { ...group, user: "eve" });
    await world.write("g1", "unaddressed", { isGroup: true, user: "trudy" });
    await world.write("g1", "Hello", group);
    await world.shows("g1", refusal, refusal, "You said: ada: Hello");
    expect(outcomes()).toContain("ignored: no mention");
  });
});
