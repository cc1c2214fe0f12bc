import { RpcTarget } from "cloudflare:workers";
import { tool } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createGate } from "../../../lab/support/gate.ts";
import { testEnv } from "../test-env.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, failWith, holdAt, say, textOf } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";

const SORRY = "Sorry, something went wrong and I couldn't answer. Please try again in a moment.";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

/** A caller in another object: it writes down what it is told, in order. */
class Listener extends RpcTarget {
  readonly #told: string[] = [];
  readonly #chunks: { readonly type: string; readonly delta?: string }[] = [];
  readonly started = Promise.withResolvers<string>();

  onStart({ requestId }: { readonly requestId: string }): void {
    this.#told.push("start");
    this.started.resolve(requestId);
  }

  onEvent(json: string): void {
    if (this.#told.at(-1) !== "event") this.#told.push("event");
    this.#chunks.push(JSON.parse(json) as { readonly type: string });
  }

  onDone(): void {
    this.#told.push("done");
  }

  onError(error: string): void {
    this.#told.push(`error: ${error}`);
  }

  onInterrupted(): void {
    this.#told.push("interrupted");
    this.#chunks.length = 0;
  }

  told(): readonly string[] {
    return this.#told;
  }

  /** The text that is not void. */
  text(): string {
    return this.#chunks.map(({ delta, type }) => (type === "text-delta" ? (delta ?? "") : "")).join("");
  }
}

/** A failure that is worth a second try. */
const overloaded = (): Error => Object.assign(new Error("secret detail of the server"), { statusCode: 503 });

describe("chat", () => {
  it("streams a turn to an object that calls it, each event after the former", async () => {
    const world = createWorld();
    const listener = new Listener();
    await world.child("chat").chat("Hello", listener);
    expect(listener.told()).toEqual(["start", "event", "done"]);
    expect(listener.text()).toBe("You said: Hello");
  });

  it("takes an AI SDK message, and plain functions where the caller is the agent itself", async () => {
    const world = createWorld();
    const told: string[] = [];
    await world.child("chat").chat(
      { id: "mine", role: "user", parts: [{ type: "text", text: "Hello" }] },
      {
        onStart: () => void told.push("start"),
        onEvent: (json) => void told.push((JSON.parse(json) as { type: string }).type),
        onDone: () => void told.push("done"),
        onError: (error) => void told.push(error),
      },
    );
    expect(told[0]).toBe("start");
    expect(told).toContain("text-delta");
    expect(told.at(-1)).toBe("done");
    expect(world.requests[0]?.said).toBe("Hello");
  });

  it("remembers what was said, in the order of the calls", async () => {
    const world = createWorld({ script: ({ prompt }) => [say(`${prompt.length - 1} messages`)] });
    const listeners = [new Listener(), new Listener()];
    await Promise.all(listeners.map((listener) => world.child("chat").chat("Hello", listener)));
    expect(listeners.map((listener) => listener.text()).sort()).toEqual(["1 messages", "3 messages"]);
  });

  it("tells of a failing model with a text that may be shown, never with the exception's (I10)", async () => {
    const world = createWorld({ script: () => [failWith(new Error("key sk-123 is wrong"))] });
    const listener = new Listener();
    await world.child("chat").chat("Hello", listener);
    expect(listener.told().at(-1)).toBe(`error: ${SORRY}`);
    expect(JSON.stringify([listener.told(), listener.text()])).not.toContain("sk-123");
    expect(JSON.stringify(log)).not.toContain("sk-123");
    expect(log).toContainEqual(expect.objectContaining({ event: "model.call-failed", code: "model-failed" }));
  });

  it("sends no word of the exception in any event (I10)", async () => {
    const world = createWorld({ script: () => [say("Well"), failWith(new Error("key sk-123 is wrong"))] });
    const events: string[] = [];
    const errors: string[] = [];
    await world.child("chat").chat("Hello", {
      onStart: () => {},
      onEvent: (json) => void events.push(json),
      onDone: () => {},
      onError: (error) => void errors.push(error),
    });
    expect(errors).toEqual([SORRY]);
    expect(events.join()).toContain("Well");
    expect(events.join()).not.toMatch(/sk-123|"type":"error"/);
  });

  it("says that what was streamed is void when a model call fails in the middle, then sends it whole", async () => {
    let calls = 0;
    const world = createWorld({
      script: () => {
        calls += 1;
        return calls === 1
          ? [say("The answer is pro"), failWith(overloaded())]
          : [say("The answer is probably 42.")];
      },
    });
    const listener = new Listener();
    await world.child("chat").chat("Hello", listener);
    expect(listener.told()).toEqual(["start", "event", "interrupted", "event", "done"]);
    expect(listener.text()).toBe("The answer is probably 42.");
    expect(calls).toBe(2);
  });

  it.each([
    ["in mid-answer", [say("Well"), failWith(overloaded())]],
    ["for a reason that nobody knows", [failWith(new Error("odd"))]],
  ])("asks a model that fails %s no more than twice", async (_name, steps) => {
    const world = createWorld({ script: () => steps });
    const listener = new Listener();
    await world.child("chat").chat("Hello", listener);
    expect(listener.told().at(-1)).toBe(`error: ${SORRY}`);
    expect(world.requests).toHaveLength(2);
  });

  it("is ended by cancelChat, once", async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [say("Once upon"), holdAt(gate), say(" a time")] });
    const listener = new Listener();
    const running = world.child("chat").chat("Tell", listener);
    const requestId = await listener.started.promise;
    await untilReached(gate);
    expect(await world.child("chat").cancelChat(requestId, "enough")).toBe(true);
    await running;
    expect(listener.told().at(-1)).toBe("done");
    expect(listener.text()).not.toContain("a time");
    expect(await world.child("chat").inspectSubmission(requestId)).toMatchObject({
      status: "aborted",
      error: "enough",
    });
    expect(await world.child("chat").cancelChat(requestId)).toBe(false);
    expect(await world.child("chat").cancelChat("unknown")).toBe(false);
    gate.open();
  });

  it("may be ended as soon as its listener hears of it", async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [holdAt(gate), say("Once upon a time")] });
    const ended = Promise.withResolvers<boolean>();
    const running = world.child("chat").chat("Tell", {
      onStart: async ({ requestId }) => {
        ended.resolve(await world.child("chat").cancelChat(requestId));
      },
      onEvent: () => {},
      onDone: () => {},
      onError: () => {},
    });
    expect(await ended.promise).toBe(true);
    await running;
    gate.open();
  });

  it("goes on when its listener fails, and the next turn knows what was said", async () => {
    const world = createWorld({ script: ({ prompt }) => [say(`${prompt.length - 1} messages`)] });
    await world.child("chat").chat("Hello", {
      onStart: () => {
        throw new Error("the listener is broken");
      },
      onEvent: () => {},
      onDone: () => {},
      onError: () => {},
    });
    const listener = new Listener();
    await world.child("chat").chat("Hello again", listener);
    expect(listener.text()).toBe("3 messages");
  });
});

describe("the model of a bot", () => {
  it("is missing by default: the person gets a safe text, the log says how to set one (I10)", async () => {
    const listener = new Listener();
    await testEnv.BareBot.getByName("bare").chat("Hello", listener);
    expect(listener.told()).toEqual(["start", ...eventsOf(listener), `error: ${SORRY}`]);
    const line = log.find(({ code }) => code === "model-missing");
    expect(line).toMatchObject({ level: "error" });
    expect(line?.message).toContain("BareBot has no model. Override getModel()");
  });

  it.each([
    ["@cf/openai/gpt-oss-120b", "model-binding-missing", 'no binding "AI"'],
    ["gpt-5", "model-id-invalid", "@cf/"],
  ])(
    "may be an id: %s without what it needs is a safe text and a precise log line",
    async (id, code, hint) => {
      const world = createWorld({ getModel: () => id });
      const listener = new Listener();
      await world.child("chat").chat("Hello", listener);
      expect(listener.told().at(-1)).toBe(`error: ${SORRY}`);
      const line = log.find((candidate) => candidate.code === code);
      expect(line).toMatchObject({ level: "error" });
      expect(line?.message).toContain(hint);
      await world.write("c1", "Hello");
      await world.shows("c1", SORRY);
    },
  );

  it.each(["getSystemPrompt", "getTools"] as const)(
    "does not suffer for a %s that throws (I10)",
    async (method) => {
      const world = createWorld({
        [method]: () => {
          throw new Error("secret of the shop");
        },
      });
      await world.write("c1", "Hello");
      await world.shows("c1", SORRY);
      const failures = log.filter(({ level }) => level !== "info");
      const turn = log.find(({ event }) => event === "turn.begun")?.turn;
      expect(turn).toEqual(expect.any(String));
      expect(failures).toEqual([
        expect.objectContaining({ event: "bot.failed", method, turn }),
        expect.objectContaining({ event: "turn.ended", outcome: "failed", turn }),
      ]);
      expect(JSON.stringify(log)).not.toContain("secret of the shop");
    },
  );

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("secret of the shop");
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret of the shop"))],
    [
      "throws between two pieces",
      async function* () {
        yield "one";
        throw new Error("secret of the shop");
      },
    ],
  ])("tells the model of a tool that %s, and nothing of what it threw (I10)", async (_name, execute) => {
    const world = createWorld({
      getTools: () => ({ broken: tool({ inputSchema: z.object({}), execute: execute as () => string }) }),
      script: ({ prompt }) => [prompt.at(-1)?.role === "tool" ? say("It failed.") : callTool("broken")],
    });
    await world.write("c1", "Hello");
    await world.shows("c1", "It failed.");
    expect(JSON.stringify(world.requests)).toContain("The tool failed");
    expect(JSON.stringify([world.requests, log])).not.toContain("secret of the shop");
    expect(log).toContainEqual(expect.objectContaining({ event: "bot.failed", method: "tool broken" }));
  });
});

function eventsOf(listener: Listener): string[] {
  return listener.told().filter((told) => told === "event");
}

describe("maxSteps", () => {
  it("ends a turn whose model never stops calling tools", async () => {
    let runs = 0;
    const world = createWorld({
      settings: { maxSteps: 3 },
      messenger: { delivery: { editEveryMs: 0, stepLimitResponseText: "Enough." } },
      getTools: () => ({
        again: tool({ inputSchema: z.object({}), execute: () => `run ${(runs += 1)}` }),
      }),
      script: () => [say("Again."), callTool("again")],
    });
    await world.write("c1", "Hello");
    await world.shows("c1", "Again.\n\nAgain.\n\nAgain.\n\nEnough.");
    expect(world.requests).toHaveLength(3);
    expect(runs).toBe(3);
  });

  it("is 10 unless said otherwise", async () => {
    const world = createWorld({
      getTools: () => ({ again: tool({ inputSchema: z.object({}), execute: () => "done" }) }),
      script: () => [callTool("again")],
    });
    await world.child("chat").chat("Hello", new Listener());
    expect(world.requests).toHaveLength(10);
  });
});

describe("a long history", () => {
  it("is summarised, and never reaches the model beyond maxContextTokens", async () => {
    const limit = 2000;
    const world = createWorld({
      settings: { maxContextTokens: limit },
      script: ({ isStreamed }) =>
        isStreamed ? [say("word ".repeat(200))] : [say("SUMMARY of what was said")],
    });
    const chat = world.child("chat");
    for (let turn = 0; turn < 14; turn += 1) {
      await chat.chat(`question ${turn} ${"filler ".repeat(100)}`, new Listener());
    }
    const streamed = world.requests.filter(({ isStreamed }) => isStreamed);
    expect(streamed).toHaveLength(14);
    for (const { prompt, said } of streamed) {
      expect(prompt.map(textOf).join("").length / 4).toBeLessThan(limit);
      expect(said).toContain("question");
    }
    expect(streamed.at(-1)?.said).toContain("question 13");
    expect(world.requests.some(({ isStreamed }) => !isStreamed)).toBe(true);
    expect(JSON.stringify(streamed.at(-1)?.prompt)).toContain("SUMMARY of what was said");
  });
});

describe("a history that the model refuses as too long", () => {
  it("is summarised at once, and then answered", async () => {
    let isLong = false;
    const world = createWorld({
      settings: { maxContextTokens: 3000 },
      script: ({ isStreamed, prompt }) => {
        if (!isStreamed) return [say("SUMMARY of what was said")];
        const isSummarised = JSON.stringify(prompt).includes("SUMMARY");
        if (isLong && !isSummarised)
          return [failWith(Object.assign(new Error("prompt is too long"), { statusCode: 400 }))];
        return [say("word ".repeat(200))];
      },
    });
    const chat = world.child("chat");
    for (let turn = 0; turn < 6; turn += 1) await chat.chat(`question ${turn}`, new Listener());
    isLong = true;
    const listener = new Listener();
    await chat.chat("the last question", listener);
    expect(listener.told().at(-1)).toBe("done");
    expect(listener.text()).toContain("word");
  });
});

describe("subAgent", () => {
  it("is a top-level object below its root, with a chat and a memory of its own (I11)", async () => {
    const world = createWorld({
      onRequest: async (request, agent) => {
        const name = new URL(request.url).pathname.slice(1);
        const child = await agent.subAgent(agent.constructor as never, name);
        const listener = new Listener();
        await (child as unknown as { chat(message: string, callback: Listener): Promise<void> }).chat(
          name,
          listener,
        );
        return Response.json({ told: listener.told(), text: listener.text() });
      },
      script: ({ asker, prompt }) => [say(`${asker}: ${prompt.length - 1}`)],
    });
    const ask = async (name: string): Promise<unknown> => (await world.fetch(`/${name}`)).json();
    const answered = (text: string): unknown => ({ told: ["start", "event", "done"], text });
    expect(await ask("one")).toEqual(answered(`${world.root}/named:one: 1`));
    expect(await ask("two")).toEqual(answered(`${world.root}/named:two: 1`));
    expect(await ask("one")).toEqual(answered(`${world.root}/named:one: 3`));
    expect(
      await world
        .child("named:one")
        .fetch("https://bot.example/three")
        .then((answer) => answer.json()),
    ).toEqual(answered(`${world.root}/named:three: 1`));
  });
});

describe("a chat beside a messenger's turns", () => {
  it("shares their queue and their transcript", async () => {
    const gate = createGate();
    const world = createWorld({
      script: ({ said, prompt }) =>
        said === "first" ? [holdAt(gate), say("First.")] : [say(`${prompt.length - 1} messages`)],
    });
    await world.write("c1", "first");
    await untilReached(gate);
    const listener = new Listener();
    const chat = world.thread("c1").chat("second", listener);
    await listener.started.promise;
    expect(world.requests).toHaveLength(1);
    gate.open();
    await chat;
    expect(listener.text()).toBe("3 messages");
    await world.shows("c1", "First.");
    await vi.waitFor(() => expect(world.requests).toHaveLength(2));
  });
});
