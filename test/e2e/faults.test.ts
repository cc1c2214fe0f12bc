import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { ApiCall, FaultKind, SimChat } from "../../playground/telegram/simulator.ts";
import { createGate } from "../../lab/support/gate.ts";
import {
  callTool,
  cutConnection,
  endWithoutFinish,
  errorInStream,
  failWith,
  finishWith,
  holdAt,
  say,
  stall,
  type ModelStep,
} from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { startScriptedModel } from "../../lab/support/scripted-model.ts";
import {
  logs,
  newcomer,
  readsLike,
  rehearse,
  SOON,
  toldIn,
  type Person,
  type Rehearsal,
} from "./rehearsal.ts";

const KEY = "sk-a-key-that-nobody-may-read";
/** Stands in every error that the model server and the bot's own code produce. */
const DETAIL = "EXCEPTION-DETAIL";
const ERROR_TEXT = "Something is broken here.";
const BUSY_TEXT = "The assistant is busy.";
const INTERRUPTED_TEXT = "Sorry, I couldn't finish this answer. Please ask again if you need the rest.";
const EMPTY_TEXT = "I don't have an answer to that. Could you put it another way?";

// They wait more than they work.
vi.setConfig({ maxConcurrency: 12 });

let rig: Rig;
let model: Rehearsal;

beforeAll(async () => {
  rig = await startRig({
    config: "test/e2e/bots/impatient/wrangler.jsonc",
    env: { OPENAI_API_KEY: KEY },
  });
  model = rehearse(rig);
});

afterAll(async () => {
  await rig.close();
});

describe.concurrent("the Bot API fails", () => {
  it.each([
    { call: "the first text", method: "sendMessage", when: () => true, retryAfter: 2 },
    { call: "the last text", method: "editMessageText", when: isLast, retryAfter: 2 },
    // So long that no timer of the process waits for it.
    { call: "the last text, for long", method: "editMessageText", when: isLast, retryAfter: 5 },
  ])("sends nothing during a 429 on $call, and loses nothing for it", async (row) => {
    const { call, method, retryAfter, when } = row;
    const ada = newcomer(rig);
    const cue = `penalty for ${call}`;
    const { first, rest } = inTwoHalves(cue);
    rig.simulator.fault({ kind: "429", retryAfter, method, when, chatId: ada.chat.id });
    ada.write(cue);
    first.open();
    if (method === "editMessageText") await ada.reads("Slowly");
    if (method === "editMessageText") rest.open();
    await rig.simulator.waitFor(() => refused(ada).length === 1, SOON);
    rest.open();
    await ada.reads("Slowly but surely to the end.");
    expect(refused(ada)).toHaveLength(1);
    expect(callsDuringPenalty(ada.chat, retryAfter * 1000)).toEqual([]);
  });

  it("sends nothing to any topic of a group while one of them made it wait", async () => {
    const ada = rig.simulator.addUser({ first_name: "Ada" });
    const group = rig.simulator.addGroup({ title: "Friends", forum: true, members: [ada] });
    const [tea, coffee] = [rig.simulator.addTopic(group, "Tea"), rig.simulator.addTopic(group, "Coffee")];
    const gate = createGate();
    model.on("about tea", [say("Green.", { chunkSize: 10 })]);
    model.on("about coffee", [holdAt(gate), say("Black.", { chunkSize: 10 })]);
    rig.simulator.fault({ kind: "429", retryAfter: 3, method: "sendMessage", chatId: group.id });
    rig.simulator.sendText(group, ada, "@switchboard_bot about tea", { threadId: tea });
    await logs(rig, new RegExp(`"delivery.call-failed".*too-many-requests.*"telegram:${group.id}:${tea}"`));
    rig.simulator.sendText(group, ada, "@switchboard_bot about coffee", { threadId: coffee });
    gate.open();
    await readsLike(rig, group, ["Green."], tea);
    await readsLike(rig, group, ["Black."], coffee);
    expect(callsDuringPenalty(group, 3000)).toEqual([]);
  });

  it.each([
    { call: "the first text", method: "sendMessage", when: () => true },
    { call: "the last text", method: "editMessageText", when: isLast },
  ])("tries again after a 502 of the Bot API itself on $call", async ({ call, method, when }) => {
    const ada = newcomer(rig);
    const cue = `server error at ${call}`;
    openBoth(inTwoHalves(cue), ada, method);
    const fault = { kind: "5xx", status: 502, body: "json" } as const;
    rig.simulator.fault({ ...fault, times: 2, method, when, chatId: ada.chat.id });
    ada.write(cue);
    await ada.reads("Slowly but surely to the end.");
    expect(refused(ada)).toHaveLength(2);
  });

  it("tries again after a gateway's 502 on the last text", async () => {
    const ada = newcomer(rig);
    openBoth(inTwoHalves("bad gateway, last"), ada, "editMessageText");
    rig.simulator.fault({
      kind: "5xx",
      status: 502,
      method: "editMessageText",
      when: isLast,
      chatId: ada.chat.id,
    });
    ada.write("bad gateway, last");
    await ada.reads("Slowly but surely to the end.");
    expect(refused(ada)).toHaveLength(1);
  });

  it.each<{ name: string; fault: FaultKind; isVisible: boolean }>([
    { name: "a gateway's 502", fault: { kind: "5xx", status: 502 }, isVisible: false },
    { name: "a cut before it was processed", fault: { kind: "cut-before" }, isVisible: false },
    { name: "a cut after it was processed", fault: { kind: "cut-after" }, isVisible: true },
    { name: "a cut, processed later", fault: { kind: "late", delayMs: 300 }, isVisible: true },
    { name: "no answer, not processed", fault: { kind: "hang", processed: false }, isVisible: false },
    { name: "no answer, processed", fault: { kind: "hang", processed: true }, isVisible: true },
  ])("shows a first text once, without a mark, after $name", async ({ name, fault, isVisible }) => {
    const ada = newcomer(rig);
    const cue = `doubtful: ${name}`;
    const { first, rest } = inTwoHalves(cue);
    first.open();
    rig.simulator.fault({ ...fault, method: "sendMessage", chatId: ada.chat.id });
    ada.write(cue);
    await rig.simulator.waitFor(() => posts(ada).length === 1, SOON);
    rest.open();
    // What was processed is found and completed; what was not is sent again.
    await ada.reads("Slowly but surely to the end.");
    expect(posts(ada)).toHaveLength(isVisible ? 1 : 2);
    ada.write("And now?");
    await ada.reads("Slowly but surely to the end.", "Noted.");
    expect(posts(ada)).toHaveLength(isVisible ? 2 : 3);
  });

  it.each<{ name: string; fault: FaultKind }>([
    { name: "cut before", fault: { kind: "cut-before" } },
    { name: "cut after", fault: { kind: "cut-after" } },
    { name: "never answered", fault: { kind: "hang", processed: false } },
  ])("makes a last edit again when it is $name", async ({ name, fault }) => {
    const ada = newcomer(rig);
    openBoth(inTwoHalves(`edit ${name}`), ada, "editMessageText");
    rig.simulator.fault({ ...fault, method: "editMessageText", when: isLast, chatId: ada.chat.id });
    ada.write(`edit ${name}`);
    await rig.simulator.waitFor(() => callsIn(ada.chat).filter(isLast).length === 2, SOON);
    await ada.reads("Slowly but surely to the end.");
    expect(posts(ada)).toHaveLength(1);
  });

  it("answers the next message though every call hangs for a while", async () => {
    const ada = newcomer(rig);
    const heal = rig.simulator.fault({ kind: "hang", processed: false, times: 1000, chatId: ada.chat.id });
    model.on("into the void", [say("Nobody hears this.")]);
    model.on("still there?", [say("I am here.")]);
    ada.write("into the void");
    await rig.simulator.waitFor(
      () => callsIn(ada.chat).some(({ method }) => method === "editMessageReplyMarkup"),
      SOON,
    );
    heal();
    ada.write("still there?");
    // The question that hangs ends after three seconds; then the search for the lost post takes less than one.
    await rig.simulator.waitFor(() => ada.replies().length > 1);
    await ada.reads("Nobody hears this.", "I am here.");
    expect(model.requests("still there?")).toHaveLength(1);
  });

  it("ends an answer for a person who blocks the bot, and says so when they come back", async () => {
    const ada = newcomer(rig);
    const [gate, never] = [createGate(), createGate()];
    model.on("I will block you", [say("Please "), holdAt(gate), say("do not."), holdAt(never)]);
    model.on("I am back", [say("Welcome back.")]);
    ada.write("I will block you");
    await ada.reads("Please");
    rig.simulator.blockBot(ada.user);
    gate.open();
    await rig.simulator.waitFor(() => refused(ada).length > 0, SOON);
    await model.requests("I will block you")[0]?.ended;
    expect(model.requests("I will block you")[0]?.state).toBe("client-left");
    ada.write("I am back");
    await ada.reads(`Please do not.\n\n${INTERRUPTED_TEXT}`, "Welcome back.");
    expect(refused(ada)).toHaveLength(1);
  });

  it("says that an answer was cut when its topic is reopened, without a word of anybody", async () => {
    const ada = rig.simulator.addUser({ first_name: "Ada" });
    const forum = rig.simulator.addGroup({ title: "Forum", forum: true, members: [ada] });
    const threadId = rig.simulator.addTopic(forum, "Returns");
    const [gate, never] = [createGate(), createGate()];
    model.on("this topic closes", [holdAt(gate), say("Half."), holdAt(never)]);
    rig.simulator.sendText(forum, ada, "@switchboard_bot this topic closes", { threadId });
    await gate.reached;
    rig.simulator.closeTopic(forum, threadId);
    gate.open();
    const posts = () => rig.simulator.calls({ chatId: forum.id, method: "sendMessage" });
    await rig.simulator.waitFor(() => posts().length > 0, SOON);
    await logs(rig, new RegExp(`"chat.gone"[^\\n]*"chat":"${forum.id}"[^\\n]*"topic-closed"`));
    await model.requests("this topic closes")[0]?.ended;
    rig.simulator.reopenTopic(forum, threadId);
    await readsLike(rig, forum, [`Half.\n\n${INTERRUPTED_TEXT}`]);
    expect(posts()).toHaveLength(2);
  });
});

describe.concurrent("the model fails", () => {
  const visible = "Half of an answer";
  const half = say(visible);
  const failures: { name: string; failing: readonly ModelStep[]; visible?: string }[] = [
    { name: "an error before the first text", failing: [failWith(500, DETAIL)] },
    { name: "an overloaded server", failing: [failWith(429, DETAIL)] },
    { name: "an error in mid-stream", failing: [half, errorInStream(DETAIL)], visible },
    { name: "a cut before the first text", failing: [cutConnection] },
    { name: "a cut in mid-stream", failing: [half, cutConnection], visible },
    { name: "an end without a finish", failing: [half, endWithoutFinish], visible },
    { name: "a stall before the first text", failing: [stall] },
    { name: "a stall in mid-stream", failing: [half, stall], visible },
  ];

  it.each(failures)("is tried once more after $name, in the same message", async ({ name, failing }) => {
    const ada = newcomer(rig);
    model.on(`once: ${name}`, failing, [say("This is **whole**.")]);
    ada.write(`once: ${name}`);
    await ada.reads("This is whole.");
    expect(model.requests(`once: ${name}`)).toHaveLength(2);
    expect(posts(ada)).toHaveLength(1);
  });

  it.each(failures)("ends in a safe text when $name comes again", async ({ name, failing, visible }) => {
    const ada = newcomer(rig);
    model.on(`again: ${name}`, failing);
    ada.write(`again: ${name}`);
    await ada.reads(visible === undefined ? BUSY_TEXT : `${visible}\n\n${INTERRUPTED_TEXT}`);
    // Before the first word it is asked as long as the bot has patience, and after that once more.
    const calls = model.requests(`again: ${name}`).length;
    if (visible === undefined) expect(calls).toBeGreaterThanOrEqual(2);
    else expect(calls).toBe(2);
    // The conversation is not broken by it.
    ada.write("And now?");
    await rig.simulator.waitFor(() => ada.replies().at(-1)?.text === "Noted.", SOON);
    expect(ada.replies()).toHaveLength(2);
  });

  it("gives way to a person who writes while a stalled answer is made again", async () => {
    const ada = newcomer(rig);
    model.on("are you still reading?", [say("Yes, to both.")]);
    model.on("stop in the middle", [half, stall]);
    ada.write("stop in the middle");
    await rig.simulator.waitFor(() => model.requests("stop in the middle").length === 2, SOON);
    ada.write("are you still reading?");
    await ada.reads("Yes, to both.");
    const [joined] = model.requests("are you still reading?");
    expect(toldIn(joined)).toMatch(/stop in the middle\s+are you still reading\?/);
    expect(posts(ada)).toHaveLength(1);
  });

  it("is waited for when it is busy, as long as it asks", async () => {
    const ada = newcomer(rig);
    const busy = [failWith(429, DETAIL, { "retry-after": "1" })];
    model.on("be patient", busy, busy, [say("Here I am.")]);
    const beganAt = Date.now();
    ada.write("be patient");
    await ada.reads("Here I am.");
    expect(model.requests("be patient")).toHaveLength(3);
    expect(Date.now() - beganAt).toBeGreaterThanOrEqual(2000);
    expect(posts(ada)).toHaveLength(1);
  });

  it("is not waited for when it asks for more time than the bot has", async () => {
    const ada = newcomer(rig);
    model.on("come back tomorrow", [failWith(503, DETAIL, { "retry-after": "86400" })]);
    ada.write("come back tomorrow");
    await ada.reads(BUSY_TEXT);
    expect(model.requests("come back tomorrow")).toHaveLength(1);
  });

  it("says so, after one call, when the model stops at its limit of tokens", async () => {
    const ada = newcomer(rig);
    model.on("go on for ever", [half, finishWith("length")]);
    ada.write("go on for ever");
    await ada.reads(`${visible}\n\n${INTERRUPTED_TEXT}`);
    expect(model.requests("go on for ever")).toHaveLength(1);
  });

  it("says so when the answer is empty", async () => {
    const ada = newcomer(rig);
    model.on("say nothing", []);
    model.on("say only blanks", [say(" \n\n ")]);
    ada.write("say nothing");
    await ada.reads(EMPTY_TEXT);
    const bob = newcomer(rig);
    bob.write("say only blanks");
    await bob.reads(EMPTY_TEXT);
    expect(posts(ada)).toHaveLength(1);
  });

  it("does not try a refused key again, and logs it precisely", async () => {
    const ada = newcomer(rig);
    model.on("locked out", [failWith(401, `${DETAIL}: Incorrect API key provided: ${KEY}`)]);
    ada.write("locked out");
    await ada.reads(ERROR_TEXT);
    expect(model.requests("locked out")).toHaveLength(1);
    await logs(rig, /"model\.call-failed","code":"model-unauthorized","status":401/);
  });

  it("keeps what tools have done when the call after them fails", async () => {
    const ada = newcomer(rig);
    model.on(
      "ring the bell",
      [say("I ring it."), callTool("ring_bell", {})],
      [say("It"), cutConnection],
      [say("It rang.")],
    );
    ada.write("ring the bell");
    await ada.reads("I ring it.\n\nIt rang.");
    const told = model.requests("ring the bell").map((request) => toldIn(request));
    expect(told[1]).toContain('{"rungInAll":1}');
    expect(told[2]).toBe(told[1]);
    expect(posts(ada)).toHaveLength(1);
  });

  it("shows a safe text when a command fails", async () => {
    const ada = newcomer(rig);
    ada.write("/explode");
    await ada.reads(ERROR_TEXT);
    expect(model.requests("/explode")).toHaveLength(0);
  });
});

describe("after all of this", () => {
  // Alone: with many chats the indicator waits for the others, and this bot does not wait long for its model.
  it("sends nothing during a 429 on the typing indicator, and loses nothing for it", async () => {
    const ada = newcomer(rig);
    const { first, rest } = inTwoHalves("penalty for typing");
    rig.simulator.fault({ kind: "429", retryAfter: 2, method: "sendChatAction", chatId: ada.chat.id });
    ada.write("penalty for typing");
    await rig.simulator.waitFor(() => refused(ada).length === 1, SOON);
    first.open();
    rest.open();
    await ada.reads("Slowly but surely to the end.");
    expect(callsDuringPenalty(ada.chat, 2000)).toEqual([]);
  });

  it("answers when the model's server is away for a moment", async () => {
    const early = await startScriptedModel();
    const { url } = early;
    await early.close();
    const ada = newcomer(rig);
    await rig.bot.restart({ OPENAI_BASE_URL: url });
    ada.write("anybody there?");
    await logs(rig, /"model\.call-failed","code":"model-unreachable"/);
    const late = await startScriptedModel({ port: Number(new URL(url).port) });
    onTestFinished(() => late.close());
    await ada.reads("You said: anybody there?");
    expect(posts(ada)).toHaveLength(1);
  });

  it("says that it is busy when the model's server cannot be reached", async () => {
    const ada = newcomer(rig);
    // The server of the test before is away again.
    ada.write("anybody there?");
    await ada.reads(BUSY_TEXT);
    expect(posts(ada)).toHaveLength(1);
  });

  it("has shown no exception, and logged no exception, token, key, secret or text", () => {
    const shown = rig.simulator
      .chats()
      .flatMap((chat) => rig.simulator.messages(chat))
      .filter(({ from }) => from.isBot)
      .flatMap(({ history }) => history.map(({ text }) => text));
    const [, tokenSecret = "no token"] = rig.simulator.token.split(":");
    for (const hidden of [DETAIL, KEY, rig.secret, tokenSecret, "127.0.0.1"]) {
      for (const text of shown) expect(text).not.toContain(hidden);
    }
    const log = rig.bot.logs().replaceAll(/^.*"event":"serve\..*$/gm, "");
    expect(log).toContain('"event":"turn.ended"');
    for (const hidden of [DETAIL, KEY, rig.secret, tokenSecret, "Half of", "surely", "ring the bell"]) {
      expect(log).not.toContain(hidden);
    }
  });
});

/** An answer in two halves; the first is held by one gate and the second by the other. */
function inTwoHalves(cue: string): { first: ReturnType<typeof createGate>; rest: typeof first } {
  const [first, rest] = [createGate(), createGate()];
  model.on(cue, [holdAt(first), say("Slowly "), holdAt(rest), say("but surely to the end.")]);
  return { first, rest };
}

/** Lets the answer begin, and go on once its first half is visible if an edit is what is waited for. */
function openBoth({ first, rest }: ReturnType<typeof inTwoHalves>, person: Person, method: string): void {
  first.open();
  if (method !== "editMessageText") return rest.open();
  const forget = rig.simulator.onChange(() => {
    if (person.replies()[0]?.text !== "Slowly") return;
    forget();
    rest.open();
  });
}

function isLast({ method, payload }: Pick<ApiCall, "method" | "payload">): boolean {
  return method === "editMessageText" && String(payload.text).endsWith("to the end.");
}

function callsIn(chat: SimChat): readonly ApiCall[] {
  return rig.simulator.calls({ chatId: chat.id });
}

/** What was called after the first refusal, while it said to wait. */
function callsDuringPenalty(chat: SimChat, lastsMs: number): readonly ApiCall[] {
  const penalty = callsIn(chat).find(isRefused);
  if (penalty === undefined) throw new Error("No call was refused.");
  return callsIn(chat).filter(({ at, number }) => number > penalty.number && at < penalty.at + lastsMs);
}

function posts({ chat }: Person): readonly ApiCall[] {
  return callsIn(chat).filter(({ method }) => method === "sendMessage");
}

function refused({ chat }: Person): readonly ApiCall[] {
  return callsIn(chat).filter(isRefused);
}

function isRefused({ outcome }: ApiCall): boolean {
  return outcome === "error";
}
