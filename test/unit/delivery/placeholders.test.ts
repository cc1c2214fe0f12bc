import { describe, expect, it } from "vitest";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { Placeholder } from "../../../src/core/message/placeholder.ts";
import { createHarness } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";

const MINUTES = 60_000;

/** A platform that shows a placeholder for message 5, and refuses the calls that replace it with these failures. */
function createPlatform(failures: (CallFailure | "made, but lost")[]) {
  const harness = createHarness();
  const { surface, clock } = harness;
  const post = surface.post.bind(surface);
  const filled: string[] = [];
  const failing = new Error("failing");
  let failure: CallFailure = { kind: "unknown", code: "none" };
  const classify = surface.classifyError.bind(surface);
  Object.assign(surface, {
    async post(...[address, message, options]: Parameters<typeof post>) {
      const { placeholder } = options;
      if (placeholder === undefined) return post(address, message, options);
      const next = failures.shift();
      if (next === undefined || next === "made, but lost") filled.push(message.text);
      if (next === undefined) return { messageId: "777" };
      failure = next === "made, but lost" ? { kind: "unknown", code: "no-answer" } : next;
      throw failing;
    },
    classifyError: (error: unknown) => (error === failing ? failure : classify(error)),
  });
  const placeholder: Placeholder = {
    messageId: "5",
    token: "s3cret",
    shownAt: clock.now(),
    expiresAt: clock.now() + 15 * MINUTES,
  };
  harness.delivery.expectAnswer("telegram", placeholder);
  return { ...harness, filled };
}

function answer(harness: Harness, text: string, id = "reply"): void {
  harness.delivery.send(harness.start(id, { seenMessageId: "5", isAwaited: true }), text);
}

const rows = ({ database }: Harness) => database.all("SELECT * FROM placeholder_v1");

describe("a placeholder", () => {
  it("is replaced by the first message that answers, and forgotten", async () => {
    const platform = createPlatform([]);
    answer(platform, "One");
    answer(platform, "Two", "later");
    await platform.advance(10_000);
    expect([platform.filled, platform.visible(), rows(platform)]).toEqual([["One"], ["Two"], []]);
    expect(platform.delivery.receipt("reply")).toMatchObject({
      state: "delivered",
      messages: [{ messageId: "777" }],
    });
    expect(platform.lines.join()).not.toContain("s3cret");
  });

  it("leaves messages alone that answer something else", async () => {
    const platform = createPlatform([]);
    platform.delivery.send(platform.start("other", { seenMessageId: "4" }), "News");
    await platform.advance(10_000);
    expect([platform.filled, platform.visible(), rows(platform).length]).toEqual([[], ["News"], 1]);
  });

  it("is replaced again if the answer was lost, without a mark", async () => {
    const platform = createPlatform(["made, but lost", "made, but lost"]);
    answer(platform, "One");
    await platform.advance(MINUTES);
    expect(platform.filled).toEqual(["One", "One", "One"]);
    expect([platform.visible(), platform.delivery.receipt("reply")?.state]).toEqual([[], "delivered"]);
  });

  it("that is gone leaves an ordinary message", async () => {
    const platform = createPlatform([{ kind: "missing", code: "placeholder-gone" }]);
    answer(platform, "One");
    await platform.advance(MINUTES);
    expect([platform.filled, platform.visible(), rows(platform)]).toEqual([[], ["One"], []]);
  });

  it("that has expired leaves an ordinary message", async () => {
    const platform = createPlatform([]);
    await platform.advance(16 * MINUTES);
    answer(platform, "One");
    await platform.advance(MINUTES);
    expect([platform.filled, platform.visible(), rows(platform)]).toEqual([[], ["One"], []]);
  });
});
