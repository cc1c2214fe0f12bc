import { expect, it } from "vitest";
import type { Session } from "../../../src/memory/index.ts";
import { OwnSession } from "../../../src/memory/own-session.ts";
import type { SessionHost } from "../../../src/memory/own-session.ts";
import { recordLog } from "../../support/log-recorder.ts";

function sessionOf(configure: (session: Session) => unknown) {
  const { lines, log } = recordLog();
  const host = {
    log,
    configure,
    states: () => ({ read: () => undefined, write: () => true }),
    maxContextTokens: () => 1000,
  } as unknown as SessionHost;
  return { lines, session: new OwnSession(host) };
}

it.each<[string, (session: Session) => unknown]>([
  ["a label with spaces", (session) => session.withContext("my facts")],
  ["an empty label", (session) => session.withContext("")],
  ["a label twice", (session) => session.withContext("a").withContext("a")],
  ["no tokens", (session) => session.withContext("a", { maxTokens: 0 })],
  ["half a token", (session) => session.withContext("a", { maxTokens: 0.5 })],
  ["an unknown scope", (session) => session.withContext("a", { scope: "world" as never })],
  [
    "a provider of a person",
    (session) => session.withContext("a", { scope: "person", provider: { get: () => "" } }),
  ],
  ["a provider without get", (session) => session.withContext("a", { provider: {} as never })],
  ["consent of a conversation", (session) => session.withContext("a", { consent: true })],
  ["a misspelt option", (session) => session.withContext("a", { scope: "person", consnt: true } as object)],
  ["a compaction that never comes", (session) => session.compactAfter(1001)],
  ["a compaction that is no number", (session) => session.compactAfter(Number.NaN)],
  ["a promise", async (session) => session],
  ["21 blocks", (session) => Array.from({ length: 21 }, (_, index) => session.withContext(`b${index}`))],
])("refuses %s, logs it, and the bot goes on without memory", (_what, configure) => {
  const { lines, session } = sessionOf(configure);
  expect(() => session.declare()).toThrow(expect.objectContaining({ code: "context-invalid" }));
  expect(session.isDeclared()).toBe(false);
  expect(session.compact).toBeUndefined();
  expect(lines[0]).toMatchObject({
    event: "bot.failed",
    fields: { method: "configureSession", code: "context-invalid" },
  });
});

it("reads the declaration once", () => {
  let calls = 0;
  const { session } = sessionOf((one) => {
    calls += 1;
    return one.withContext("a", { description: "b" }).compactAfter(500);
  });
  expect(session.blocks()).toEqual([
    { label: "a", description: "b", maxTokens: 1000, scope: "conversation" },
  ]);
  expect(session.compactsAt).toBe(500);
  expect(calls).toBe(1);
  expect(() => session.withContext("b")).toThrow("addContext()");
});
