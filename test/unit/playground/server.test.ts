import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputFile, InputMediaBuilder } from "grammy";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSimulator } from "../../../playground/telegram/simulator.ts";
import type { SimChat, Simulator } from "../../../playground/telegram/simulator.ts";
import { apiOf } from "./echo-bot.ts";

let simulator: Simulator;
let chat: SimChat;

beforeEach(async () => {
  simulator = await startSimulator();
  chat = simulator.privateChat(simulator.addUser({ first_name: "Alice" }));
});
afterEach(() => simulator.close());

const call = async (
  method: string,
  init?: RequestInit,
  token = simulator.token,
): Promise<Record<string, unknown>> => {
  const response = await fetch(`${simulator.url}/bot${token}/${method}`, init);
  return (await response.json()) as Record<string, unknown>;
};

describe("the Bot API server", () => {
  it("lists the call that sets the webhook without its secret", async () => {
    const url = "http://127.0.0.1:9/hook";
    await call("setWebhook", { method: "POST", body: new URLSearchParams({ url, secret_token: "s3cret" }) });
    const calls = await (await fetch(`${simulator.url}/_sim/calls`)).text();
    expect(calls).toContain(url);
    expect(calls).toContain("(hidden)");
    expect(calls).not.toContain("s3cret");
  });

  it("reads a query, a form, a multipart form and JSON alike", async () => {
    const form = new FormData();
    form.set("chat_id", String(chat.id));
    form.set("text", "multipart\r\nbody");
    const json = { chat_id: chat.id, text: "json" };
    await call(`sendMessage?chat_id=${chat.id}&text=query`);
    await call("sendMessage", {
      method: "POST",
      body: new URLSearchParams({ chat_id: String(chat.id), text: "form" }),
    });
    await call("SENDMESSAGE", { method: "POST", body: form });
    await call("sendMessage", {
      method: "POST",
      body: JSON.stringify(json),
      headers: { "content-type": "application/json" },
    });
    expect(simulator.messages(chat).map((message) => message.text)).toEqual([
      "query",
      "form",
      "multipart\nbody",
      "json",
    ]);
  });

  it("reads entities and keyboards that come as JSON in a string", async () => {
    const body = new URLSearchParams({
      chat_id: String(chat.id),
      text: "bold",
      entities: JSON.stringify([{ type: "bold", offset: 0, length: 4 }]),
      reply_markup: JSON.stringify({ inline_keyboard: [[{ text: "A", callback_data: "a" }]] }),
    });
    await call("sendMessage", { method: "POST", body });
    expect(simulator.messages(chat)).toMatchObject([
      { entities: [{ type: "bold" }], buttons: [[{ text: "A", callbackData: "a" }]] },
    ]);
  });

  it("refuses a wrong token, an unknown method and broken JSON", async () => {
    expect(await call("getMe", {}, "1:wrong")).toEqual({
      ok: false,
      error_code: 401,
      description: "Unauthorized",
    });
    expect(await call("getMe", {}, "nonsense")).toMatchObject({ error_code: 404, description: "Not Found" });
    expect(await call("makeCoffee")).toMatchObject({
      error_code: 404,
      description: "Not Found: method not found",
    });
    const broken = { method: "POST", body: "{", headers: { "content-type": "application/json" } };
    expect(await call("sendMessage", broken)).toMatchObject({ error_code: 400 });
  });

  it("describes the bot, with privacy mode off", async () => {
    expect(await apiOf(simulator).getMe()).toMatchObject({
      is_bot: true,
      username: "switchboard_bot",
      can_read_all_group_messages: true,
    });
  });

  it("takes albums of uploads and of files that it has", async () => {
    const api = apiOf(simulator);
    const upload = new InputFile(Buffer.from("one"), "one.txt");
    const first = await api.sendDocument(chat.id, upload);
    const album = await api.sendMediaGroup(chat.id, [
      InputMediaBuilder.document(new InputFile(Buffer.from("two"), "two.txt"), { caption: "Both" }),
      InputMediaBuilder.document(first.document.file_id),
    ]);
    expect(album).toHaveLength(2);
    expect(new Set(simulator.messages(chat).map((message) => message.mediaGroupId)).size).toBe(2);
    expect(simulator.messages(chat).map((message) => message.attachments[0]?.sizeBytes)).toEqual([3, 3, 3]);
    expect(simulator.messages(chat)[1]?.text).toBe("Both");
  });

  it("gives each size of a photo a file of its own, and the same ones when it is sent again or after a restart", async () => {
    const folder = await mkdtemp(join(tmpdir(), "simulator-"));
    const stateFile = join(folder, "state.json");
    const before = await startSimulator({ stateFile });
    const bytes = Buffer.alloc(40_000);
    bytes.write("\u0089PNG", "latin1");
    bytes.writeUInt32BE(1600, 16);
    bytes.writeUInt32BE(800, 20);
    const person = before.privateChat(before.addUser());
    const sizes = before.sendPhoto(person, person, { bytes }).photo ?? [];
    expect(sizes.map(({ width, height }) => [width, height])).toEqual([
      [90, 45],
      [320, 160],
      [800, 400],
      [1280, 640],
      [1600, 800],
    ]);
    for (const field of ["file_id", "file_unique_id", "file_size"] as const) {
      expect(new Set(sizes.map((size) => size[field])).size).toBe(5);
    }
    expect(sizes.map((size) => size.file_size)).toEqual([127, 1600, 10_000, 25_600, 40_000]);
    const again = await apiOf(before).sendPhoto(person.id, sizes[1]?.file_id ?? "");
    expect(again.photo).toEqual(sizes);
    await before.close();
    const after = await startSimulator({ stateFile });
    for (const { file_id, file_unique_id, file_size } of sizes) {
      const file = await apiOf(after).getFile(file_id);
      expect(file).toMatchObject({ file_id, file_unique_id, file_size });
      const response = await fetch(`${after.url}/file/bot${after.token}/${file.file_path}`);
      expect((await response.arrayBuffer()).byteLength).toBe(40_000);
    }
    await after.close();
    await rm(folder, { recursive: true });
  });

  it("refuses to hand out a file of more than 20 MB, and a photo that is none", async () => {
    const api = apiOf(simulator);
    const alice = simulator.users()[0];
    if (alice === undefined) throw new Error("nobody is there");
    const bytes = new Uint8Array(20 * 1024 * 1024 + 1);
    const message = simulator.sendDocument(chat, alice, { bytes, fileName: "big.bin", mimeType: "x/y" });
    await expect(api.getFile(message.document?.file_id ?? "")).rejects.toThrow(
      "400: Bad Request: file is too big",
    );
    await expect(api.sendPhoto(chat.id, new InputFile(Buffer.from("no image"), "a.png"))).rejects.toThrow(
      "400: Bad Request: IMAGE_PROCESS_FAILED",
    );
  });
});

describe("the control API", () => {
  const operate = async (
    name: string,
    body: object,
  ): Promise<{ status: number; answer: Record<string, unknown> }> => {
    const response = await fetch(`${simulator.url}/_sim/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
  };

  it("does what people do", async () => {
    const { answer } = await operate("sendText", { chatId: chat.id, userId: chat.id, text: "Hello" });
    expect(answer).toMatchObject({ message: { text: "Hello" } });
    const messages = await fetch(`${simulator.url}/_sim/messages?chatId=${chat.id}`);
    expect(await messages.json()).toMatchObject({ messages: [{ text: "Hello" }] });
    await operate("fault", { kind: "429", retryAfter: 3, times: -1 });
    await expect(apiOf(simulator).getMe()).rejects.toThrow("retry after 3");
    await operate("clearFaults", {});
    await apiOf(simulator).getMe();
  });

  it("says what is wrong with a request", async () => {
    expect(await operate("sendText", { chatId: 5, userId: 5, text: "x" })).toEqual({
      status: 400,
      answer: { error: "The simulator has no chat 5." },
    });
    expect((await operate("sendText", {})).status).toBe(400);
    expect((await operate("nothing", {})).status).toBe(404);
  });

  it("refuses a text and a caption that Telegram's clients never send in one message", async () => {
    const place = { chatId: chat.id, userId: chat.id };
    const longest = simulator.sendText(chat, chat.id, "x".repeat(4096));
    const tooLong = {
      status: 400,
      answer: {
        error:
          "A person's message has at most 4096 characters (UTF-16 units); this one has 4097. " +
          "Send it in several messages, as Telegram's clients do.",
      },
    };
    const text = "x".repeat(4097);
    expect(await operate("sendText", { ...place, text })).toEqual(tooLong);
    expect(await operate("editText", { ...place, messageId: longest.message_id, text })).toEqual(tooLong);
    const base64 = Buffer.from("x").toString("base64");
    const file = { ...place, base64, fileName: "a.txt", mimeType: "text/plain" };
    expect((await operate("sendDocument", { ...file, caption: "x".repeat(1024) })).status).toBe(200);
    expect((await operate("sendDocument", { ...file, caption: "x".repeat(1025) })).answer.error).toContain(
      "A person's caption has at most 1024 characters (UTF-16 units); this one has 1025.",
    );
    expect(simulator.messages(chat).map((message) => message.text.length)).toEqual([4096, 1024]);
  });

  it("gives a part of a file, which players ask for", async () => {
    const bytes = Buffer.from("0123456789");
    simulator.sendVoice(chat, chat.id, { bytes });
    const fileId = simulator.messages(chat)[0]?.attachments[0]?.fileId ?? "";
    const part = async (range: string) => {
      const response = await fetch(`${simulator.url}/_sim/files/${fileId}`, { headers: { range } });
      return [response.status, response.headers.get("content-range"), await response.text()];
    };
    expect(await part("bytes=2-4")).toEqual([206, "bytes 2-4/10", "234"]);
    expect(await part("bytes=7-")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await part("bytes=7-99")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await part("bytes=10-")).toEqual([200, null, "0123456789"]);
  });

  it("cannot be driven by a form of another page", async () => {
    const response = await fetch(`${simulator.url}/_sim/clearFaults`, { method: "POST", body: "{}" });
    expect(response.status).toBe(415);
    expect((await fetch(`${simulator.url}/_sim/clearFaults`)).status).toBe(405);
  });

  /** Follows what a page shows. Each call waits for the next view. */
  const watch = async (query: string) => {
    const response = await fetch(`${simulator.url}/_sim/view?${query}`);
    const reader = response.body?.getReader();
    return {
      next: async () => {
        const { value } = (await reader?.read()) ?? {};
        const [, data = ""] = /^event: view\ndata: (.*)\n\n$/.exec(new TextDecoder().decode(value)) ?? [];
        const { lists, view } = JSON.parse(data) as Record<"lists" | "view", Record<string, unknown>>;
        return { ...view, ...lists };
      },
      close: () => reader?.cancel(),
    };
  };

  it("gives all that a page shows at once, with no more of a message's versions than their number", async () => {
    const view = async (query: string) => {
      const stream = await watch(query);
      const first = await stream.next();
      await stream.close();
      return first;
    };
    const api = apiOf(simulator);
    await api.setMyCommands([{ command: "help", description: "Help" }]);
    const { message_id } = await api.sendMessage(chat.id, "One");
    await api.editMessageText(chat.id, message_id, "One, two");
    simulator.sendText(chat, chat.id, "Three");
    const open = await view(`chatId=${chat.id}&log=calls`);
    expect(open).toMatchObject({
      state: { bot: { username: "switchboard_bot" } },
      chats: [{ id: chat.id, last: { text: "Three" } }],
      chat: { commands: [{ command: "help" }] },
      messages: [
        { text: "One, two", versions: 2, isGrowing: true },
        { text: "Three", versions: 1, isGrowing: false },
      ],
      calls: [{ method: "setMyCommands" }, { method: "sendMessage" }, { method: "editMessageText" }],
    });
    expect(JSON.stringify(open.messages)).not.toContain('"One"');
    expect(open).not.toHaveProperty("updates");
    expect(await view("log=updates")).toMatchObject({ updates: [{ kind: "message" }] });
    // The state file of another day may be behind the page: the chat of its address need not exist.
    expect(Object.keys(await view("chatId=404"))).toEqual(["state", "chats"]);
    expect((await fetch(`${simulator.url}/_sim/view?chatId=x`)).status).toBe(400);
  });

  it("sends what a page shows again when it has changed, and not for changes that the page does not show", async () => {
    const api = apiOf(simulator);
    const stream = await watch(`chatId=${chat.id}&log=updates`);
    expect(await stream.next()).toMatchObject({ messages: [], updates: [] });
    const changes = (await fetch(`${simulator.url}/_sim/events`)).body?.getReader();
    await changes?.read();
    await api.getMe();
    await changes?.read();
    await api.sendMessage(chat.id, "One");
    expect(await stream.next()).toMatchObject({ messages: [{ text: "One" }] });
    await Promise.all([stream.close(), changes?.cancel()]);
  });

  it("sends the number alone of what a page has already", async () => {
    const stream = await watch(`chatId=${chat.id}&log=updates`);
    await stream.next();
    const first = simulator.sendText(chat, chat.id, "One");
    expect(await stream.next()).toMatchObject({
      messages: [{ text: "One" }],
      updates: [{ kind: "message" }],
    });
    simulator.sendText(chat, chat.id, "Two");
    expect(await stream.next()).toMatchObject({
      messages: [first.message_id, { text: "Two" }],
      updates: [expect.any(Number), { kind: "message" }],
    });
    simulator.deleteMessage(chat, first.message_id);
    expect(await stream.next()).toMatchObject({ messages: [first.message_id + 1] });
    await stream.close();
  });

  it("sends each long message about once to each of many pages, while hundreds of them come", async () => {
    const pages = Array.from({ length: 4 }, async () => {
      const response = await fetch(`${simulator.url}/_sim/view?chatId=${chat.id}`);
      let length = 0;
      let end = "";
      for await (const part of response.body ?? []) {
        const text = Buffer.from(part).toString("latin1");
        length += text.length;
        end = `${end}${text}`.slice(-20_000);
        if (end.includes('"text":"The last one"')) break;
      }
      return length;
    });
    const changes = (await fetch(`${simulator.url}/_sim/events`)).body?.getReader();
    for (let count = 0; count < 200; count += 1) {
      if (count % 20 === 0) await changes?.read();
      simulator.sendText(chat, chat.id, `${count} ${"x".repeat(2000)}`);
    }
    await changes?.cancel();
    simulator.sendText(chat, chat.id, "The last one");
    expect(Math.max(...(await Promise.all(pages)))).toBeLessThan(2 * 200 * 2000);
  });

  it("tells of changes by a stream", async () => {
    const response = await fetch(`${simulator.url}/_sim/events`);
    const reader = response.body?.getReader();
    await reader?.read();
    simulator.addUser();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toContain("event: change");
    await reader?.cancel();
  });
});

describe("the page", () => {
  it("comes with one script and one style, which need nothing else", async () => {
    const page = await fetch(simulator.url);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
    const html = await page.text();
    const files = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)].map(([, name]) => name);
    expect(files).toEqual(["icon.svg", "page.css", "app.js"]);
    const [script, style] = await Promise.all(
      ["app.js", "page.css"].map(async (name) => {
        const response = await fetch(`${simulator.url}/${name}`);
        return [response.headers.get("content-type"), await response.text()] as const;
      }),
    );
    expect(script?.[0]).toBe("text/javascript; charset=utf-8");
    expect(script?.[1]).toContain("The simulator cannot be reached.");
    expect(script?.[1]).not.toMatch(/\bfrom\s*"|\bimport\b/);
    expect(style?.[0]).toBe("text/css; charset=utf-8");
    expect(style?.[1]).toContain(".bubble");
    expect(style?.[1]).not.toMatch(/@import|url\(/);
    expect(script?.[1]).not.toContain(simulator.token);
    expect((await fetch(`${simulator.url}/page-state.js`)).status).toBe(404);
    expect((await fetch(`${simulator.url}/..%2Fsimulator.ts`)).status).toBe(404);
  });
});

describe("the state file", () => {
  it("keeps chats, numbers, files, commands and undelivered updates over a restart", async () => {
    const folder = await mkdtemp(join(tmpdir(), "simulator-"));
    const stateFile = join(folder, "state.json");
    const before = await startSimulator({ stateFile });
    const alice = before.addUser({ first_name: "Alice" });
    const group = before.addGroup({ title: "F", forum: true, members: [alice] });
    const topic = before.addTopic(group, "Returns");
    const sent = before.sendDocument(group, alice, {
      bytes: Buffer.from("hello"),
      fileName: "a.txt",
      mimeType: "text/plain",
      threadId: topic,
    });
    const commands = [{ command: "start", description: "Begin" }];
    await apiOf(before).setMyCommands(commands);
    await before.close();

    const after = await startSimulator({ stateFile });
    expect(after.messages(group.id, { threadId: topic }).at(-1)).toMatchObject({
      attachments: [{ fileName: "a.txt", sizeBytes: 5 }],
    });
    expect(after.updates().map((record) => record.state)).toContain("pending");
    const next = after.sendText(group.id, alice.id, "Next");
    expect(next.message_id).toBe(sent.message_id + 1);
    expect(await apiOf(after).getMyCommands()).toEqual(commands);
    expect(after.addUser().id).not.toBe(alice.id);
    await after.close();
    await rm(folder, { recursive: true });
  });
});
