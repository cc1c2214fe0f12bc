import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { logs, newcomer, rehearse, SOON, type Person } from "./rehearsal.ts";

const BOT = "test/e2e/bots/failing";
/** Stands in every error of the bot's own code, beside the webhook's secret. */
const DETAIL = "EXCEPTION-DETAIL";

type Line = Readonly<Record<string, unknown>>;

/** Where the bot's file throws what it says in a comment of that line. */
function placeOf(what: string): string {
  const lines = readFileSync(path.resolve(BOT, "worker.ts"), "utf8").split("\n");
  return `${BOT}/worker.ts:${lines.findIndex((line) => line.endsWith(`// ${what}`)) + 1}`;
}

/** What the bot has logged; the lines of the server itself are left out. */
function linesOf(rig: Rig): Line[] {
  return rig.bot
    .logs()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => !String(line.event).startsWith("serve."));
}

const failureOf = (rig: Rig, method: string): Line | undefined =>
  linesOf(rig).find((line) => line.event === "bot.failed" && line.method === method);

describe.each([
  { where: "in production", env: {} as Record<string, string> },
  { where: "with DEBUG=1", env: { DEBUG: "1" } as Record<string, string> },
])("the log of a bot whose own code fails, $where", ({ env }) => {
  const isDebug = env.DEBUG === "1";
  let rig: Rig;
  let ada: Person;

  beforeAll(async () => {
    rig = await startRig({
      simulator: { redelivery: { baseMs: 100, maxMs: 500 } },
      config: `${BOT}/wrangler.jsonc`,
      env,
    });
    const model = rehearse(rig);
    model.on("fail in a tool", [callTool("fail", {})], [say("It failed.")]);
    ada = newcomer(rig);
    const answered = (count: number) => rig.simulator.waitFor(() => ada.replies().length === count, SOON);
    ada.write("fail in a tool");
    await answered(1);
    ada.write("/fail");
    await answered(2);
    ada.write("fail in the prompt");
    await answered(3);
    await logs(rig, /"turn.ended".*"outcome":"failed"/);
    // Errors come through a pipe of their own, which may be read first.
    await logs(rig, /(?:"event":"turn.begun"[^]*){2}/);
  });
  afterAll(async () => {
    await rig.close();
  });

  it.each([
    { method: "tool fail", code: "Error", what: "tool" },
    { method: "/fail", code: "RangeError", what: "command" },
    { method: "getSystemPrompt", code: "TypeError", what: "prompt" },
  ])("names file and line of what $method threw", ({ method, code, what }) => {
    const line = failureOf(rig, method);
    expect(line).toMatchObject({ level: "error", code });
    expect(line?.at).toContain(placeOf(what));
    expect(line?.at).not.toContain("worker.js");
    if (isDebug) expect(line?.message).toContain(`${DETAIL} of the ${what}`);
    else expect(line).not.toHaveProperty("message");
  });

  it("names file and line of what the resolver threw", () => {
    const line = linesOf(rig).find(({ event }) => event === "conversation.unresolved");
    expect(line).toMatchObject({ code: "SyntaxError" });
    expect(line?.at).toContain(placeOf("resolver"));
    if (isDebug) expect(line?.message).toContain(`${DETAIL} of the resolver`);
    else expect(line).not.toHaveProperty("message");
  });

  it("is JSON in every line, each with its time", () => {
    for (const line of linesOf(rig)) {
      expect(new Date(String(line.time)).toISOString()).toBe(line.time);
      expect(line).toMatchObject({
        level: expect.any(String) as unknown,
        event: expect.any(String) as unknown,
      });
    }
  });

  it("has what the bot prints itself, a line each", () => {
    const own = linesOf(rig).filter(({ event }) => event === "bot.output");
    expect(own.toSorted((a, b) => Number(a.level === "error") - Number(b.level === "error"))).toMatchObject([
      { level: "info", text: "a line of the bot's own\nand its second line" },
      { level: "error", text: "an error of the bot's own" },
    ]);
  });

  it("says one failure once", () => {
    const lines = linesOf(rig).filter(({ at, level, text }) => level === "error" && text === undefined && at);
    expect(lines.map(({ event, method }) => [event, method])).toEqual([
      ["conversation.unresolved", undefined],
      ["bot.failed", "tool fail"],
      ["bot.failed", "/fail"],
      ["bot.failed", "getSystemPrompt"],
    ]);
  });

  it("tells of each turn whose it is, and what it took", () => {
    const place = {
      messenger: "telegram",
      chat: String(ada.chat.id),
      thread: `telegram:${ada.chat.id}`,
      conversation: "named:everybody",
    };
    const lines = linesOf(rig);
    const ended = lines.filter(({ event }) => event === "turn.ended");
    const whole = expect.any(Number) as unknown;
    expect(ended).toMatchObject([
      {
        level: "info",
        ...place,
        outcome: "done",
        steps: 2,
        tools: "fail",
        toolCalls: 1,
        durationMs: whole,
        inputTokens: whole,
        outputTokens: whole,
      },
      { level: "error", ...place, outcome: "failed", steps: 0, toolCalls: 0, durationMs: whole },
    ]);
    for (const { turn, key } of ended) {
      const begun = lines.find((line) => line.event === "turn.begun" && line.turn === turn);
      expect(begun).toMatchObject({ ...place, key });
      expect(lines.some((line) => line.event === "inbox.event" && line.key === key)).toBe(true);
    }
    expect(failureOf(rig, "tool fail")).toMatchObject({ ...place, turn: ended[0]?.turn });
    expect(failureOf(rig, "getSystemPrompt")).toMatchObject({ ...place, turn: ended[1]?.turn });
    expect(failureOf(rig, "/fail")).toMatchObject(place);
  });

  it("holds no secret, and no chat reads anything of an exception", () => {
    expect(rig.bot.logs()).not.toContain(rig.secret);
    expect(rig.bot.logs()).not.toContain(rig.simulator.token);
    if (!isDebug) expect(rig.bot.logs()).not.toContain(DETAIL);
    for (const { text } of ada.replies()) expect(text).not.toMatch(/EXCEPTION|worker\.|Error/);
    expect(JSON.stringify(rig.model.requests())).not.toContain(DETAIL);
  });
});
