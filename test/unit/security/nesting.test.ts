import { describe, expect, it } from "vitest";
import { isDeeperThan } from "../../../src/core/json/json-depth.ts";
import { toJson } from "../../../providers/chat-sdk/events/stored-event.ts";
import { routeUpdate } from "../../../providers/telegram/routing.ts";

const nest = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));

describe("deep nests", () => {
  it("counts the levels of lists and objects", () => {
    expect(isDeeperThan("text", 0)).toBe(false);
    expect(isDeeperThan([], 0)).toBe(true);
    expect(isDeeperThan([[{ a: 1 }]], 3)).toBe(false);
    expect(isDeeperThan([[{ a: 1 }]], 2)).toBe(true);
    expect(isDeeperThan(nest(200_000), 100)).toBe(true);
  });

  it("passes over a Telegram update that could not be stored, so that it does not come again for ever", () => {
    const chat = { id: 1, type: "private" };
    const message = { message_id: 1, date: 1, chat, text: "hello", extra: nest(50_000) };
    expect(routeUpdate({ update_id: 1, message })).toEqual({
      kind: "ignored",
      updateKind: "message:unreadable",
    });
    expect(routeUpdate({ update_id: 1, message: { ...message, extra: nest(50) } }).kind).toBe("routed");
  });

  it("stores an event of another platform without the object that is too deep for it", () => {
    expect(toJson({ nest: nest(3000) })).toBeNull();
    expect(toJson({ nest: nest(90_000) })).toBeNull();
    expect(toJson({ nest: nest(50) })).toEqual({ nest: nest(50) });
  });
});
