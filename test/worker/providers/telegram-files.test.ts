import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { telegramMessenger } from "../../../providers/telegram/index.ts";
import type { Content } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { testEnv } from "../test-env.ts";

beforeEach(() => void captureLog());

const token = "700001:AAE-secret_part";
const ada = { id: 1001, is_bot: false, first_name: "Ada" };

interface Call {
  readonly method: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly (readonly [name: string, type: string, text: string])[];
}

/** A bot on Telegram whose command `/get` returns this content, and the calls that it makes. */
function botThatSends(content: () => Content | Promise<Content>) {
  const calls: Call[] = [];
  let lastId = 100;
  const state = { isDown: false };
  const world = createWorld({
    commands: { get: { description: "Sends something", handler: () => content() } },
    messengers: () => ({
      telegram: telegramMessenger({
        token,
        secretToken: "s3cret",
        userName: "support_bot",
        commandMenu: false,
        fetch: async (input, init) => {
          // A request that the runtime itself would refuse fails here.
          const request = new Request(input, init);
          const method = new URL(request.url).pathname.split("/").at(-1) ?? "";
          if (state.isDown) return new Response("down", { status: 503 });
          const call = await read(method, request);
          calls.push(call);
          lastId += 1;
          const document = { file_id: `file-${lastId}` };
          if (method !== "sendMediaGroup")
            return Response.json({ ok: true, result: { message_id: lastId, document } });
          lastId += 1;
          const result = [{ message_id: lastId - 1 }, { message_id: lastId }];
          return Response.json({ ok: true, result });
        },
      }),
    }),
  });
  let sent = 40;
  const write = async (text: string): Promise<void> => {
    sent += 1;
    const entities = [{ type: "bot_command", offset: 0, length: text.length }];
    const chat = { id: 1001, type: "private", first_name: "Ada" };
    const message = { message_id: sent, date: 1_800_000_000, chat, from: ada, text, entities };
    const response = await world.fetch("/messengers/telegram/webhook", {
      method: "POST",
      headers: { "X-Telegram-Bot-Api-Secret-Token": "s3cret" },
      body: JSON.stringify({ update_id: sent, message }),
    });
    await response.body?.cancel();
  };
  const sends = () => calls.filter(({ method }) => method.startsWith("send") && method !== "sendChatAction");
  const untilSent = (count: number) =>
    vi.waitFor(() => expect(sends()).toHaveLength(count), { timeout: 8000, interval: 10 });
  return { world, write, sends, untilSent, state };
}

async function read(method: string, request: Request): Promise<Call> {
  if (request.headers.get("content-type")?.startsWith("multipart/") !== true) {
    const json: Record<string, unknown> = await request.json();
    const fields = Object.fromEntries(Object.entries(json).map(([name, value]) => [name, String(value)]));
    return { method, fields, files: [] };
  }
  const form = await request.formData();
  const entries = [...form.entries()];
  const fields = entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []));
  const files = entries.flatMap(([, value]) => (typeof value === "string" ? [] : [value]));
  return {
    method,
    fields: Object.fromEntries(fields),
    files: await Promise.all(
      files.map(async (file): Promise<Call["files"][number]> => [file.name, file.type, await file.text()]),
    ),
  };
}

function conversation(world: World): ReturnType<World["child"]> {
  return testEnv.ScriptedBot.getByName(`${world.root}/thread:telegram:telegram%3A1001`);
}

const invoice = (text = "%PDF-1.7"): Content => ({
  kind: "files",
  files: [{ kind: "document", source: new TextEncoder().encode(text), name: "invoice.pdf" }],
  caption: "Your **invoice**",
});

describe("files that a bot sends, in workerd", () => {
  it("returns a file from a command, with its name, type and formatted caption", async () => {
    const { sends, untilSent, write } = botThatSends(() => invoice());
    await write("/get");
    await untilSent(1);
    expect(sends()[0]).toMatchObject({
      method: "sendDocument",
      fields: {
        chat_id: "1001",
        document: "attach://file0",
        caption: "Your invoice",
        caption_entities: JSON.stringify([{ type: "bold", offset: 5, length: 7 }]),
      },
      files: [["invoice.pdf", "application/pdf", "%PDF-1.7"]],
    });
  });

  it("says a file from bot code, from a stream, and sends it by its id the second time", async () => {
    const { sends, untilSent, world, write } = botThatSends(() => "Hello");
    await write("/get");
    await untilSent(1);
    const say = async (): Promise<string> =>
      runInDurableObject(conversation(world), (bot) => {
        const source = new Blob(["a,b"]).stream();
        return bot.say({ kind: "files", files: [{ kind: "document", source, name: "list.csv" }] });
      });
    const id = await say();
    await untilSent(2);
    await vi.waitFor(async () => {
      const receipt = await runInDurableObject(conversation(world), (bot) => bot.deliveries.get(id));
      expect(receipt).toMatchObject({ state: "delivered", messages: [{ messageId: "102" }] });
    });
    await say();
    await untilSent(3);
    expect(sends()[1]).toMatchObject({ files: [["list.csv", "text/csv", "a,b"]] });
    expect(sends()[2]).toMatchObject({ fields: { document: "file-102" }, files: [] });
  });

  it("sends an album in one call, and a place", async () => {
    const photo = (text: string) =>
      ({ kind: "photo", source: new TextEncoder().encode(text), name: `${text}.png` }) as const;
    const contents: Content[] = [
      { kind: "files", files: [photo("one"), photo("two")], caption: "Both" },
      { kind: "location", latitude: 52.5, longitude: 13.4, title: "The shop", address: "Market 1" },
    ];
    const { sends, untilSent, write } = botThatSends(() => contents.shift() ?? "none");
    await write("/get");
    await untilSent(1);
    expect(sends()[0]?.files.map(([name]) => name)).toEqual(["one.png", "two.png"]);
    expect(JSON.parse(sends()[0]?.fields["media"] ?? "")).toEqual([
      { type: "photo", media: "attach://file0", caption: "Both", caption_entities: [] },
      { type: "photo", media: "attach://file1" },
    ]);
    await write("/get");
    await untilSent(2);
    expect(sends()[1]).toMatchObject({
      method: "sendVenue",
      fields: { latitude: "52.5", title: "The shop" },
    });
  });

  it("streams 20 MB without ever holding all of it", async () => {
    const megabyte = 1024 * 1024;
    let made = 0;
    const source = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          made += 1;
          controller.enqueue(new Uint8Array(megabyte));
          if (made === 20) controller.close();
        },
      });
    const { sends, untilSent, write } = botThatSends(() => ({
      kind: "files",
      files: [{ kind: "document", source: source(), name: "large.bin" }],
    }));
    await write("/get");
    await untilSent(1);
    expect(sends()[0]?.files[0]?.[2].length).toBe(20 * megabyte);
  });

  it("sends a file after the object has died, from what it had stored", async () => {
    const { sends, state, untilSent, world, write } = botThatSends(() => invoice("%PDF kept"));
    state.isDown = true;
    await write("/get");
    await vi.waitFor(async () => {
      const open = await runInDurableObject(conversation(world), (bot) =>
        bot.deliveries.list({ state: "final" }),
      );
      expect(open).toHaveLength(1);
    });
    await runInDurableObject(conversation(world), (_bot, object) => object.abort("killed by a test")).catch(
      () => undefined,
    );
    state.isDown = false;
    await runDurableObjectAlarm(conversation(world));
    await untilSent(1);
    expect(sends()[0]?.files).toEqual([["invoice.pdf", "application/pdf", "%PDF kept"]]);
  });

  it.each<[string, Content, string]>([
    ["none", { kind: "files", files: [] as never }, "files-invalid"],
    [
      "an album that does not exist",
      { kind: "files", files: [invoiceFile("voice"), invoiceFile("photo")] },
      "files-invalid",
    ],
    ["without bytes", { kind: "files", files: [{ kind: "photo", source: new Uint8Array() }] }, "file-empty"],
    [
      "at a private address",
      { kind: "files", files: [{ kind: "photo", source: { url: "https://192.168.0.1/a.png" } }] },
      "file-address",
    ],
    ["nowhere on earth", { kind: "location", latitude: 91, longitude: 0 }, "location-invalid"],
  ])("refuses content of files that are %s", async (_name, content, code) => {
    const { untilSent, world, write } = botThatSends(() => "Hello");
    await write("/get");
    await untilSent(1);
    const refused = runInDurableObject(conversation(world), async (bot) =>
      bot.say(content).then(
        () => "sent",
        (error: unknown) => (error as { readonly code?: string }).code,
      ),
    );
    expect(await refused).toBe(code);
  });
});

function invoiceFile(kind: "voice" | "photo") {
  return { kind, source: new Uint8Array([1]) } as const;
}
