import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { FetchableAttachment } from "../../../src/messengers/index.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say, textOf } from "../support/scripted-model.ts";
import type { ModelRequest } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

let lines: ReturnType<typeof captureLog>;
beforeEach(() => {
  lines = captureLog();
});

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const utf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const voice = { id: "v1", kind: "voice", mediaType: "audio/ogg", sizeBytes: 2048 } as const;
const receipt = { id: "f1", kind: "document", mediaType: "application/zip", name: "r.zip" } as const;

async function kill(world: World, chat: string): Promise<void> {
  await runInDurableObject(world.thread(chat), (_bot, state) => {
    state.abort("killed by a test");
  }).catch(() => undefined);
}

/** What the model read of the newest question. */
function readOf(request: ModelRequest | undefined): string {
  return textOf(request?.prompt.findLast(({ role }) => role === "user"));
}

describe("attachment.fetch()", () => {
  it("gives a tool the bytes of all files that the turn answers", async () => {
    const seen: unknown[] = [];
    const world = createWorld({
      messenger: { burstMs: 0 },
      getTools: (agent) => ({
        keep: tool({
          inputSchema: z.object({}),
          execute: async () => {
            const context = agent.getMessengerContext();
            for (const attachment of context?.attachments ?? []) {
              const { bytes } = await attachment.fetch();
              seen.push([attachment.name, utf8(bytes), await attachment.fetchMetadata()]);
            }
            // It goes to other objects and into storage as plain JSON.
            seen.push(structuredClone(context)?.message?.attachments);
            return "kept";
          },
        }),
      }),
      script: ({ prompt }) => (prompt.at(-1)?.role === "tool" ? [say("Kept.")] : [callTool("keep")]),
    });
    world.chats.files.set("f1", bytesOf("one"));
    world.chats.files.set("f2", bytesOf("two"));
    const files = [receipt, { ...receipt, id: "f2", name: "s.zip" }];
    await world.write("c1", "Keep these", { files });
    await world.shows("c1", "Kept.");
    const known = { kind: "document", mediaType: "application/zip" };
    expect(seen).toEqual([
      ["r.zip", "one", { ...known, name: "r.zip" }],
      ["s.zip", "two", { ...known, name: "s.zip" }],
      [
        { ...known, name: "r.zip", reference: { fileId: "f1" } },
        { ...known, name: "s.zip", reference: { fileId: "f2" } },
      ],
    ]);
  });

  it("gives a command the bytes of its message, within limits, and no error that tells an address", async () => {
    const read = async (attachment: FetchableAttachment | undefined, maxBytes?: number): Promise<string> => {
      try {
        return utf8(
          (await attachment?.fetch(maxBytes === undefined ? {} : { maxBytes }))?.bytes ?? bytesOf("-"),
        );
      } catch (error) {
        const { code = "none", message } = error as { readonly code?: string; readonly message: string };
        return `${code}${message.includes("secret") ? " and a secret" : ""}`;
      }
    };
    const world = createWorld({
      messenger: { maxMediaBytes: 10 },
      commands: {
        file: {
          description: "Reads files",
          handler: async ({ event }) => {
            const [small, large, broken] = event.message?.attachments ?? [];
            return [
              await read(small),
              await read(small, 4),
              await read(large),
              await read(large, 20),
              await read(large, 1e9),
              await read(broken),
            ].join(", ");
          },
        },
      },
    });
    world.chats.files.set("small", bytesOf("small"));
    world.chats.files.set("large", bytesOf("large enough"));
    world.chats.files.set("broken", () => Promise.reject(new Error("https://files.example/secret")));
    await world.write("c1", "/file", {
      files: ["small", "large", "broken"].map((id) => ({ ...receipt, id })),
    });
    await vi.waitFor(() => expect(world.chats.visible("c1")).toHaveLength(1), { timeout: 8000 });
    expect(world.chats.visible("c1")).toEqual([
      "small, attachment-too-large, attachment-too-large, large enough, attachment-limit, attachment-failed",
    ]);
  });

  it("works in a turn that goes on after a crash", async () => {
    const gate = createGate();
    const world = createWorld({
      getTools: (agent) => ({
        keep: {
          ...tool({
            inputSchema: z.object({}),
            execute: async () => {
              await gate.pass();
              const file = await agent.getMessengerContext()?.attachments[0]?.fetch();
              return file === undefined ? "nothing" : utf8(file.bytes);
            },
          }),
          recovery: "rerun" as const,
        },
      }),
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? [say(JSON.stringify(prompt.at(-1)))] : [callTool("keep")],
    });
    world.chats.files.set("f1", bytesOf("still there"));
    await world.write("c1", "Keep this", { files: [receipt] });
    await untilReached(gate);
    await kill(world, "c1");
    gate.open();
    await runDurableObjectAlarm(world.thread("c1"));
    await vi.waitFor(() => expect(world.chats.visible("c1").join()).toContain("still there"), {
      timeout: 8000,
    });
  });
});

describe("transcribe", () => {
  it("lets the model read what is said beside the line of the file, and asks once", async () => {
    const transcribe = vi.fn<(audio: FetchableAttachment) => Promise<string>>(
      async (audio) => `${utf8((await audio.fetch()).bytes)} (${audio.kind})`,
    );
    const world = createWorld({ transcribe, script: () => [say("Heard.")] });
    world.chats.files.set("v1", bytesOf("where is my order"));
    await world.write("c1", "", { files: [voice] });
    await world.shows("c1", "Heard.");
    expect(readOf(world.requests[0])).toContain(
      "[voice: audio/ogg, 2 KB] What is said in it:\nwhere is my order (voice)",
    );
    await kill(world, "c1");
    await world.write("c1", "And now?");
    await world.shows("c1", "Heard.", "Heard.");
    expect(JSON.stringify(world.requests[1]?.prompt)).toContain("where is my order (voice)");
    expect(transcribe).toHaveBeenCalledTimes(1);
  });

  it("is asked again when the process dies before the text is stored", async () => {
    const gate = createGate();
    let asked = 0;
    const world = createWorld({
      transcribe: async () => {
        asked += 1;
        await gate.pass();
        return "hello";
      },
      script: () => [say("Heard.")],
    });
    await world.write("c1", "", { files: [voice] });
    await untilReached(gate);
    await kill(world, "c1");
    gate.open();
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "Heard.");
    expect(asked).toBe(2);
    expect(readOf(world.requests.at(-1))).toContain("hello");
  });

  it("costs nothing but the transcript when it fails, is logged and not tried again", async () => {
    let asked = 0;
    const world = createWorld({
      transcribe: () => {
        asked += 1;
        throw new Error("no such model");
      },
      script: () => [say("Hm.")],
    });
    await world.write("c1", "Listen", { files: [voice] });
    await world.shows("c1", "Hm.");
    await world.write("c1", "And?");
    await world.shows("c1", "Hm.", "Hm.");
    expect(readOf(world.requests[0])).toBe("Listen[voice: audio/ogg, 2 KB]");
    expect(asked).toBe(1);
    expect(lines.filter(({ event }) => event === "bot.failed")).toMatchObject([{ method: "transcribe" }]);
  });

  it("is not waited for once the person says /stop", async () => {
    const gate = createGate();
    const world = createWorld({
      transcribe: async () => {
        await gate.pass();
        return "late";
      },
      script: () => [say("Heard.")],
    });
    await world.write("c1", "", { files: [voice] });
    await untilReached(gate);
    await world.write("c1", "/stop");
    await vi.waitFor(() => expect(world.chats.visible("c1")).toHaveLength(1), { timeout: 8000 });
    expect(world.requests).toHaveLength(0);
    gate.open();
  });

  it("leaves a file to a model that takes it itself", async () => {
    const transcribe = vi.fn(() => "never asked");
    const world = createWorld({
      transcribe,
      messenger: { acceptsMedia: ["audio/*"] },
      script: () => [say("Heard.")],
    });
    world.chats.files.set("v1", bytesOf("OggS and more"));
    world.chats.files.set("v2", bytesOf("<html>"));
    await world.write("c1", "Listen", { files: [voice, { ...voice, id: "v2" }] });
    await world.shows("c1", "Heard.");
    const content = world.requests[0]?.prompt.at(-1)?.content;
    const files = Array.isArray(content) ? content.filter((part) => part.type === "file") : [];
    expect(files).toMatchObject([{ mediaType: "audio/ogg" }]);
    // One that is no audio would have every later call refused.
    expect(readOf(world.requests[0])).toContain("it could not be loaded");
    expect(transcribe).not.toHaveBeenCalled();
  });

  it("is not there by default: the model reads the line of the file", async () => {
    const world = createWorld({ script: () => [say("Hm.")] });
    await world.write("c1", "", { files: [voice] });
    await world.shows("c1", "Hm.");
    expect(readOf(world.requests[0])).toBe("[voice: audio/ogg, 2 KB]");
  });
});
