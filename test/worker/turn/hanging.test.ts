import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, failWith, holdAt, say, scriptedModel } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

const STOPPED = "(stopped)";

describe("/stop", () => {
  it.each(["getSystemPrompt", "getTools"] as const)("ends a turn whose %s hangs", async (method) => {
    const gate = createGate();
    let isHanging = true;
    const hang = async (): Promise<never> => {
      await gate.pass();
      throw new Error("too late");
    };
    const world = createWorld({
      getSystemPrompt: () => (isHanging && method === "getSystemPrompt" ? hang() : "You are a test."),
      getTools: () => (isHanging && method === "getTools" ? hang() : {}),
    });
    await world.write("c1", "Hello");
    await untilReached(gate);
    await world.write("c1", "/stop");
    await world.shows("c1", STOPPED);
    isHanging = false;
    await world.write("c1", "Again");
    await world.shows("c1", STOPPED, "You said: Again");
    expect(world.requests.map(({ said }) => said)).toEqual(["Again"]);
    gate.open();
  });

  it("ends a turn that waits for a picture", async () => {
    const printed = vi.spyOn(console, "error");
    const world = createWorld();
    await world.write("c1", "Look", { hasHangingPicture: true });
    await expect.poll(() => log.map(({ event }) => event)).toContain("turn.begun");
    await world.write("c1", "/stop");
    await world.shows("c1", STOPPED);
    await world.write("c1", "/new");
    await world.write("c1", "Again");
    await expect.poll(() => world.chats.visible("c1").at(-1)).toBe("You said: Again");
    expect(printed.mock.calls.filter(([line]) => !String(line).startsWith("{"))).toEqual([]);
  });

  it("ends a turn whose model never answers, nor looks at its signal", async () => {
    let asked = 0;
    const world = createWorld({
      getModel: () => ({
        specificationVersion: "v4",
        provider: "deaf",
        modelId: "deaf-1",
        supportedUrls: {},
        doStream: () => {
          asked += 1;
          return new Promise(() => {});
        },
        doGenerate: () => new Promise(() => {}),
      }),
    });
    await world.write("c1", "Hello");
    await expect.poll(() => asked).toBe(1);
    await world.write("c1", "/stop");
    await world.shows("c1", STOPPED);
    await world.write("c1", "Again");
    await expect.poll(() => asked).toBe(2);
  });

  it("ends a turn whose tool hangs between two pieces of what it shows", async () => {
    const gate = createGate();
    const world = createWorld({
      script: () => [callTool("pieces")],
      getTools: () => ({
        pieces: tool({
          inputSchema: z.object({}),
          execute: async function* () {
            yield "one";
            await gate.pass();
            yield "two";
          },
        }),
      }),
    });
    await world.write("c1", "Wait");
    await untilReached(gate);
    await world.write("c1", "/stop");
    await world.shows("c1", STOPPED);
    world.script(({ said }) => [say(`You said: ${said}`)]);
    await world.write("c1", "Again");
    await world.shows("c1", STOPPED, "You said: Again");
    expect(world.requests.map(({ said }) => said)).toEqual(["Wait", "Again"]);
    gate.open();
  });

  it("ends a turn that rests before it asks an overloaded model again", async () => {
    const busy = Object.assign(new Error("busy"), {
      statusCode: 503,
      responseHeaders: { "retry-after": "14" },
    });
    const world = createWorld({ script: () => [failWith(busy)] });
    await world.write("c1", "Hello");
    await expect.poll(() => log.map(({ event }) => event)).toContain("turn.model-retried");
    world.script(({ said }) => [say(`You said: ${said}`)]);
    await world.write("c1", "/stop");
    await world.shows("c1", STOPPED);
    await world.write("c1", "Again");
    await world.shows("c1", STOPPED, "You said: Again");
    expect(world.requests.map(({ said }) => said)).toEqual(["Hello", "Again"]);
  });

  it("holds after a crash: a stopped turn is not taken up again", async () => {
    const gate = createGate();
    const world = createWorld({ script: () => [say("Once upon"), holdAt(gate), say(" a time")] });
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon");
    await world.write("c1", "/stop");
    await world.shows("c1", `Once upon\n\n${STOPPED}`);
    await runInDurableObject(world.thread("c1"), (_bot, state) => {
      state.abort("killed by a test");
    }).catch(() => undefined);
    await runDurableObjectAlarm(world.thread("c1"));
    world.script(({ said }) => [say(`You said: ${said}`)]);
    await world.write("c1", "Next");
    await world.shows("c1", `Once upon\n\n${STOPPED}`, "You said: Next");
    expect(world.requests.map(({ said }) => said)).toEqual(["Tell", "Next"]);
  });
});

describe("a model that stalls", () => {
  it("is asked once more, and the answer takes the place of what was visible", async () => {
    const gate = createGate();
    let calls = 0;
    const world = createWorld({
      settings: { chatStreamStallTimeoutMs: 50 },
      script: () => {
        calls += 1;
        return calls === 1 ? [say("Once upon"), holdAt(gate)] : [say("A whole answer.")];
      },
    });
    await world.write("c1", "Tell");
    await world.shows("c1", "A whole answer.");
    expect(world.requests).toHaveLength(2);
    gate.open();
  });

  it("twice ends in a safe text after what is visible (I5, I10)", async () => {
    const gate = createGate();
    const world = createWorld({
      settings: { chatStreamStallTimeoutMs: 50 },
      messenger: { delivery: { interruptedResponseText: "Cut short.", editEveryMs: 0 } },
      script: () => [say("Once upon"), holdAt(gate)],
    });
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon\n\nCut short.");
    expect(world.requests).toHaveLength(2);
    gate.open();
  });
});

describe("a summary of what was said long ago", () => {
  it("keeps nobody waiting while the model takes its time for it, and is used once it is there", async () => {
    const gate = createGate();
    const requests: string[] = [];
    const world = createWorld({
      settings: { maxContextTokens: 800 },
      getModel: (agent) => {
        const model = scriptedModel(
          agent.name,
          ({ said }) => [say(`You said: ${said} ${"word ".repeat(150)}`)],
          ({ prompt }) => requests.push(JSON.stringify(prompt)),
        );
        const doGenerate: typeof model.doGenerate = async (options) => {
          await gate.pass();
          const generated = await model.doGenerate(options);
          return { ...generated, content: [{ type: "text", text: "SUMMARY" }] };
        };
        return { ...model, doGenerate };
      },
    });
    const ask = async (question: string): Promise<void> => {
      await world.write("c1", question);
      await expect.poll(() => world.chats.visible("c1").at(-1)).toContain(`You said: ${question} word`);
      await expect
        .poll(() => log.filter(({ event }) => event === "turn.ended"))
        .toHaveLength(log.filter(({ event }) => event === "turn.begun").length);
    };
    for (const question of ["one", "two", "three", "four", "five", "six"]) await ask(question);
    await untilReached(gate);
    expect(requests.join()).not.toContain("SUMMARY");
    gate.open();
    for (const question of ["seven", "eight"]) await ask(question);
    expect(requests.at(-1)).toContain("SUMMARY");
  });
});
