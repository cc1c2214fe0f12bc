import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { ChatResponseResult, TurnContext } from "../../../src/turn/hooks.ts";
import type { Think } from "../../../src/think.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import { failWith, holdAt, say, textOf } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return "none";
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}

async function known(world: World): Promise<ReturnType<World["thread"]>> {
  await world.write("c1", "Hello");
  await world.shows("c1", "You said: Hello");
  return world.thread("c1");
}

describe("submitMessages", () => {
  it("sends the answer to the conversation's own chat with `deliver`", async () => {
    const world = createWorld();
    const thread = await known(world);
    await thread.submitMessages("The build failed", { deliver: true });
    await world.shows("c1", "You said: Hello", "You said: The build failed");
    expect(world.chats.visible("c1").length).toBe(2);
  });

  it("sends it once, if the chat is named as well", async () => {
    const world = createWorld();
    const thread = await known(world);
    const answerTo = [{ messenger: "fake", chatId: "c1" }];
    const { submissionId } = await thread.submitMessages("News", { deliver: true, answerTo });
    expect(await thread.waitForSubmission(submissionId)).toMatchObject({ deliveryIds: [submissionId] });
    await world.shows("c1", "You said: Hello", "You said: News");
  });

  it("refuses `deliver` at the root, and in a conversation that nobody has written to", async () => {
    const world = createWorld();
    expect(await codeOf(world.stub.submitMessages("News", { deliver: true }))).toBe("target-missing");
    expect(await codeOf(world.thread("c9").submitMessages("News", { deliver: true }))).toBe("chat-unknown");
  });

  it.each<[string, Parameters<World["stub"]["submitMessages"]>[0]]>([
    ["an empty text", ""],
    ["a blank text", " \n"],
    ["messages without words", { id: "1", role: "user", parts: [{ type: "text", text: "" }] }],
  ])("refuses %s", async (_name, messages) => {
    expect(await codeOf(createWorld().thread("c1").submitMessages(messages))).toBe("submission-empty");
  });

  it("refuses another question under a known key, also when that one has ended", async () => {
    const world = createWorld();
    const thread = await known(world);
    const options = { idempotencyKey: "build-7", metadata: { build: 7 } };
    const { submissionId } = await thread.submitMessages("Build 7 failed", options);
    expect(await codeOf(thread.submitMessages("Build 8 failed", options))).toBe("submission-conflict");
    await thread.waitForSubmission(submissionId);
    expect(await codeOf(thread.submitMessages("Build 8 failed", options))).toBe("submission-conflict");
    const other = { ...options, metadata: { build: 8 } };
    expect(await codeOf(thread.submitMessages("Build 7 failed", other))).toBe("submission-conflict");
    expect(await thread.submitMessages("Build 7 failed", options)).toMatchObject({
      accepted: false,
      submissionId,
    });
  });
});

describe("waitForSubmission", () => {
  it("resolves when the turn has ended, and with what is known after its limit", async () => {
    captureLog();
    const world = createWorld();
    const gate = createGate();
    world.script(({ said }) => (said === "Slow" ? [holdAt(gate), say("Done")] : [failWith(new Error("no"))]));
    const thread = world.thread("c1");
    const slow = await thread.submitMessages("Slow");
    expect(await thread.waitForSubmission(slow.submissionId, { timeoutMs: 1 })).toMatchObject({
      submissionId: slow.submissionId,
    });
    const waiting = thread.waitForSubmission(slow.submissionId);
    gate.open();
    expect(await waiting).toMatchObject({ status: "completed" });
    const failed = await thread.submitMessages("Fail");
    expect(await thread.waitForSubmission(failed.submissionId)).toMatchObject({
      status: "error",
      error: "turn-failed",
    });
    expect(await thread.waitForSubmission("nothing")).toBeUndefined();
  });

  it("can be called again after the object has died", async () => {
    captureLog();
    const world = createWorld();
    const gate = createGate();
    world.script(() => [holdAt(gate), say("Done")]);
    const thread = world.thread("c1");
    const { submissionId } = await thread.submitMessages("Slow");
    const first = codeOf(thread.waitForSubmission(submissionId));
    await runInDurableObject(thread, (_bot, state) => state.abort("killed by a test")).catch(() => {});
    await first;
    gate.open();
    expect(await world.thread("c1").waitForSubmission(submissionId)).toMatchObject({ status: "completed" });
  });
});

describe("deleteSubmissions", () => {
  it("forgets those that have ended, and no other", async () => {
    const world = createWorld();
    const gate = createGate();
    world.script(({ said }) => (said === "Slow" ? [holdAt(gate), say("Done")] : [say("Fine")]));
    const thread = world.thread("c1");
    const ended = await thread.submitMessages("Quick", { idempotencyKey: "quick" });
    await thread.waitForSubmission(ended.submissionId);
    const running = await thread.submitMessages("Slow");
    expect(await thread.deleteSubmissions({ status: "error" })).toBe(0);
    expect(await thread.deleteSubmissions({ completedBefore: 1 })).toBe(0);
    expect(await thread.deleteSubmissions()).toBe(1);
    expect(await thread.inspectSubmission(ended.submissionId)).toBeUndefined();
    expect(await thread.inspectSubmission(running.submissionId)).toBeDefined();
    gate.open();
    await thread.waitForSubmission(running.submissionId);
    expect((await thread.submitMessages("Quick again", { idempotencyKey: "quick" })).accepted).toBe(true);
  });
});

describe("continueLastTurn", () => {
  it("asks the model to continue its answer, and people see nothing of that", async () => {
    const world = createWorld();
    const thread = await known(world);
    world.script(() => [say("And further.")]);
    expect(await thread.continueLastTurn({ deliver: true })).toMatchObject({ status: "completed" });
    await world.shows("c1", "You said: Hello", "And further.");
    const [, , , asked] = world.requests.at(-1)?.prompt ?? [];
    expect(asked && textOf(asked)).toContain("⟦Continue your last answer where it ended.");
  });

  it("tells the hooks that no new question began the turn", async () => {
    const told: unknown[] = [];
    const hooks = {
      beforeTurn: ({ continuation, restarted }: TurnContext) => void told.push([continuation, restarted]),
      onChatResponse: ({ continuation }: ChatResponseResult) => void told.push(continuation),
    };
    const world = createWorld({ hooks });
    const thread = await known(world);
    await expect.poll(() => told).toEqual([[false, false], false]);
    await thread.continueLastTurn();
    await expect.poll(() => told.slice(2)).toEqual([[true, false], true]);
  });

  it("is skipped where nothing was answered yet", async () => {
    const result = await createWorld().thread("c1").continueLastTurn();
    expect(result).toEqual({ requestId: "", status: "skipped" });
  });
});

describe("runTurn", () => {
  it("waits, submits or streams", async () => {
    const world = createWorld();
    const thread = await known(world);
    expect(await thread.runTurn({ mode: "wait", messages: "One", deliver: true })).toMatchObject({
      status: "completed",
    });
    expect(await thread.runTurn({ mode: "submit", messages: "Two", deliver: true })).toMatchObject({
      accepted: true,
    });
    await world.shows("c1", "You said: Hello", "You said: One", "You said: Two");
    let text = "";
    await runInDurableObject(thread, async (bot) =>
      bot.runTurn({
        mode: "stream",
        messages: "Three",
        callback: {
          onStart: () => {},
          onEvent: (json) => {
            text += (JSON.parse(json) as { readonly delta?: string }).delta ?? "";
          },
          onDone: () => {},
          onError: () => {},
        },
      }),
    );
    expect(text).toBe("You said: Three");
  });

  it("waits for a turn in the handler of a press, while the press itself is open", async () => {
    async function onAction(this: Think): Promise<string> {
      const { status } = await this.runTurn({ mode: "wait", messages: "Explain it" });
      return status;
    }
    const world = createWorld({ settings: { onAction } });
    const thread = await known(world);
    const button = { kind: "callback", label: "Why?", payload: null } as const;
    await thread.say({ kind: "card", text: "Failed", buttons: [[button]] });
    await world.shows("c1", "You said: Hello", "Failed");
    expect(await world.press("c1", "Why?")).toBe("completed");
  });

  it("refuses any other mode", async () => {
    const options = { mode: "later", messages: "One" } as unknown as { mode: "wait"; messages: string };
    expect(await codeOf(createWorld().thread("c1").runTurn(options))).toBe("submission-invalid");
  });
});
