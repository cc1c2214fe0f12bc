import { declaredOf } from "../../../lab/support/messenger-events.ts";
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import type { Delivery, ReplyStart } from "../../../src/core/chat/delivery.ts";
import { createLog } from "../../../src/core/base/log.ts";
import type { MessengerOptions, MessengerPlatform } from "../../../src/core/chat/messenger.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { createInboxStore } from "../../../src/inbox/inbox-store.ts";
import { createNoteStore } from "../../../src/inbox/note-store.ts";
import { createPromptStore } from "../../../src/inbox/prompt-store.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { createThreadMemory } from "../../../src/messengers/replies/thread-memory.ts";
import { Prompts } from "../../../src/messengers/turns/prompts.ts";
import { TurnResponses } from "../../../src/messengers/turns/turn-responses.ts";
import { TurnRunner } from "../../../src/messengers/turns/turn-runner.ts";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import type { TurnEngine } from "../../../src/turn/turn-engine.ts";
import type { TurnOutcome } from "../../../src/turn/turn-engine-options.ts";
import { createTurnStore } from "../../../src/turn/turn-store.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const THREAD = { id: "any:1", chatId: "1", isDirectMessage: true };

/** Operations that run until they are ended. */
class Operations {
  readonly states = new Map<string, "open" | "stopped" | "failed">();
  readonly forgotten: string[] = [];
  readonly events = new TurnEvents(createVirtualClock());
  /** Whether the newest operation makes a failed call again. */
  repeats = false;
  /** What the newest operation was asked. */
  question = "";
  /** The text that the newest operation has streamed so far. */
  said = "";

  async start(id: string, _session: string, questions: readonly UIMessage[]): Promise<void> {
    const parts = questions.flatMap((question) => question.parts);
    this.question = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    if (!this.states.has(id)) this.states.set(id, "open");
  }

  async abort(id: string): Promise<void> {
    if (this.states.has(id)) this.states.set(id, "stopped");
  }

  async forget(id: string): Promise<void> {
    this.forgotten.push(id);
  }

  async outcome(id: string): Promise<TurnOutcome> {
    const state = this.states.get(id);
    if (state === undefined) return { kind: "unknown" };
    if (state === "failed") return { kind: "failed", text: this.said };
    return state === "open" ? { kind: "open" } : { kind: "stopped", text: "" };
  }

  textSoFar(): string {
    return this.said;
  }

  isRepeating(): boolean {
    return this.repeats;
  }

  get running(): string[] {
    return [...this.states].flatMap(([id, state]) => (state === "open" ? [id] : []));
  }
}

/** Events that the intake has looked at. */
const ALL_READ = { hasUnread: () => false };

function createRig(options: MessengerOptions = {}) {
  const database = createNodeDatabase();
  const operations = new Operations();
  const inbox = createInboxStore(database);
  const nothing = (): void => {};
  const opened: ReplyStart[] = [];
  const sent: string[] = [];
  const finished: string[] = [];
  /** What people see of the running answer. */
  const visible: { text?: string } = {};
  const delivery = {
    open: (reply: ReplyStart) => void opened.push(reply),
    finish: (_id: string, text: string) => void finished.push(text),
    withdraw: nothing,
    send: (_reply: ReplyStart, text: string) => void sent.push(text),
    postedText: () => "",
    seenText: () => visible.text,
    receipt: (id: string) => opened.find((reply) => reply.id === id),
  };
  const platform = { provider: "any", verification: { kind: "none" } } as MessengerPlatform;
  const [definition] = normalizeMessengers({
    any: { platform, verifyWebhook: false, rerunOnEdit: true, ...options },
  });
  if (definition === undefined) throw new Error("The definition is missing.");
  const clock = createVirtualClock(5_000);
  let ids = 0;
  /** What a start of the process makes of what is stored. */
  const deps = {
    clock,
    random: () => 0,
    newId: () => `turn-${(ids += 1)}`,
    fetch: () => Promise.reject(new Error("nothing is fetched")),
  };
  const messengers = declaredOf(() => [definition], deps);
  const prompts = new Prompts({
    deps,
    store: createPromptStore(database),
    messengers,
    delivery: { movedTo: () => undefined },
  });
  const start = (): TurnRunner => {
    const turns = createTurnStore(database);
    return new TurnRunner({
      database,
      deps,
      log: createLog(nothing),
      inbox,
      turns,
      prompts,
      notes: createNoteStore(database),
      responses: new TurnResponses({
        deps,
        turns,
        isAwaited: () => false,
        tell: () => Promise.resolve(),
        wake: { at: nothing },
      }),
      attachments: { prepare: () => Promise.resolve(undefined), post: nothing },
      memory: createThreadMemory(database),
      delivery: delivery as unknown as Delivery,
      engine: operations as unknown as TurnEngine,
      messengers,
    });
  };
  const write = (): void => {
    const row = inbox.insert("any", { key: "m:1", thread: THREAD, raw: {} }, 1_000);
    if (row !== undefined) inbox.queue(row.seq, eventOf("first"), 0);
  };
  /** Something more is written, now. */
  const add = (
    key: string,
    { messengerId = "any", readyAt = 0, thread = THREAD, userId = "ada", sentAt = clock.now() } = {},
  ): void => {
    const row = inbox.insert(messengerId, { key, thread, raw: {} }, clock.now());
    const event = { ...eventOf(key), key, messengerId, thread, author: { userId } };
    const message = { ...event.message, id: key, text: key, sentAt };
    if (row !== undefined) inbox.queue(row.seq, { ...event, message } as MessengerEvent, readyAt);
  };
  return { add, clock, database, finished, inbox, operations, opened, prompts, sent, start, visible, write };
}

function eventOf(text: string): MessengerEvent {
  return {
    key: "m:1",
    kind: "direct-message",
    messengerId: "any",
    provider: "any",
    thread: THREAD,
    message: { id: "1", text, sentAt: 1_000, isMention: false, attachments: [] },
    capabilities: {
      canEditMessages: true,
      canStream: true,
      maxMessageLength: 4_000,
      supportsActions: false,
      supportsAttachments: false,
    },
  };
}

it.each([1, 2, 4])("ends the running answer after %i edits at once", async (edits) => {
  const { opened, operations, start, write } = createRig();
  const runner = start();
  write();
  await runner.advance(ALL_READ);
  expect(operations.running).toEqual(["turn-1"]);
  for (let edit = 1; edit <= edits; edit += 1) expect(runner.rerun(eventOf(`edit ${edit}`))).toBe(true);
  await runner.advance(ALL_READ);
  expect(operations.running).toEqual([`turn-${edits + 1}`]);
  expect(operations.forgotten).toEqual(["turn-1"]);
  // The answer that people see is handed on from each to the next.
  const takenOver = new Map(opened.map(({ id, takesOver }) => [id, takesOver]));
  for (let edit = 1; edit <= edits; edit += 1) expect(takenOver.get(`turn-${edit + 1}`)).toBe(`turn-${edit}`);
});

it("answers the newest words of both messages when one was edited while the answer was being stopped", async () => {
  const { add, operations, start } = createRig();
  const edit = (id: string): MessengerEvent => {
    const event = eventOf(`${id} edited`);
    return { ...event, message: { ...event.message, id } } as MessengerEvent;
  };
  const runner = start();
  add("first");
  add("second");
  await runner.advance(ALL_READ);
  runner.endings.stopRunning();
  expect(runner.rerun(edit("first"))).toBe(false);
  runner.keepEdit(edit("first"));
  await runner.advance(ALL_READ);
  expect(runner.rerun(edit("second"))).toBe(true);
  await runner.advance(ALL_READ);
  expect(operations.running).toEqual(["turn-2"]);
  expect(operations.question).toMatch(/first edited\s+second edited/);
});

it.each([
  ["all that people see", "One two three", "One two", "One two three"],
  ["what people see, when the last attempt said nothing", "One two", "", "One two"],
  ["the end that is not visible yet", "One", "One two", "One two"],
  ["what was said, when it is not known what people see", undefined, "One", "One"],
])("keeps %s when an answer is given up", async (_name, seen, said, kept) => {
  const { finished, operations, start, visible, write } = createRig();
  const runner = start();
  write();
  await runner.advance(ALL_READ);
  if (seen !== undefined) visible.text = seen;
  operations.said = said;
  operations.states.set("turn-1", "failed");
  await runner.advance(ALL_READ);
  const sorry = "Sorry, I couldn't finish this answer. Please ask again if you need the rest.";
  expect(finished).toEqual([`${kept}\n\n${sorry}`]);
});

it.each(["given up", "stopped"])("keeps no thoughts that were visible when an answer is %s", async (how) => {
  const { finished, operations, start, visible, write } = createRig();
  const runner = start();
  write();
  await runner.advance(ALL_READ);
  visible.text = "The person is **annoying**";
  // Only their end tells that they were thoughts.
  operations.said = "The person is **annoying, but paying.</think>";
  if (how === "stopped") runner.endings.stopRunning();
  else {
    operations.states.set("turn-1", "failed");
    await runner.advance(ALL_READ);
  }
  expect(finished).toHaveLength(1);
  expect(finished[0]).not.toContain("annoying");
});

it("keeps what people see, not what was said since, when the answer is stopped", async () => {
  const { finished, operations, start, visible, write } = createRig();
  const runner = start();
  write();
  await runner.advance(ALL_READ);
  visible.text = "One **two**";
  operations.said = "One **two three** four";
  runner.endings.stopRunning();
  expect(finished).toEqual(["One **two**\n\n(stopped)"]);
});

it("ends the running answer when the process died between two edits", async () => {
  const { operations, start, write } = createRig();
  const before = start();
  write();
  await before.advance(ALL_READ);
  before.rerun(eventOf("edit 1"));
  const after = start();
  after.rerun(eventOf("edit 2"));
  await after.advance(ALL_READ);
  expect(operations.running).toEqual(["turn-3"]);
});

it("ends the running answer when the process died before its replacement began", async () => {
  const { operations, start, write } = createRig();
  const before = start();
  write();
  await before.advance(ALL_READ);
  before.rerun(eventOf("edit 1"));
  // Its reply is open, and the end of the first answer never comes.
  operations.abort = () => new Promise(() => {});
  void before.advance(ALL_READ);
  await Promise.resolve();
  Reflect.deleteProperty(operations, "abort");
  const after = start();
  after.rerun(eventOf("edit 2"));
  await after.advance(ALL_READ);
  expect(operations.running).toEqual(["turn-3"]);
});

it("ends the running answer when its replacement is stopped before it began", async () => {
  const { operations, start, write } = createRig();
  const runner = start();
  write();
  await runner.advance(ALL_READ);
  runner.rerun(eventOf("edit 1"));
  runner.rerun(eventOf("edit 2"));
  expect(runner.endings.stopRunning()).toBe(true);
  await runner.advance(ALL_READ);
  expect(operations.running).toEqual([]);
});

it("does not answer messages that wait when nothing runs yet, and says so once", async () => {
  const { operations, sent, start, write } = createRig();
  const runner = start();
  write();
  const by = { messengerId: "any", thread: THREAD };
  expect(runner.endings.stopAll({ ...by, thread: { ...THREAD, id: "any:2" } })).toBe(false);
  expect(runner.endings.stopAll(by)).toBe(true);
  expect(runner.endings.stopAll(by)).toBe(false);
  await runner.advance(ALL_READ);
  expect(operations.running).toEqual([]);
  expect(sent).toEqual(["(stopped)"]);
});

it.each([
  ["the chat", { chatId: "1" }, []],
  ["the thread", { chatId: "1", threadId: "any:1" }, []],
  ["another thread of the chat", { chatId: "1", threadId: "any:1:2" }, ["turn-1"]],
  ["a chat of the same id elsewhere", { messengerId: "other", chatId: "1" }, ["turn-1"]],
])("neither goes on nor begins when %s is gone, and else does", async (_name, place, running) => {
  const { operations, start, write } = createRig();
  const runner = start();
  write();
  await runner.advance(ALL_READ);
  runner.endings.abandon({ messengerId: "any", ...place });
  await runner.advance(ALL_READ);
  expect(operations.running).toEqual(running);
  const { operations: waiting, start: startWaiting, write: writeWaiting } = createRig();
  const other = startWaiting();
  writeWaiting();
  other.endings.abandon({ messengerId: "any", ...place });
  await other.advance(ALL_READ);
  expect(waiting.running).toEqual(running);
});

it("answers the other messengers of a conversation when one of them is not declared any more", async () => {
  const { add, inbox, operations, start } = createRig();
  add("lost", { messengerId: "old" });
  add("kept");
  const runner = start();
  await runner.advance(ALL_READ);
  expect(operations.running).toEqual(["turn-1"]);
  expect(inbox.inState("queued")).toEqual([]);
  expect(inbox.inState("taken").map(({ messengerId }) => messengerId)).toEqual(["any"]);
});

it("ends the answer that is for a messenger which is not declared any more", async () => {
  const { add, database, inbox, operations, start } = createRig();
  add("first");
  await start().advance(ALL_READ);
  database.run("UPDATE turn_v1 SET address = replace(address, 'any', 'old')");
  database.run("UPDATE inbox_v1 SET messenger_id = 'old', key = 'old|first'");
  await start().advance(ALL_READ);
  expect(operations.running).toEqual([]);
  expect(inbox.inState("taken")).toEqual([]);
});

it("looks again when a picture that belongs to what is being answered may be whole", async () => {
  const { add, clock, operations, start } = createRig();
  const runner = start();
  add("Look at these");
  await runner.advance(ALL_READ);
  await clock.advance(500);
  const readyAt = clock.now() + 1_000;
  add("picture", { readyAt });
  expect(await runner.advance(ALL_READ)).toBe(readyAt);
  expect(operations.running).toEqual(["turn-1"]);
  await clock.advance(1_000);
  await runner.advance(ALL_READ);
  expect(operations.running).toEqual(["turn-2"]);
});

it("does not begin a tool with an effect while a picture that belongs to the message may not be whole", async () => {
  const { add, clock, start } = createRig();
  const runner = start();
  add("Order these");
  await runner.advance(ALL_READ);
  const decided: string[] = [];
  void runner.beforeTool("turn-1").then((decision) => decided.push(decision));
  await clock.advance(500);
  add("picture", { readyAt: clock.now() + 1_000 });
  await clock.advance(900);
  expect(decided).toEqual([]);
  await clock.advance(100);
  await runner.advance(ALL_READ);
  await clock.settle();
  expect(decided).toEqual(["block"]);
});

it("lets go of every tool that waits when the answer is stopped", async () => {
  const { add, clock, start } = createRig();
  const runner = start();
  add("Order both");
  await runner.advance(ALL_READ);
  const decided: string[] = [];
  for (const _tool of ["one", "two"])
    void runner.beforeTool("turn-1").then((decision) => decided.push(decision));
  await clock.advance(100);
  runner.endings.stopRunning();
  await clock.settle();
  expect(decided).toEqual(["block", "block"]);
});

const OTHER_THREAD = { ...THREAD, id: "any:2", chatId: "2" };

it("joins a quick line to its question though another thread of the conversation wrote in between", async () => {
  const { add, clock, operations, start } = createRig();
  const runner = start();
  add("Order these");
  await runner.advance(ALL_READ);
  await clock.advance(100);
  add("elsewhere", { thread: OTHER_THREAD });
  await clock.advance(100);
  add("no, those");
  await runner.advance(ALL_READ);
  expect(operations.running).toEqual(["turn-2"]);
  expect(operations.question).toMatch(/Order these\s+no, those/);
});

it("lets a tool with an effect wait for a quick line though another thread of the conversation wrote before it", async () => {
  const { add, clock, start } = createRig();
  const runner = start();
  add("Order these");
  await runner.advance(ALL_READ);
  await clock.advance(500);
  add("elsewhere", { thread: OTHER_THREAD });
  add("picture", { readyAt: clock.now() + 1_000 });
  const decided: string[] = [];
  void runner.beforeTool("turn-1").then((decision) => decided.push(decision));
  await clock.advance(900);
  expect(decided).toEqual([]);
});

it.each(["interrupt", "steer"] as const)(
  "lets no message that waited out an outage %s the answer to another person",
  async (whenBusy) => {
    const { add, clock, operations, start } = createRig({ whenBusy, staleAfterMs: 1_000 });
    const runner = start();
    await clock.advance(60_000);
    add("Ada's question", { sentAt: 1_000 });
    add("Bob's question", { sentAt: 2_000, userId: "bob" });
    await runner.advance(ALL_READ);
    expect(operations.running).toEqual(["turn-1"]);
    expect(runner.beforeStep("turn-1")).toBe("go");
    add("Bob again", { userId: "bob" });
    expect(runner.beforeStep("turn-1")).toBe("yield");
    await runner.advance(ALL_READ);
    expect(operations.running).not.toContain("turn-1");
  },
);

describe("a message of another person that is older than the newest one of a turn in a group", () => {
  const GROUP = { ...THREAD, isDirectMessage: false };

  async function withOlder(options: MessengerOptions) {
    const rig = createRig(options);
    const write = (text: string, userId: string): void => rig.add(text, { thread: GROUP, userId });
    write("Ada's question", "ada");
    write("Bob's question", "bob");
    write("Ada's other question", "ada");
    const runner = rig.start();
    await runner.advance(ALL_READ);
    return { ...rig, runner, write };
  }

  it.each(["interrupt", "steer"] as const)("does not %s the answer", async (whenBusy) => {
    const { operations, runner, write } = await withOlder({ whenBusy });
    expect(operations.question).toBe("ada: Ada's question\nada: Ada's other question");
    expect(runner.beforeStep("turn-1")).toBe("go");
    await runner.advance(ALL_READ);
    expect(operations.running).toEqual(["turn-1"]);
    write("Bob again", "bob");
    expect(runner.beforeStep("turn-1")).toBe("yield");
  });

  it("does not join a turn whose failed call is made again", async () => {
    const { operations, runner, write } = await withOlder({});
    operations.repeats = true;
    await runner.advance(ALL_READ);
    expect(operations.running).toEqual(["turn-1"]);
    write("Carl's question", "carl");
    await runner.advance(ALL_READ);
    expect(operations.running).toEqual(["turn-2"]);
    expect(operations.question).toBe("ada: Ada's question\nada: Ada's other question\ncarl: Carl's question");
  });

  it("does not keep a quick line from its question", async () => {
    const { clock, operations, runner, write } = await withOlder({});
    await clock.advance(100);
    write("and this", "ada");
    await runner.advance(ALL_READ);
    expect(operations.running).toEqual(["turn-2"]);
    expect(operations.question).toBe("ada: Ada's question\nada: Ada's other question\nada: and this");
  });
});
