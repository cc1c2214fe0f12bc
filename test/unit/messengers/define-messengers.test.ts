import { describe, expect, it } from "vitest";
import {
  defineMessengers,
  leftOut,
  normalizeMessengers,
} from "../../../src/messengers/declare/define-messengers.ts";
import { definitionOf } from "../../../lab/support/messenger-events.ts";

const one = (overrides: Parameters<typeof definitionOf>[0], id = "telegram") =>
  normalizeMessengers({ [id]: definitionOf(overrides) });

describe("normalizeMessengers", () => {
  it("leaves out a messenger that lacks settings, and nothing else", () => {
    const messengers = { telegram: definitionOf({}), slack: { missing: ["SLACK_BOT_TOKEN"] } };
    expect(normalizeMessengers(messengers).map(({ id }) => id)).toEqual(["telegram"]);
    expect(leftOut(messengers)).toEqual([{ id: "slack", missing: ["SLACK_BOT_TOKEN"] }]);
  });

  it.each([{ missing: [] }, { missing: "TOKEN" }, { missing: [1] }, {}])(
    "refuses one that does not say what it lacks: %j",
    (given) => {
      expect(() => normalizeMessengers({ slack: given as never })).toThrow(/"slack" is not a messenger/);
    },
  );

  it("fills in the defaults that the documentation names", () => {
    expect(one({})[0]).toMatchObject({
      id: "telegram",
      path: "/messengers/telegram/webhook",
      respondTo: ["direct-message", "mention"],
      subscribeOnMention: true,
      conversation: "thread",
      acceptsMedia: ["image/*"],
      maxMediaBytes: 10_485_760,
      burstMs: 1000,
      staleAfterMs: 86_400_000,
      inboxLimit: 100,
    });
  });

  it.each([
    ["a path without a slash", { path: "hook" }, "messenger-path-invalid", /"\/hook"/],
    ["a path with a query", { path: "/hook?x" }, "messenger-path-invalid", /"\?"/],
    ["a path with a fragment", { path: "/hook#x" }, "messenger-path-invalid", /"#"/],
    ["the path of the health check", { path: "/health" }, "messenger-path-invalid", /taken/],
    ["a path of agents", { path: "/agents/hook" }, "messenger-path-invalid", /taken/],
    ["a path of agents inside of agents", { path: "/hook/sub" }, "messenger-path-invalid", /taken/],
    ["no verification", { verifyWebhook: undefined }, "messenger-verification-missing", /verifyWebhook/],
    ["a negative burst", { burstMs: -1 }, "messenger-option-invalid", /burstMs/],
    ["an inbox of nothing", { inboxLimit: 0 }, "messenger-option-invalid", /inboxLimit/],
    [
      "a limit of nothing",
      { limits: { turnsPerPersonPerDay: 0 } },
      "messenger-option-invalid",
      /limits\.turnsPerPersonPerDay/,
    ],
    [
      "another way to be busy",
      { whenBusy: "stear" as never },
      "messenger-option-invalid",
      /"queue", "steer" or "interrupt"\. Did you mean "steer"\?/,
    ],
    [
      "a mode that does not exist",
      { delivery: { mode: "drafts" as never } },
      "messenger-option-invalid",
      /delivery\.mode .*"draft"/,
    ],
    [
      "a misspelt option of delivery",
      { delivery: { emptyResponse: "x" } as never },
      "messenger-option-invalid",
      /emptyResponse/,
    ],
    [
      "a text that is none",
      { delivery: { errorResponseText: 7 as never } },
      "messenger-option-invalid",
      /delivery\.errorResponseText/,
    ],
    [
      "a time limit of nothing",
      { delivery: { callTimeoutMs: 0 } },
      "messenger-option-invalid",
      /delivery\.callTimeoutMs/,
    ],
    [
      "a silence signal that ordinary text contains",
      { delivery: { silence: { signal: "no" } } },
      "invalid-silence-signal",
      /4 to 64/,
    ],
    [
      "a misspelt option",
      { respondsTo: ["mention"] } as never,
      "messenger-option-invalid",
      /^respondsTo of the messenger "telegram" does not exist\. Did you mean "respondTo"\?$/,
    ],
    [
      "an option that is like none",
      { colour: "blue" } as never,
      "messenger-option-invalid",
      /^colour of .* does not exist\. Use any of: path, respondTo, /,
    ],
    [
      "a limit that does not exist",
      { limits: { turnsPerDay: 50 } } as never,
      "messenger-option-invalid",
      /^limits\.turnsPerDay of .* Did you mean "turnsPerPersonPerDay"\?$/,
    ],
    ["limits that are a number", { limits: 50 as never }, "messenger-option-invalid", /^limits of .* object/],
    [
      "a misspelt option of delivery, and says which one was meant",
      { delivery: { footr: "x" } } as never,
      "messenger-option-invalid",
      /^delivery\.footr of .* Did you mean "footer"\?$/,
    ],
    [
      "a limit of streams, which Think has (decision 15)",
      { delivery: { visibleSoftLimit: 3_000 } } as never,
      "messenger-option-invalid",
      /^delivery\.visibleSoftLimit of .* does not exist/,
    ],
    [
      "a way to cut texts, which Think has (decision 15)",
      { delivery: { splitText: () => [] } } as never,
      "messenger-option-invalid",
      /^delivery\.splitText of .* does not exist/,
    ],
    [
      "a misspelt option of silence",
      { delivery: { silence: { signl: "[[quiet]]" } } } as never,
      "messenger-option-invalid",
      /^delivery\.silence\.signl of .* Did you mean "signal"\?$/,
    ],
    [
      "a conversation that does not exist",
      { conversation: "threads" as never },
      "messenger-option-invalid",
      /conversation of .* must be "thread", "self" or a function/,
    ],
    [
      "a variable that is not set",
      { allow: [undefined] as never },
      "messenger-option-invalid",
      /allow of .* a value that is not set: /,
    ],
    ["one user in place of a list", { allow: 7 as never }, "messenger-option-invalid", /allow of .* a list/],
    ["a yes that is a word", { rerunOnEdit: "yes" as never }, "messenger-option-invalid", /true or false/],
    ["an unknown kind", { respondTo: ["everything"] as never }, "messenger-respond-to-invalid", /everything/],
  ])("refuses %s and says the fix", (_name, overrides, code, message) => {
    expect(() => one(overrides)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  it.each([
    ["nothing", undefined, /returns undefined, .*return defineMessengers\(\{ telegram: telegramMessenger\(/],
    ["a promise", Promise.resolve({}), /async/],
    ["a list", [definitionOf()], /returns a list/],
  ])("refuses %s in place of messengers, and says what to write", (_name, messengers, message) => {
    expect(() => normalizeMessengers(messengers as never)).toThrow(
      expect.objectContaining({ code: "messengers-missing", message: expect.stringMatching(message) }),
    );
  });

  it.each([
    ["undefined", undefined],
    ["options that no factory has seen", { token: "1:a" }],
  ])("refuses a messenger that is %s", (_name, definition) => {
    expect(() => defineMessengers({ support: definition } as never)).toThrow(
      expect.objectContaining({
        code: "messenger-missing",
        message: expect.stringMatching(/"support" .*support: telegramMessenger\(/),
      }),
    );
  });

  it("refuses an id that could not be part of a path", () => {
    expect(() => one({}, "a/b")).toThrow(expect.objectContaining({ code: "messenger-id-invalid" }));
  });

  it("refuses two messengers on one path", () => {
    const both = { a: definitionOf({ path: "/hook" }), b: definitionOf({ path: "/hook" }) };
    expect(() => defineMessengers(both)).toThrow(
      expect.objectContaining({ code: "messenger-path-duplicate" }),
    );
  });

  it("refuses two messengers with one adapter name", () => {
    const both = { a: definitionOf({ adapterName: "x" }), b: definitionOf({ adapterName: "x" }) };
    expect(() => defineMessengers(both)).toThrow(
      expect.objectContaining({ code: "messenger-adapter-duplicate" }),
    );
  });

  it("lets two bots of one platform live side by side", () => {
    expect(normalizeMessengers({ a: definitionOf(), b: definitionOf() }).map((each) => each.path)).toEqual([
      "/messengers/a/webhook",
      "/messengers/b/webhook",
    ]);
  });
});
