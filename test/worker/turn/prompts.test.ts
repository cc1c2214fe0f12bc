import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { Address } from "../../../src/messengers/index.ts";
import type { TurnInfo } from "../../../src/index.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, failWith, holdAt, say, textOf } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

function at(chat: string): Address {
  return { messengerId: "fake", threadId: `fake:${chat}`, chatId: chat, isDirectMessage: true };
}

async function kill(world: World, chat: string): Promise<void> {
  await runInDurableObject(world.thread(chat), (_bot, state) => {
    state.abort("killed by a test");
  }).catch(() => undefined);
}

function asked(world: World): string[] {
  return world.requests.map(({ said }) => said);
}

async function untilStatus(world: World, chat: string, id: string, status: string): Promise<void> {
  await vi.waitFor(
    async () => expect((await world.thread(chat).inspectSubmission(id))?.status).toBe(status),
    { timeout: 8000, interval: 20 },
  );
}

const silent = { onStart: () => {}, onEvent: () => {}, onDone: () => {}, onError: () => {} };

describe("a prompt", () => {
  it("is answered in the chat that it names, quotes nothing, and is remembered", async () => {
    const world = createWorld({ messenger: { delivery: { editEveryMs: 0, replyTo: "always" } } });
    const thread = world.thread("c1");
    const { accepted, status, submissionId } = await thread.submitMessages("Write the digest", {
      answerTo: at("c1"),
    });
    expect([accepted, status]).toEqual([true, "pending"]);
    await world.shows("c1", "You said: Write the digest");
    expect(world.chats.messages("c1")[0]?.replyTo).toBeUndefined();
    await untilStatus(world, "c1", submissionId, "completed");
    await world.write("c1", "Thanks");
    await world.shows("c1", "You said: Write the digest", "You said: Thanks");
    expect(world.requests[1]?.prompt.slice(1).map(textOf)).toEqual([
      "Write the digest",
      "You said: Write the digest",
      "Thanks",
    ]);
  });

  it("is answered in several chats, each once, or in none", async () => {
    const world = createWorld();
    const thread = world.thread("c1");
    const { deliveryIds } = await thread.submitMessages("News", { answerTo: [at("c1"), at("c2"), at("c1")] });
    await world.shows("c1", "You said: News");
    await world.shows("c2", "You said: News");
    expect(deliveryIds).toHaveLength(2);
    for (const id of deliveryIds)
      await vi.waitFor(async () => expect((await thread.deliveries.get(id))?.state).toBe("delivered"), 8000);
    expect(await thread.saveMessages("Think about it")).toEqual({
      requestId: expect.any(String) as unknown,
      status: "completed",
    });
    expect(world.chats.visible("c1")).toEqual(["You said: News"]);
  });

  it("is answered under any id of its own, also one that looks like that of another prompt's second answer", async () => {
    const world = createWorld();
    const thread = world.thread("c1");
    await thread.submitMessages("News", { submissionId: "news", answerTo: [at("c1"), at("c2")] });
    await thread.submitMessages("More news", { submissionId: "news:1", answerTo: at("c1") });
    await world.shows("c1", "You said: News", "You said: More news");
    await world.shows("c2", "You said: News");
    expect(world.chats.visible("c2")).toEqual(["You said: News"]);
    expect((await thread.inspectSubmission("news"))?.deliveryIds).not.toContain("news:1");
  });

  it("waits for the running answer, and comes before what is written later (I3)", async () => {
    const gate = createGate();
    const world = createWorld({
      messenger: { burstMs: 60_000, delivery: { editEveryMs: 0 } },
      script: ({ said }) => (said === "one" ? [say("One"), holdAt(gate)] : [say(`You said: ${said}`)]),
    });
    await world.write("c1", "one", { sentAt: Date.now() - 600_000 });
    await untilReached(gate);
    await world.thread("c1").submitMessages("prompt", { answerTo: at("c1") });
    await world.write("c1", "two", { sentAt: Date.now() - 60_000, user: "bob" });
    expect(asked(world)).toEqual(["one"]);
    gate.open();
    await world.shows("c1", "One", "You said: prompt", "You said: two");
    expect(asked(world)).toEqual(["one", "prompt", "two"]);
  });

  it("is never merged with a quick line, nor restarted by one", async () => {
    const gate = createGate();
    const world = createWorld({
      messenger: { burstMs: 60_000, whenBusy: "interrupt", delivery: { editEveryMs: 0 } },
      script: ({ said }) =>
        said === "prompt" ? [say("Once upon"), holdAt(gate), say(" a time.")] : [say(`You said: ${said}`)],
    });
    await world.thread("c1").submitMessages("prompt", { answerTo: at("c1") });
    await world.shows("c1", "Once upon");
    await world.write("c1", "one", { sentAt: Date.now() });
    await world.write("c1", "two", { sentAt: Date.now() });
    gate.open();
    await world.shows("c1", "Once upon a time.", "You said: one\ntwo");
    expect(asked(world)).toEqual(["prompt", "one\ntwo"]);
  });

  it("counts against nobody's limits, and takes no room from people", async () => {
    const gate = createGate();
    const world = createWorld({
      messenger: {
        limits: { turnsPerPersonPerDay: 2 },
        inboxLimit: 1,
        burstMs: 0,
        delivery: { editEveryMs: 0 },
      },
      script: ({ said }) => (said === "one" ? [holdAt(gate), say("One")] : [say(`You said: ${said}`)]),
    });
    await world.write("c1", "one");
    await untilReached(gate);
    for (const text of ["a", "b", "c"]) await world.thread("c1").submitMessages(text, { answerTo: at("c1") });
    await world.write("c1", "two");
    gate.open();
    await world.shows("c1", "One", "You said: a", "You said: b", "You said: c", "You said: two");
    expect(asked(world)).toEqual(["one", "a", "b", "c", "two"]);
  });

  it("tells the bot's code what kind of turn it serves", async () => {
    const turns: (TurnInfo | undefined)[] = [];
    const events: unknown[] = [];
    const world = createWorld({
      getTools: (agent) => ({
        look: tool({
          inputSchema: z.object({}),
          execute: () => {
            turns.push(agent.getTurn());
            events.push(agent.getMessengerContext()?.author?.userId);
            return "seen";
          },
        }),
      }),
      script: ({ prompt }) => (prompt.at(-1)?.role === "tool" ? [say("Done.")] : [callTool("look")]),
    });
    const { submissionId } = await world.thread("c1").submitMessages("prompt", {
      answerTo: at("c1"),
      metadata: { job: "digest" },
    });
    await world.shows("c1", "Done.");
    await world.write("c1", "Hello");
    await world.shows("c1", "Done.", "Done.");
    expect(turns[0]).toEqual({
      id: submissionId,
      kind: "prompt",
      authors: [],
      answerTo: [at("c1")],
      metadata: { job: "digest" },
    });
    expect(turns[1]).toMatchObject({ kind: "messages", authors: [{ userId: "ada" }], answerTo: [at("c1")] });
    expect(events).toEqual([undefined, "ada"]);
  });

  it("shows nothing when the model has nothing to say, or fails, and never an exception (I10)", async () => {
    const world = createWorld({
      script: ({ said }) => (said === "fail" ? [failWith(new Error("secret detail"))] : [say("")]),
    });
    const thread = world.thread("c1");
    expect((await thread.saveMessages("nothing", { answerTo: at("c1") })).status).toBe("completed");
    const { requestId, status } = await thread.saveMessages("fail", { answerTo: at("c1") });
    expect(status).toBe("error");
    expect(await thread.inspectSubmission(requestId)).toMatchObject({ error: "turn-failed" });
    expect(world.chats.visible("c1")).toEqual([]);
    expect(JSON.stringify(log)).not.toContain("secret detail");
  });

  it("may be cancelled while it waits, and while it runs", async () => {
    const gate = createGate();
    const world = createWorld({ script: ({ said }) => [say(`About ${said}`), holdAt(gate)] });
    const thread = world.thread("c1");
    const running = await thread.submitMessages("one", { answerTo: at("c1") });
    await world.shows("c1", "About one");
    const waiting = await thread.submitMessages("two", { answerTo: at("c1") });
    expect(await thread.cancelSubmission(waiting.submissionId, "x".repeat(5_000))).toBe(true);
    const { error } = (await thread.inspectSubmission(waiting.submissionId)) ?? {};
    expect(error).toBe("x".repeat(1_000));
    expect(await thread.cancelSubmission(running.submissionId)).toBe(true);
    expect(await thread.cancelSubmission(running.submissionId)).toBe(false);
    await world.shows("c1", "About one\n\n(stopped)");
    await world.write("c1", "three");
    await world.shows("c1", "About one\n\n(stopped)", "About three");
    gate.open();
    expect(asked(world)).toEqual(["one", "three"]);
    const submissions = await thread.listSubmissions({ status: "aborted" });
    expect(submissions.map(({ submissionId }) => submissionId)).toEqual([
      waiting.submissionId,
      running.submissionId,
    ]);
  });

  it.each([
    ["messenger-unknown", () => ["Hi", { answerTo: { ...at("c1"), messengerId: "slack" } }] as const],
    ["submission-invalid", () => [[], {}] as const],
    ["submission-invalid", () => ["Hi", { answerTo: { chatId: "c1" } as Address }] as const],
    ["submission-too-large", () => ["x".repeat(500_001), {}] as const],
  ])("is refused as %s before anything is stored", async (code, request) => {
    const world = createWorld();
    const [input, options] = request();
    const refusal = await world
      .thread("c1")
      .submitMessages(input, options)
      .then(
        () => "accepted",
        (error: { readonly code?: string }) => error.code,
      );
    expect(refusal).toBe(code);
    expect(await world.thread("c1").listSubmissions()).toEqual([]);
  });

  it("is refused for a misspelt option, with the name that was probably meant", async () => {
    const misspelt = { idempotencykey: "a" } as object;
    const refusal = await createWorld()
      .thread("c1")
      .submitMessages("Hi", misspelt)
      .then(
        () => "accepted",
        ({ message }: Error) => message,
      );
    expect(refusal).toContain(
      'idempotencykey of the submission does not exist. Did you mean "idempotencyKey"?',
    );
  });
});

describe("the target of a prompt's answer", () => {
  it("may be any that say() takes, and is looked for once for each key", async () => {
    const world = createWorld();
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    const thread = world.thread("c2");
    const submit = () =>
      thread.submitMessages("News", {
        idempotencyKey: "monday",
        answerTo: [
          { messenger: "fake", chatId: "c1" },
          { messenger: "fake", userId: "ada" },
        ],
      });
    const { submissionId } = await submit();
    await world.shows("c1", "You said: Hello", "You said: News");
    await untilStatus(world, "c2", submissionId, "completed");
    world.chats.gone.add("c1");
    await world.stub.say("Lost", { messenger: "fake", chatId: "c1" });
    expect(await submit()).toMatchObject({ accepted: false, submissionId });
  });

  it("is refused with its code before anything is stored", async () => {
    const world = createWorld();
    const refusal = await world
      .thread("c1")
      .submitMessages("News", { answerTo: { messenger: "fake", chatId: "nowhere" } })
      .catch((error: { readonly code?: string }) => error.code);
    expect(refusal).toBe("chat-unknown");
    expect(await world.thread("c1").listSubmissions()).toEqual([]);
  });

  it("is where say() without a target goes", async () => {
    const world = createWorld({
      getTools: (agent) => ({
        tell: tool({ inputSchema: z.object({}), execute: () => agent.say("From the tool.") }),
      }),
      script: ({ prompt }) => (prompt.at(-1)?.role === "tool" ? [say("Done")] : [callTool("tell")]),
    });
    await world.thread("c1").submitMessages("Go", { answerTo: at("c9") });
    await vi.waitFor(
      () => expect(world.chats.visible("c9").toSorted()).toEqual(["Done", "From the tool."]),
      8000,
    );
    expect(world.chats.visible("c1")).toEqual([]);
  });
});

describe("an idempotency key", () => {
  it("starts one turn, however often it is used, also after a crash (I2)", async () => {
    const world = createWorld();
    const submit = () =>
      world.thread("c1").submitMessages("digest", { idempotencyKey: "monday", answerTo: at("c1") });
    const first = await submit();
    expect((await submit()).accepted).toBe(false);
    await kill(world, "c1");
    expect(await submit()).toMatchObject({ accepted: false, submissionId: first.submissionId });
    await world.shows("c1", "You said: digest");
    await untilStatus(world, "c1", first.submissionId, "completed");
    expect(await submit()).toMatchObject({ accepted: false, status: "completed" });
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: digest", "You said: Hello");
    expect(asked(world).filter((said) => said === "digest")).toHaveLength(1);
  });

  it("belongs to one submission only", async () => {
    const world = createWorld();
    const thread = world.thread("c1");
    await thread.submitMessages("a", { idempotencyKey: "a", submissionId: "one" });
    const conflict = await thread.submitMessages("b", { idempotencyKey: "a", submissionId: "two" }).then(
      () => "accepted",
      (error: { readonly code?: string }) => error.code,
    );
    expect(conflict).toBe("submission-conflict");
  });
});

describe("a prompt whose object dies", () => {
  it("is answered by the alarm alone, when it was stored and nothing more", async () => {
    const world = createWorld();
    await world.thread("c1").submitMessages("digest", { answerTo: at("c1") });
    await kill(world, "c1");
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "You said: digest");
    expect(asked(world)).toEqual(["digest"]);
  });

  it("goes on in the message that is visible, and people are answered after it", async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [say("Once upon"), holdAt(gate)] });
    const { submissionId } = await world
      .thread("c1")
      .submitMessages("digest", { answerTo: [at("c1"), at("c2")] });
    await world.shows("c1", "Once upon");
    await world.shows("c2", "Once upon");
    await world.write("c1", "Hello");
    await kill(world, "c1");
    world.script(({ said }) => [say(`A whole answer to ${said}.`)]);
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "A whole answer to digest.", "A whole answer to Hello.");
    await world.shows("c2", "A whole answer to digest.");
    await untilStatus(world, "c1", submissionId, "completed");
    expect(asked(world)).toEqual(["digest", "digest", "Hello"]);
  });
});

describe("/stop and /new", () => {
  it("drop no prompt that waits", async () => {
    const gate = createGate();
    const world = createWorld({
      script: ({ said }) => (said === "one" ? [say("One"), holdAt(gate)] : [say(`You said: ${said}`)]),
    });
    await world.write("c1", "one");
    await world.shows("c1", "One");
    await world.thread("c1").submitMessages("prompt", { answerTo: at("c1") });
    await world.write("c1", "/stop");
    await world.shows("c1", "One\n\n(stopped)", "You said: prompt");
    gate.open();
    expect(asked(world)).toEqual(["one", "prompt"]);
  });

  it("stops the answer of a prompt that people see, and no other", async () => {
    const gate = createGate();
    const silence = createGate();
    const world = createWorld({
      script: ({ said }) =>
        said === "hidden" ? [holdAt(silence), say("Hidden no more")] : [say("Seen"), holdAt(gate)],
    });
    const thread = world.thread("c1");
    const hidden = await thread.submitMessages("hidden", { answerTo: at("c1") });
    await untilReached(silence);
    await world.write("c1", "/stop");
    await world.shows("c1", "There's nothing to stop right now.");
    silence.open();
    await world.shows("c1", "There's nothing to stop right now.", "Hidden no more");
    await untilStatus(world, "c1", hidden.submissionId, "completed");
    const seen = await thread.submitMessages("seen", { answerTo: [at("c1"), at("c2")] });
    await world.shows("c2", "Seen");
    await world.write("c1", "/stop");
    await world.shows("c1", "There's nothing to stop right now.", "Hidden no more", "Seen\n\n(stopped)");
    // Nobody has stopped it in the other chat.
    gate.open();
    await untilStatus(world, "c1", seen.submissionId, "completed");
    expect(world.chats.visible("c2")).toEqual(["Seen"]);
  });

  it("begin a new session for a prompt that waits", async () => {
    const gate = createGate();
    const world = createWorld({
      script: ({ prompt, said }) =>
        said === "one" ? [say("One"), holdAt(gate)] : [say(`${prompt.length - 1} messages: ${said}`)],
    });
    await world.write("c1", "one");
    await world.shows("c1", "One");
    await world.thread("c1").submitMessages("prompt", { answerTo: at("c1") });
    await world.write("c1", "/new");
    gate.open();
    await vi.waitFor(() => expect(world.chats.visible("c1")).toContain("1 messages: prompt"), {
      timeout: 8000,
      interval: 20,
    });
  });
});

describe("chat()", () => {
  it("waits for the answer to people that is being written, and people wait for it", async () => {
    const gate = createGate();
    const world = createWorld({
      script: ({ said }) => (said === "one" ? [say("One"), holdAt(gate)] : [say(`You said: ${said}`)]),
    });
    await world.write("c1", "one");
    await world.shows("c1", "One");
    const chat = world.thread("c1").chat("from the dashboard", silent);
    await vi.waitFor(async () => expect(await world.thread("c1").listSubmissions()).toHaveLength(1), 8000);
    await world.write("c1", "two");
    expect(asked(world)).toEqual(["one"]);
    gate.open();
    await chat;
    await world.shows("c1", "One", "You said: two");
    expect(asked(world)).toEqual(["one", "from the dashboard", "two"]);
  });
});
