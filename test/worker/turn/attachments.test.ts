import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import type {
  ActionContext,
  ActionOptions,
  ChatResponseResult,
  ReplyAttachment,
  Think,
} from "../../../src/index.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, failWith, holdAt, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";
import type { ScriptedBot } from "../worker.ts";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

const inputSchema = z.object({});
const picture = (name: string, byte = 1): ReplyAttachment => ({
  type: "image",
  source: new Uint8Array([byte, 2, 3]),
  name,
});
/** The beginning of an OGG file with Opus. */
const opus = new TextEncoder().encode("OggS\u0000\u0002________________OpusHead");

const EVERYTHING: readonly ReplyAttachment[] = [
  picture("front.jpg", 1),
  { ...picture("back.jpg", 2), caption: "Both sides" },
  { type: "voice_note", source: opus, transcript: "Hello!" },
  { type: "card", text: "Rate us", buttons: [[{ kind: "callback", label: "Good", payload: 1 }]] },
  { type: "location", latitude: 1, longitude: 2 },
  { type: "email_draft", to: "ann@example.com", subject: "Order *7*", body: "Hello,\n\nit's [here]." },
  { type: "ticket", id: 7 },
  { type: "document", source: new Uint8Array([4]), name: "invoice.pdf" },
];

const script: ModelScript = ({ prompt, said }) => {
  if (prompt.at(-1)?.role === "tool") return [say("Here you are.")];
  return /Decision: /.test(said) ? [say("It has run.")] : [callTool("send", {})];
};

function sendAction(options: Partial<ActionOptions<typeof inputSchema, unknown>>) {
  return action({ description: "Send things.", inputSchema, execute: () => "sent", ...options });
}

/** A bot whose action attaches these, on a platform with files. */
function attachingWorld(
  attachments: readonly ReplyAttachment[] | ((ctx: ActionContext) => void),
  {
    options = {},
    ...rest
  }: WorldOptions & { options?: Partial<ActionOptions<typeof inputSchema, unknown>> } = {},
): World {
  const send = sendAction({
    idempotencyKey: "the parcel",
    execute: (_input, ctx) => {
      if (typeof attachments === "function") attachments(ctx);
      else for (const attachment of attachments) ctx.attachReply(attachment);
      return "sent";
    },
    ...options,
  });
  return createWorld({
    script,
    getActions: () => ({ send }),
    messengers: (world) => ({
      fake: {
        ...world.messenger({ delivery: { editEveryMs: 0, onUnknown: "resend" } }),
        platform: fakePlatform(world.chats, { files: true }),
      },
    }),
    ...rest,
  });
}

/** Each message of a chat: its files, then its text. */
function shown(world: World, chat = "c1"): string[] {
  return world.chats.messages(chat).map(({ files, texts }) => [...files, texts.at(-1)].join(" | "));
}

const EVERYTHING_SHOWN = [
  "Here you are.",
  "photo front.jpg | photo back.jpg | Both sides",
  "voice voice.ogg | ",
  "Rate us",
  "at 1, 2",
  "E-mail draft\n\nTo: ann@example.com\nSubject: Order *7*\n\nHello,\n\nit's [here].",
  "document invoice.pdf | ",
];

/** Waits until the chat shows these, at most. */
async function settled(world: World, expected: readonly string[]): Promise<string[]> {
  const hasAll = (): void => {
    if (JSON.stringify(shown(world)) !== JSON.stringify(expected)) throw new Error("not yet");
  };
  await vi.waitFor(hasAll, { timeout: 8000, interval: 10 }).catch(() => undefined);
  return shown(world);
}

async function wake(stub: DurableObjectStub<ScriptedBot>): Promise<void> {
  await runDurableObjectAlarm(stub).catch(() => undefined);
}

/** The object dies at once, with everything that it was doing. */
async function die(agent: unknown): Promise<never> {
  const { ctx } = agent as { readonly ctx: DurableObjectState };
  await ctx.storage.sync();
  ctx.abort("killed by a test");
  return new Promise(() => {});
}

describe("attachments of a reply", () => {
  it("follow its text in order, each as the platform shows it best", async () => {
    const world = attachingWorld(EVERYTHING);
    await world.write("c1", "Send it");
    const all = EVERYTHING_SHOWN;
    expect(await settled(world, all)).toEqual(all);
    const buttons = world.chats.messages("c1").flatMap((message) => message.buttons);
    expect(buttons.map(({ label }) => label)).toEqual(["Good"]);
    // The bytes are gone when they are delivered.
    await runInDurableObject(world.thread("c1"), (_bot, { storage }) => {
      expect(storage.sql.exec("SELECT hash FROM file_v1").toArray()).toEqual([]);
      expect(storage.sql.exec("SELECT reply_id FROM file_use_v1").toArray()).toEqual([]);
    });
  });

  it("come before the next reply", async () => {
    const world = attachingWorld([picture("a.jpg")], {
      script: (request) => (request.said === "And now?" ? [say("Next.")] : script(request)),
    });
    await world.write("c1", "Send it");
    await world.write("c1", "And now?");
    const all = ["Here you are.", "photo a.jpg | ", "Next."];
    expect(await settled(world, all)).toEqual(all);
  });

  it("survive a kill after the text, and are sent once", async () => {
    let conversation: Think | undefined;
    const world = attachingWorld([picture("a.jpg")], {
      onStart: (agent) => {
        if (agent.name.includes("/")) conversation = agent;
      },
    });
    const stub = world.thread("c1");
    let kills = 0;
    world.chats.beforePost = async (chat) => {
      if (kills > 0 || world.chats.messages(chat).length === 0) return;
      kills += 1;
      await die(conversation);
    };
    await world.write("c1", "Send it").catch(() => undefined);
    await vi.waitFor(
      async () => {
        await wake(stub);
        expect(shown(world)).toEqual(["Here you are.", "photo a.jpg | "]);
      },
      { timeout: 8000, interval: 20 },
    );
    expect(kills).toBe(1);
  });

  it("survive a kill while they are rendered", async () => {
    let renderings = 0;
    const world = attachingWorld([picture("a.jpg"), { type: "ticket", id: 7 }], {
      settings: {
        renderAttachment: async function (this: Think, { id, type }) {
          renderings += 1;
          if (renderings === 2) await die(this);
          return `${type} ${JSON.stringify(id)}`;
        },
      },
    });
    await world.write("c1", "Send it").catch(() => undefined);
    await vi.waitFor(
      async () => {
        await wake(world.thread("c1"));
        expect(shown(world)).toEqual(["Here you are.", "image undefined", "ticket 7"]);
      },
      { timeout: 8000, interval: 20 },
    );
  });

  it("are not sent again for a replayed result", async () => {
    const world = attachingWorld([picture("a.jpg")]);
    await world.write("c1", "Send it");
    const all = ["Here you are.", "photo a.jpg | "];
    expect(await settled(world, all)).toEqual(all);
    await world.write("c1", "Send it again");
    const both = [...all, "Here you are."];
    expect(await settled(world, both)).toEqual(both);
  });

  it("reach the chat also if the model fails afterwards", async () => {
    const world = attachingWorld([picture("a.jpg")], {
      settings: { modelPatienceMs: 0 },
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? [failWith(new Error("no"))] : [callTool("send", {})],
    });
    await world.write("c1", "Send it");
    await vi.waitFor(() => expect(shown(world).slice(1)).toEqual(["photo a.jpg | "]), { timeout: 8000 });
  });

  it("reach the chat also if somebody stops the turn, because the action has run", async () => {
    const gate = createGate();
    const world = attachingWorld([picture("a.jpg")], {
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool"
          ? [say("Here "), holdAt(gate), say("you are.")]
          : [callTool("send", {})],
    });
    await world.write("c1", "Send it");
    await vi.waitFor(() => expect(world.chats.visible("c1").join()).toContain("Here"), { timeout: 8000 });
    await world.write("c1", "/stop");
    await vi.waitFor(() => expect(shown(world)).toContain("photo a.jpg | "), { timeout: 8000 });
    expect(shown(world)).not.toContain("Here you are.");
    expect(shown(world).filter((text) => text.includes("photo"))).toHaveLength(1);
    gate.open();
  });

  it("become text where the platform takes no files", async () => {
    const world = attachingWorld(
      [
        { type: "voice_note", source: opus, transcript: "Hello!" },
        {
          type: "document",
          source: { url: "https://shop.example/a_b.pdf" },
          name: "a_b.pdf",
          caption: "**Paid**",
        },
        { type: "image", source: new Uint8Array([1]), name: "a*b.jpg" },
      ],
      { messengers: (other) => ({ fake: other.messenger() }) },
    );
    await world.write("c1", "Send it");
    const all = ["Here you are.", "🎤 Hello!", "a_b.pdf\n\nPaid", "a*b.jpg can't be shown in this chat."];
    expect(await settled(world, all)).toEqual(all);
  });

  it("are what the bot renders: content, a text, or nothing", async () => {
    const seen: unknown[] = [];
    const world = attachingWorld(EVERYTHING.slice(4), {
      settings: {
        renderAttachment: (attachment, surface) => {
          seen.push(surface);
          if (attachment.type === "ticket") return `Ticket ${JSON.stringify(attachment["id"])}`;
          if (attachment.type === "document")
            return {
              kind: "files",
              files: [{ kind: "document", source: attachment["source"] as never, name: "renamed.pdf" }],
              caption: "Yours",
            };
          return undefined;
        },
      },
    });
    await world.write("c1", "Send it");
    const all = ["Here you are.", "Ticket 7", "document renamed.pdf | Yours"];
    expect(await settled(world, all)).toEqual(all);
    expect(seen[0]).toEqual({
      messengerId: "fake",
      provider: "fake",
      chatId: "c1",
      isDirectMessage: true,
      files: true,
      buttons: true,
      copyButtons: false,
      location: true,
    });
  });

  it("have their usual content if the bot's rendering fails, and the log says so", async () => {
    const world = attachingWorld([picture("a.jpg")], {
      settings: {
        renderAttachment: () => {
          throw new Error("a mistake");
        },
      },
    });
    await world.write("c1", "Send it");
    const all = ["Here you are.", "photo a.jpg | "];
    expect(await settled(world, all)).toEqual(all);
    expect(log).toContainEqual(expect.objectContaining({ event: "bot.failed", method: "renderAttachment" }));
  });

  it("are left out if they make no sense, a file is named, and the others are sent", async () => {
    const world = attachingWorld([{ type: "card", text: "" }, { type: "image" }, picture("a.jpg")]);
    await world.write("c1", "Send it");
    const all = ["Here you are.", "A picture\nThis file couldn't be sent.", "photo a.jpg | "];
    expect(await settled(world, all)).toEqual(all);
    expect(log).toContainEqual(
      expect.objectContaining({ event: "attachment.refused", code: "attachment-invalid" }),
    );
  });

  it("reach `onChatResponse`, and can be read later, also after a restart", async () => {
    const ends: ChatResponseResult[] = [];
    const world = attachingWorld([picture("a.jpg"), { type: "ticket", id: 7 }], {
      hooks: { onChatResponse: (result) => void ends.push(result) },
    });
    await world.write("c1", "Send it");
    const all = ["Here you are.", "photo a.jpg | "];
    expect(await settled(world, all)).toEqual(all);
    await vi.waitFor(() => expect(ends).toHaveLength(1));
    const stored = [
      { type: "image", name: "a.jpg", source: { storedId: expect.any(String), sizeBytes: 3 } },
      { type: "ticket", id: 7 },
    ];
    expect(ends[0]?.attachments).toEqual(stored);
    const id = ends[0]?.requestId;
    await runInDurableObject(world.thread("c1"), (bot) => void die(bot)).catch(() => undefined);
    await runInDurableObject(world.thread("c1"), (bot) => {
      expect(bot.replyAttachments(id)).toEqual(stored);
      expect(bot.replyAttachments()).toEqual(stored);
      expect(bot.replyAttachments("unknown")).toEqual([]);
    });
  });
});

describe("attachments of an approved action", () => {
  it("come with its outcome", async () => {
    const world = attachingWorld([picture("a.jpg")], { options: { approval: true } });
    await world.write("c1", "Send it");
    await world.press("c1", "Approve");
    await vi.waitFor(() => expect(shown(world).slice(-2)).toEqual(["It has run.", "photo a.jpg | "]), {
      timeout: 8000,
    });
    expect(shown(world).filter((text) => text.includes("photo"))).toHaveLength(1);
  });
});
