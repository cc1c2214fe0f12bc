import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, holdAt, say, textOf } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";
import { tool } from "ai";
import { z } from "zod";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

const outcomes = (): unknown[] =>
  log.filter(({ event }) => event === "inbox.event").map(({ outcome }) => outcome);

describe("an event that comes more than once", () => {
  it("is answered once, however many of it come at the same moment (I2)", async () => {
    const world = createWorld();
    const update = { id: "1", chat: "c1", user: "ada", text: "Hello" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.post(update)));
    expect(answers).toEqual(Array.from({ length: 8 }, () => 200));
    await world.shows("c1", "You said: Hello");
    expect(await world.post(update)).toBe(200);
    await world.write("c1", "And then?");
    await world.shows("c1", "You said: Hello", "You said: And then?");
    expect(world.requests).toHaveLength(2);
    expect(outcomes().filter((outcome) => outcome === "known already")).toHaveLength(8);
  });

  it("is known also when nothing followed from it", async () => {
    const world = createWorld();
    for (let time = 0; time < 2; time += 1) await world.write("g1", "psst", { isGroup: true, id: "1" });
    expect(outcomes()).toEqual(["ignored: no mention", "known already"]);
  });

  it("presses a button once, and acknowledges it (I2)", async () => {
    const world = createWorld({ messenger: { respondTo: ["action"] } });
    const press = { kind: "press", id: "p1", chat: "c1", user: "ada", text: "yes" } as const;
    await Promise.all([world.post(press), world.post(press)]);
    await world.shows("c1", "You said: [Button pressed: yes]");
    expect(world.chats.answered).toEqual(["p1"]);
  });
});

describe("a message while a turn runs", () => {
  it("waits in a group for one answer to a person, however much that person writes (I3)", async () => {
    const gate = createGate();
    let calls = 0;
    const world = createWorld({
      script: ({ said }) => {
        calls += 1;
        return [...(calls === 1 ? [holdAt(gate)] : []), say(`You said: ${said}`)];
      },
    });
    let sentAt = Date.now();
    const write = (user: string, text: string): Promise<number> =>
      world.write("g1", text, { isGroup: true, mentions: true, user, sentAt: (sentAt += 10) });
    await write("ada", "1");
    await untilReached(gate);
    for (const text of ["2", "3", "4"]) await write("ada", text);
    await write("bob", "5");
    await write("ada", "6");
    gate.open();
    await world.shows(
      "g1",
      "You said: ada: 1",
      "You said: ada: 2\nada: 3\nada: 4\nada: 6",
      "You said: bob: 5",
    );
    expect(world.requests).toHaveLength(3);
  });

  it("waits for it; turns run one at a time, in order of arrival (I3)", async () => {
    const gate = createGate();
    let running = 0;
    let most = 0;
    const world = createWorld({
      getTools: () => ({
        count: tool({
          inputSchema: z.object({}),
          execute: async () => {
            running += 1;
            most = Math.max(most, running);
            await gate.pass();
            running -= 1;
            return "counted";
          },
        }),
      }),
      script: ({ prompt, said }) =>
        prompt.at(-1)?.role === "tool" ? [say(`Counted for ${said}`)] : [callTool("count")],
    });
    await world.write("c1", "one");
    await untilReached(gate);
    await world.write("c1", "two", { user: "bob" });
    await world.write("c1", "three");
    expect(outcomes()).toEqual(["queued", "queued", "queued"]);
    expect(world.requests).toHaveLength(1);
    gate.open();
    await world.shows("c1", "Counted for one", "Counted for two", "Counted for three");
    expect(most).toBe(1);
  });

  it("answers two chats at the same time", async () => {
    const gate = createGate();
    const world = createWorld({
      script: ({ said }) => (said === "slow" ? [holdAt(gate), say("slow done")] : [say("quick done")]),
    });
    await world.write("c1", "slow");
    await untilReached(gate);
    await world.write("c2", "quick");
    await world.shows("c2", "quick done");
    expect(world.chats.visible("c1")).toEqual([]);
    gate.open();
    await world.shows("c1", "slow done");
  });

  it("lets /stop overtake it, and answers what waited (I3)", async () => {
    const gate = createGate();
    const world = createWorld({
      script: ({ said }) =>
        said === "tell" ? [say("Once upon"), holdAt(gate), say(" a time")] : [say("Later.")],
    });
    await world.write("c1", "tell");
    await world.shows("c1", "Once upon");
    await world.write("c1", "and then?");
    expect(await world.write("c1", "/stop")).toBe(200);
    await world.shows("c1", "Once upon\n\n(stopped)", "Later.");
    expect(outcomes()).toContain("command: stop");
    gate.open();
    await world.write("c1", "/stop");
    await world.shows("c1", "Once upon\n\n(stopped)", "Later.", "There's nothing to stop right now.");
  });

  it("stops a tool that does not look at its signal", async () => {
    const gate = createGate();
    const world = createWorld({
      getTools: () => ({
        wait: tool({ inputSchema: z.object({}), execute: () => gate.pass().then(() => "late") }),
      }),
      script: ({ prompt, said }) =>
        said === "go" && prompt.at(-1)?.role === "user" ? [callTool("wait")] : [say(`Answer to ${said}`)],
    });
    await world.write("c1", "go");
    await untilReached(gate);
    await world.write("c1", "/stop");
    await world.shows("c1", "(stopped)");
    await world.write("c1", "next");
    await world.shows("c1", "(stopped)", "Answer to next");
    expect(world.requests.map(({ said }) => said)).toEqual(["go", "next"]);
    gate.open();
  });

  it("begins an empty transcript with /new, and answers there what was waiting", async () => {
    const gate = createGate();
    const world = createWorld({
      script: ({ prompt, said }) =>
        said === "tell" ? [say("Once upon"), holdAt(gate)] : [say(`${said}: ${prompt.length - 1} messages`)],
    });
    await world.write("c1", "tell");
    await world.shows("c1", "Once upon");
    await world.write("c1", "waiting");
    await world.write("c1", "/new");
    await vi.waitFor(() => expect(world.chats.visible("c1")).toContain("waiting: 1 messages"), 8000);
    expect(world.chats.visible("c1")[0]).toBe("Once upon\n\n(stopped)");
    gate.open();
  });
});

describe("an edit and a deletion", () => {
  const held = () => {
    const gate = createGate();
    const world = createWorld({
      commands: { boom: { description: "Fire", handler: () => "Fired!" } },
      script: ({ said }) => (said === "first" ? [holdAt(gate), say("First.")] : [say(`You said: ${said}`)]),
    });
    return { gate, world };
  };

  it("correct a message that waits, or withdraw it", async () => {
    const { gate, world } = held();
    await world.write("c1", "first");
    await untilReached(gate);
    await world.write("c1", "wrong", { id: "w" });
    await world.write("c1", "regretted", { id: "r" });
    await world.post({ kind: "edit", id: "w", chat: "c1", user: "ada", text: "right" });
    await world.post({ kind: "delete", id: "r", chat: "c1", user: "ada" });
    gate.open();
    await world.shows("c1", "First.", "You said: right");
    expect(outcomes()).toEqual(
      expect.arrayContaining([
        "edit applied to the waiting message",
        "withdrawn by its author",
        "deletion applied to the waiting message",
      ]),
    );
  });

  it("never runs a command, and leaves what was answered alone", async () => {
    const { gate, world } = held();
    await world.write("c1", "first", { id: "f" });
    await untilReached(gate);
    await world.write("c1", "harmless", { id: "h" });
    await world.post({ kind: "edit", id: "h", chat: "c1", user: "ada", text: "/boom" });
    await world.post({ kind: "edit", id: "f", chat: "c1", user: "ada", text: "/boom now" });
    gate.open();
    await world.shows("c1", "First.", "You said: /boom");
    expect(outcomes()).toContain("ignored: edit of a message that is not waiting");
    await world.post({ kind: "edit", id: "h", chat: "c1", user: "ada", text: "again" });
    await world.post({ kind: "delete", id: "h", chat: "c1", user: "ada" });
    await vi.waitFor(() => expect(outcomes()).toContain("deletion recorded"));
    expect(world.chats.visible("c1")).toEqual(["First.", "You said: /boom"]);
  });

  it("belongs to its own chat: a message of the same id elsewhere is not touched (I11)", async () => {
    const gate = createGate();
    const world = createWorld({
      messenger: { conversation: "self" },
      script: ({ said }) => (said === "first" ? [holdAt(gate), say("First.")] : [say(`You said: ${said}`)]),
    });
    await world.write("c1", "first");
    await untilReached(gate);
    await world.write("c1", "mine", { id: "same" });
    await world.write("c2", "yours", { id: "same" });
    await world.post({ kind: "delete", id: "same", chat: "c2", user: "bob" });
    gate.open();
    await world.shows("c1", "First.", "You said: mine");
    expect(world.chats.visible("c2")).toEqual([]);
  });
});

describe("messages that waited too long", () => {
  it("are answered as one when they are stale", async () => {
    const gate = createGate();
    const world = createWorld({
      messenger: { staleAfterMs: 1000 },
      script: ({ said }) => (said === "first" ? [holdAt(gate), say("First.")] : [say(`You said: ${said}`)]),
    });
    await world.write("c1", "first");
    await untilReached(gate);
    for (const text of ["one", "two", "three"])
      await world.write("c1", text, { sentAt: Date.now() - 60_000 });
    await world.write("c1", "fresh", { sentAt: Date.now() + 60_000 });
    gate.open();
    await world.shows("c1", "First.", "You said: one\ntwo\nthree", "You said: fresh");
    expect(world.requests).toHaveLength(3);
  });
});

describe("a group after an outage", () => {
  it("answers each person once, in the order in which they first wrote, below their own newest message", async () => {
    const gate = createGate();
    const world = createWorld({
      messenger: { staleAfterMs: 1000, channelSpeakerLabel: false },
      script: ({ said }) => (said === "first" ? [holdAt(gate), say("First.")] : [say(`You said: ${said}`)]),
    });
    const inGroup = { isGroup: true, mentions: true };
    await world.write("g1", "first", { ...inGroup, id: "first", user: "cleo" });
    await untilReached(gate);
    const lines = [
      ["ada", "a1"],
      ["bob", "b1"],
      ["ada", "a2"],
      ["bob", "b2"],
    ] as const;
    for (const [user, text] of lines)
      await world.write("g1", text, { ...inGroup, id: text, user, sentAt: Date.now() - 60_000 });
    gate.open();
    await world.shows("g1", "First.", "You said: a1\na2", "You said: b1\nb2");
    expect(world.chats.messages("g1").map(({ replyTo }) => replyTo)).toEqual(["first", "a2", "b2"]);
  });
});

describe("an inbox that is full", () => {
  it("says so once, and once again after it had room", async () => {
    const gates = [createGate(), createGate()] as const;
    const world = createWorld({
      messenger: { inboxLimit: 2, delivery: { busyResponseText: "Too fast.", editEveryMs: 0 } },
      script: ({ said }) => {
        const gate = gates[Number(said.slice(1))];
        return said.startsWith("h") && gate !== undefined ? [holdAt(gate), say(said)] : [say(said)];
      },
    });
    await world.write("c1", "h0");
    await untilReached(gates[0]);
    for (const text of ["a", "b", "lost", "lost too"]) expect(await world.write("c1", text)).toBe(200);
    await world.shows("c1", "Too fast.");
    expect(outcomes().filter((outcome) => outcome === "refused: the inbox is full")).toHaveLength(2);
    gates[0].open();
    await world.shows("c1", "Too fast.", "h0", "a", "b");
    await world.write("c1", "h1");
    await untilReached(gates[1]);
    for (const text of ["c", "d", "lost again"]) await world.write("c1", text);
    await world.shows("c1", "Too fast.", "h0", "a", "b", "Too fast.");
    gates[1].open();
    await world.shows("c1", "Too fast.", "h0", "a", "b", "Too fast.", "h1", "c", "d");
  });

  it("takes /stop all the same", async () => {
    const gate = createGate();
    const world = createWorld({
      messenger: { inboxLimit: 1 },
      script: () => [say("Let me think"), holdAt(gate)],
    });
    await world.write("c1", "one");
    await world.shows("c1", "Let me think");
    await world.write("c1", "two");
    await world.write("c1", "/stop");
    await vi.waitFor(() => expect(world.chats.visible("c1")[0]).toBe("Let me think\n\n(stopped)"), 8000);
    gate.open();
  });
});

describe("a group", () => {
  const group = { isGroup: true };

  it("is answered without a mention once a mention has subscribed it, where that is asked for", async () => {
    const world = createWorld({ messenger: { respondTo: ["mention", "subscribed-thread"] } });
    await world.write("g1", "one", group);
    await world.write("g1", "two", { ...group, mentions: true });
    await world.shows("g1", "You said: ada: two");
    await world.write("g1", "three", group);
    await world.write("g2", "four", group);
    await world.shows("g1", "You said: ada: two", "You said: ada: three");
    await vi.waitFor(() =>
      expect(
        outcomes().filter((outcome) => outcome === "ignored: no mention, thread not subscribed"),
      ).toHaveLength(2),
    );
    expect(world.chats.visible("g2")).toEqual([]);
  });

  it("is not subscribed by a mention with subscribeOnMention false", async () => {
    const world = createWorld({
      messenger: { respondTo: ["mention", "subscribed-thread"], subscribeOnMention: false },
    });
    await world.write("g1", "one", { ...group, mentions: true });
    await world.write("g1", "two", group);
    await world.shows("g1", "You said: ada: one");
    await vi.waitFor(() => expect(outcomes()).toContain("ignored: no mention, thread not subscribed"));
  });

  it("names the speaker as the messenger says, and answers by a reply to the message", async () => {
    const world = createWorld({
      messenger: { channelSpeakerLabel: ({ userId }) => `<${userId}>` },
    });
    await world.write("g1", "one", { ...group, mentions: true, id: "asked" });
    await world.shows("g1", "You said: <ada>: one");
    expect(world.chats.messages("g1")[0]?.replyTo).toBe("asked");
    await world.write("c1", "two");
    await world.shows("c1", "You said: two");
    expect(world.chats.messages("c1")[0]?.replyTo).toBeUndefined();
  });
});

describe("code of the bot on the way in", () => {
  it("changes events by toEvent", async () => {
    const world = createWorld({
      messenger: {
        toEvent: ({ event, eventKind, raw, thread }) => ({
          ...event,
          message: event.message && {
            ...event.message,
            text: `${event.message.text} (${eventKind} in ${thread.id}, ${typeof raw})`,
          },
        }),
      },
    });
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello (direct-message in fake:c1, object)");
    expect(outcomes()).toEqual(["queued"]);
  });

  it("forgets a turn that was withdrawn for a burst: the model sees one question (I2)", async () => {
    const gate = createGate();
    const world = createWorld({
      messenger: { burstMs: 60_000 },
      script: ({ said }) => (said === "one" ? [say("Answer to"), holdAt(gate)] : [say(`You said: ${said}`)]),
    });
    const sentAt = Date.now();
    await world.write("c1", "one", { sentAt });
    await world.shows("c1", "Answer to");
    await world.write("c1", "two", { sentAt });
    await world.shows("c1", "You said: one\ntwo");
    await world.write("c1", "three", { sentAt: sentAt + 120_000 });
    await world.shows("c1", "You said: one\ntwo", "You said: three");
    expect(world.requests[2]?.prompt.map(textOf).slice(1)).toEqual([
      "one\ntwo",
      "You said: one\ntwo",
      "three",
    ]);
    gate.open();
  });

  it("hands text of a command to the model, and sends its replies", async () => {
    const world = createWorld({
      commands: {
        tr: { description: "Translate", handler: ({ args }) => ({ prompt: `Translate: ${args}` }) },
        two: {
          description: "Two replies",
          handler: (command) => {
            command.reply(`one for ${command.event.author?.userId ?? ""}`);
            return "two";
          },
        },
        hush: { description: "Silence", handler: () => undefined },
      },
    });
    await world.write("c1", "/tr bonjour");
    await world.shows("c1", "You said: Translate: bonjour");
    await world.write("c1", "/two");
    await world.shows("c1", "You said: Translate: bonjour", "one for ada", "two");
    await world.write("c1", "/hush");
    await world.write("c1", "/unknown thing");
    await world.shows("c1", "You said: Translate: bonjour", "one for ada", "two", "You said: /unknown thing");
    expect(outcomes()).toEqual(["queued", "command: two", "command: hush", "queued"]);
  });

  it("shows the error text when a command throws, and nothing of the exception (I10)", async () => {
    const world = createWorld({
      messenger: { delivery: { errorResponseText: "That did not work.", editEveryMs: 0 } },
      commands: {
        boom: {
          description: "Throw",
          handler: (command) => {
            command.reply("Half done.");
            throw new Error("password is hunter2");
          },
        },
      },
    });
    await world.write("c1", "/boom");
    await world.shows("c1", "Half done.", "That did not work.");
    expect(JSON.stringify(log)).not.toContain("hunter2");
    expect(log).toContainEqual(
      expect.objectContaining({ event: "bot.failed", method: "/boom", code: "Error" }),
    );
  });

  it("lists all commands in /help, also one that takes a built-in name", async () => {
    const world = createWorld({
      commands: { start: { description: "Shop now", handler: () => "Welcome!" } },
    });
    await world.write("c1", "/start");
    await world.shows("c1", "Welcome!");
    await world.write("c1", "/help");
    await vi.waitFor(() => expect(world.chats.visible("c1")).toHaveLength(2));
    expect(world.chats.visible("c1")[1]).toMatch(/\/start – Shop now[\s\S]*\/stop – /);
  });

  it("does not let a message that cannot be read block those after it, and is asked again (I1)", async () => {
    let isBroken = true;
    const world = createWorld({
      messenger: {
        toEvent: ({ event }) => {
          if (event.message?.text === "odd" && isBroken) throw new Error("odd indeed");
          return event;
        },
      },
    });
    await world.write("c1", "odd");
    await world.write("c1", "even");
    await world.shows("c1", "You said: even");
    isBroken = false;
    // An object that starts over does not wait for the next attempt.
    await evictDurableObject(world.thread("c1"));
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "You said: even", "You said: odd");
    expect(JSON.stringify(log)).not.toContain("odd indeed");
  });
});
