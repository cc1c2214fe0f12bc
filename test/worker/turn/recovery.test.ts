import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createGate } from "../../../lab/support/gate.ts";
import type { ScriptedBot } from "../worker.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, failWith, holdAt, say, textOf } from "../support/scripted-model.ts";
import type { ModelRequest } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { untilStored } from "../support/until-stored.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

/** The object dies at once: nothing of its memory is left, and nothing that was in flight comes to an end. */
async function kill(stub: DurableObjectStub<ScriptedBot>): Promise<void> {
  await runInDurableObject(stub, (_bot, state) => {
    state.abort("killed by a test");
  }).catch(() => undefined);
}

/** The last message of a prompt, as far as it is text. */
function lastOf(request: ModelRequest | undefined): readonly [role: string | undefined, text: string] {
  const message = request?.prompt.at(-1);
  return [message?.role, textOf(message)];
}

describe("an object that dies in the middle of a turn", () => {
  it("has set an alarm that wakes it within 5 seconds", async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [say("Once upon"), holdAt(gate), say(" a time.")] });
    await world.write("c1", "Tell");
    await untilReached(gate);
    const before = Date.now();
    const alarm = await runInDurableObject(world.thread("c1"), (_bot, { storage }) => storage.getAlarm());
    expect(alarm).not.toBeNull();
    expect((alarm ?? Infinity) - before).toBeLessThanOrEqual(5000);
    gate.open();
    await world.shows("c1", "Once upon a time.");
  });

  it("answers a message of which it had stored nothing but the webhook (I1)", async () => {
    const world = createWorld();
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    expect(await world.write("c1", "Are you there?")).toBe(200);
    await kill(world.thread("c1"));
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "You said: Hello", "You said: Are you there?");
  });

  it("goes on by its alarm, in the message that is visible already (I2, I5)", async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [say("Once upon"), holdAt(gate)] });
    await world.write("c1", "Tell", { id: "once" });
    await world.shows("c1", "Once upon");
    const [message] = world.chats.messages("c1");
    await kill(world.thread("c1"));
    world.script(() => [say("A whole answer.")]);
    expect(await runDurableObjectAlarm(world.thread("c1"))).toBe(true);
    await world.shows("c1", "A whole answer.");
    expect(world.chats.messages("c1").map(({ id }) => id)).toEqual([message?.id]);
    expect(await world.write("c1", "Tell", { id: "once" })).toBe(200);
    await world.write("c1", "More");
    await world.shows("c1", "A whole answer.", "A whole answer.");
    expect(world.requests.map(({ said }) => said)).toEqual(["Tell", "Tell", "More"]);
  });

  it.each([
    { how: "was not made", moment: "beforePost", lost: [] },
    { how: "was made", moment: "beforeAnswer", lost: ["You said: Hello"] },
  ] as const)("marks an answer whose post died with it, which $how (I6)", async ({ lost, moment }) => {
    let living: DurableObjectState | undefined;
    const world = createWorld({
      onStart: (agent) => {
        const { ctx } = agent as unknown as { readonly ctx: DurableObjectState };
        if (agent.name.includes("thread:")) living = ctx;
      },
    });
    let isDead = false;
    world.chats[moment] = async () => {
      if (isDead) return;
      isDead = true;
      living?.abort("killed by a test");
      throw new Error("killed by a test");
    };
    await world.write("c1", "Hello");
    await vi.waitFor(() => expect(isDead).toBe(true), { timeout: 8000, interval: 10 });
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", ...lost, "(sent again after a connection problem)\nYou said: Hello");
  });

  it("answers what was waiting, and what is written after the restart (I3)", async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [holdAt(gate)] });
    await world.write("c1", "one");
    await untilReached(gate);
    await world.write("c1", "two");
    await kill(world.thread("c1"));
    world.script(({ said }) => [say(`You said: ${said}`)]);
    await world.write("c1", "three");
    await world.shows("c1", "You said: one", "You said: two", "You said: three");
    expect(world.requests.map(({ said }) => said)).toEqual(["one", "one", "two", "three"]);
  });

  it("comes to an answer however often it dies", async () => {
    const world = createWorld();
    for (let death = 0; death < 4; death += 1) {
      const gate = createGate();
      world.script(() => [say(`Attempt ${death}`), holdAt(gate)]);
      if (death === 0) await world.write("c1", "Tell");
      // An alarm may last as long as the turn that it takes up: it dies with it.
      const alarm =
        death === 0 ? undefined : runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
      await untilReached(gate);
      await kill(world.thread("c1"));
      await alarm;
    }
    world.script(() => [say("At last.")]);
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "At last.");
    expect(world.requests).toHaveLength(5);
  });

  it("goes on with a chat whose caller is gone, and remembers the answer", async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [holdAt(gate)] });
    const callback = { onStart: () => {}, onEvent: () => {}, onDone: () => {}, onError: () => {} };
    const chat = world.child("chat").chat("Hello", callback);
    const end = chat.then(
      () => "answered",
      () => "gone",
    );
    await untilReached(gate);
    await kill(world.child("chat"));
    expect(await end).toBe("gone");
    world.script(({ prompt }) => [say(`${prompt.length - 1} messages`)]);
    await runDurableObjectAlarm(world.child("chat"));
    await vi.waitFor(() => expect(world.requests).toHaveLength(2), 8000);
    await world.child("chat").chat("Hello again", callback);
    expect(lastOf(world.requests.at(-1))).toEqual(["user", "Hello again"]);
    expect(world.requests.at(-1)?.prompt.map(textOf).slice(1)).toEqual([
      "Hello",
      "1 messages",
      "Hello again",
    ]);
  });

  it("can cancel a chat that a former object began", async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [say("Once upon"), holdAt(gate)] });
    let requestId: string | undefined;
    const chat = world.child("chat").chat("Tell", {
      onStart: (start) => {
        ({ requestId } = start);
      },
      onEvent: () => {},
      onDone: () => {},
      onError: () => {},
    });
    const end = chat.then(
      () => "answered",
      () => "gone",
    );
    await untilReached(gate);
    await kill(world.child("chat"));
    expect(await end).toBe("gone");
    const again = createGate();
    world.script(() => [holdAt(again)]);
    const alarm = runDurableObjectAlarm(world.child("chat"));
    await untilReached(again);
    expect(await world.child("chat").cancelChat(requestId ?? "")).toBe(true);
    await alarm;
    expect(await world.child("chat").cancelChat(requestId ?? "")).toBe(false);
    expect(await world.child("chat").cancelChat("unknown")).toBe(false);
    again.open();
  });
});

describe("interruptedStep", () => {
  it('"restart" drops what the interrupted call said', async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [say("Once upon"), holdAt(gate)] });
    await world.write("c1", "Tell");
    await untilReached(gate);
    await untilStored(world.thread("c1"), "Once upon");
    await kill(world.thread("c1"));
    world.script(() => [say("There was a king.")]);
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "There was a king.");
    expect(lastOf(world.requests[1])).toEqual(["user", "Tell"]);
    await world.write("c1", "More");
    await vi.waitFor(() => expect(world.requests).toHaveLength(3), 8000);
    expect(world.requests[2]?.prompt.map(textOf).slice(1)).toEqual(["Tell", "There was a king.", "More"]);
  });

  it('"continue" keeps it, and the model goes on behind it', async () => {
    const gate = createGate();
    const world = createWorld({
      settings: { interruptedStep: "continue" },
      script: () => [say("Once upon"), holdAt(gate)],
    });
    await world.write("c1", "Tell");
    await untilReached(gate);
    await untilStored(world.thread("c1"), "Once upon");
    await kill(world.thread("c1"));
    world.script(() => [say(" a time.")]);
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "Once upon a time.");
    expect(lastOf(world.requests[1])).toEqual(["assistant", "Once upon"]);
  });

  const KING = "Once upon a time there was a king who had three sons and a garden.";

  /** Resolves when the chat shows this text, the bot knows that it does, and the last of it is stored. */
  async function untilSent(world: World, text: string): Promise<void> {
    await world.shows("c1", text);
    await expect
      .poll(async () => (await world.thread("c1").deliveries.list()).flatMap(({ messages }) => messages))
      .toEqual([expect.objectContaining({ state: "sent" })]);
    await untilStored(world.thread("c1"), text.split("\n").at(-1) ?? "");
  }

  it('"restart" leaves what people read until the new text is as long (I5)', async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [say(KING), holdAt(gate)] });
    await world.write("c1", "Tell");
    await untilSent(world, KING);
    await kill(world.thread("c1"));
    const [short, long] = [createGate(), createGate()];
    const longer = `There was a queen. She had ${"very ".repeat(12)}many daughters.`;
    world.script(() => [
      say(longer.slice(0, 20)),
      holdAt(short),
      say(longer.slice(20)),
      holdAt(long),
      say(" The end."),
    ]);
    const alarm = runDurableObjectAlarm(world.thread("c1"));
    await untilReached(short);
    short.open();
    await untilReached(long);
    await world.shows("c1", longer);
    long.open();
    await alarm;
    await world.shows("c1", `${longer} The end.`);
    const [message] = world.chats.messages("c1");
    expect(new Set(message?.texts)).toEqual(new Set([KING, longer, `${longer} The end.`]));
  });

  it('"restart" leaves what people read when they stop the shorter new text (I5)', async () => {
    const { gate, world } = withTool("restart");
    const said = "Let me look.\n\nIt is 4";
    await world.write("c1", "How many?");
    await untilSent(world, said);
    await kill(world.thread("c1"));
    const again = createGate();
    world.script(() => [say("Th"), holdAt(again)]);
    const alarm = runDurableObjectAlarm(world.thread("c1"));
    await untilReached(again);
    await untilStored(world.thread("c1"), '"Th');
    await world.write("c1", "/stop");
    await world.shows("c1", `${said}\n\n(stopped)`);
    again.open();
    gate.open();
    await alarm;
    const texts = world.chats.messages("c1")[0]?.texts ?? [];
    expect(new Set(texts.slice(texts.indexOf(said)))).toEqual(new Set([said, `${said}\n\n(stopped)`]));
  });

  it('"restart" leaves what people read however often the object dies before the new text is as long', async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [say(KING), holdAt(gate)] });
    await world.write("c1", "Tell");
    await untilSent(world, KING);
    for (const text of ["There was a queen.", "There were two."]) {
      await kill(world.thread("c1"));
      const again = createGate();
      world.script(() => [say(text), holdAt(again)]);
      void runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
      await untilReached(again);
      await untilStored(world.thread("c1"), text);
    }
    await world.write("c1", "/stop");
    await world.shows("c1", `${KING}\n\n(stopped)`);
    expect(new Set(world.chats.messages("c1")[0]?.texts)).toEqual(new Set([KING, `${KING}\n\n(stopped)`]));
  });

  it("leaves what people read when the model failed and is asked again (I5)", async () => {
    const [gate, again] = [createGate(), createGate()];
    let calls = 0;
    const overloaded = Object.assign(new Error("overloaded"), { statusCode: 503 });
    const world = createWorld({
      script: () => {
        calls += 1;
        return calls === 1
          ? [say(KING), holdAt(gate), failWith(overloaded)]
          : [say("There was a queen."), holdAt(again)];
      },
    });
    await world.write("c1", "Tell");
    await untilSent(world, KING);
    gate.open();
    await untilReached(again);
    await untilStored(world.thread("c1"), "There was a queen.");
    await world.write("c1", "/stop");
    await world.shows("c1", `${KING}\n\n(stopped)`);
    expect(new Set(world.chats.messages("c1")[0]?.texts)).toEqual(new Set([KING, `${KING}\n\n(stopped)`]));
    again.open();
  });

  const withTool = (interruptedStep: "restart" | "continue") => {
    const gate = createGate();
    const runs: string[] = [];
    const world = createWorld({
      settings: { interruptedStep },
      getTools: () => ({
        look: tool({
          inputSchema: z.object({ where: z.string() }),
          execute: ({ where }) => {
            runs.push(where);
            return `42 in ${where}`;
          },
        }),
      }),
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "user"
          ? [say("Let me look."), callTool("look", { where: "the box" })]
          : [say("It is 4"), holdAt(gate)],
    });
    return { gate, runs, world };
  };

  it('"restart" keeps the results of tools, which do not run again, and what was said before them', async () => {
    const { gate, runs, world } = withTool("restart");
    await world.write("c1", "How many?");
    await untilReached(gate);
    await untilStored(world.thread("c1"), "It is 4");
    await kill(world.thread("c1"));
    world.script(() => [say("There are 42.")]);
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "Let me look.\n\nThere are 42.");
    const again = world.requests.at(-1);
    expect(again?.prompt.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
    expect(JSON.stringify(again?.prompt)).toContain("42 in the box");
    expect(JSON.stringify(again?.prompt)).not.toContain('It is 4"');
    expect(runs).toEqual(["the box"]);
  });

  it('"continue" keeps them, too', async () => {
    const { gate, runs, world } = withTool("continue");
    await world.write("c1", "How many?");
    await untilReached(gate);
    await untilStored(world.thread("c1"), "It is 4");
    await kill(world.thread("c1"));
    world.script(() => [say("2.")]);
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "Let me look.\n\nIt is 42.");
    expect(lastOf(world.requests.at(-1))).toEqual(["assistant", "It is 4"]);
    expect(runs).toEqual(["the box"]);
  });
});

describe("a tool that was running when its object died", () => {
  const interrupted = (says: { recovery?: "rerun" | "report"; annotations?: { readOnly: boolean } }) => {
    const gate = createGate();
    let runs = 0;
    const world = createWorld({
      getTools: () => ({
        pay: {
          ...tool({
            inputSchema: z.object({}),
            execute: async () => {
              runs += 1;
              if (runs === 1) await gate.pass();
              return `payment ${runs}`;
            },
          }),
          ...says,
        },
      }),
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool"
          ? [say(JSON.stringify(prompt.at(-1)).includes("payment 2") ? "Paid again." : "Perhaps paid.")]
          : [callTool("pay")],
    });
    return { gate, runs: () => runs, world };
  };

  it("is not run again: the model is told that its outcome is not known", async () => {
    const { gate, runs, world } = interrupted({});
    await world.write("c1", "Pay");
    await untilReached(gate);
    await kill(world.thread("c1"));
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "Perhaps paid.");
    expect(runs()).toBe(1);
  });

  it.each([
    ["may run twice", { recovery: "rerun" as const }],
    ["changes nothing", { annotations: { readOnly: true } }],
  ])("is run again when it says that it %s", async (_what, says) => {
    const { gate, runs, world } = interrupted(says);
    await world.write("c1", "Pay");
    await untilReached(gate);
    await kill(world.thread("c1"));
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "Paid again.");
    expect(runs()).toBe(2);
  });

  it("is not run again when it changes nothing and asks for a report", async () => {
    const { gate, runs, world } = interrupted({ recovery: "report", annotations: { readOnly: true } });
    await world.write("c1", "Pay");
    await untilReached(gate);
    await kill(world.thread("c1"));
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "Perhaps paid.");
    expect(runs()).toBe(1);
  });
});

describe("an object that was idle and is evicted", () => {
  it("remembers its conversation, its session and whom it has refused", async () => {
    const world = createWorld({
      messenger: { allow: ["ada"], delivery: { refusedResponseText: "No.", editEveryMs: 0 } },
      script: ({ prompt }) => [say(`${prompt.length - 1} messages`)],
    });
    await world.write("c1", "one");
    await world.write("c1", "Hello", { user: "eve" });
    await vi.waitFor(() => expect(world.chats.visible("c1").sort()).toEqual(["1 messages", "No."]), 8000);
    await evictDurableObject(world.thread("c1"));
    await evictDurableObject(world.stub);
    await world.write("c1", "Hello?", { user: "eve" });
    await world.write("c1", "two");
    await vi.waitFor(
      () => expect(world.chats.visible("c1").sort()).toEqual(["1 messages", "3 messages", "No."]),
      8000,
    );
    await world.write("c1", "/new");
    await evictDurableObject(world.thread("c1"));
    await world.write("c1", "three");
    await vi.waitFor(() => expect(world.chats.visible("c1").at(-1)).toBe("1 messages"), 8000);
    expect(await world.stub.listConversations()).toHaveLength(1);
  });
});
