import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../../../playground/telegram/simulator.ts";
import { telegramMessenger } from "../../../providers/telegram/index.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import type { PlatformContext } from "../../../src/core/chat/messenger.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import type { Address, Surface } from "../../../src/core/chat/surface.ts";
import { answerAsRoot, createPlatformContext, createReceiver, throughStorage } from "./platform-context.ts";

/** The provider between a Bot API that behaves as the documented one, and an inbox that is a list. */
async function createBot() {
  const simulator = await startSimulator({
    bot: { username: "support_bot" },
    redelivery: { baseMs: 10, maxMs: 50 },
  });
  const { platform } = telegramMessenger({
    token: simulator.token,
    secretToken: "s3cret",
    apiBaseUrl: simulator.url,
    fetch: (input, init) => systemDeps.fetch(input, init),
  });
  const identity = { userId: String(simulator.bot.id), userName: "support_bot" };
  const context: PlatformContext = createPlatformContext({ identity: async () => identity }).context;
  const events = new Map<string, MessengerEvent>();
  let deliveries = 0;
  let failures = 0;

  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = new Request("https://bot.example/webhook", {
      method: "POST",
      body: Buffer.concat(chunks),
    });
    deliveries += 1;
    const receiver = createReceiver(async () => {
      failures -= 1;
      if (failures >= 0) throw new Error("disk full");
    });
    const response = await answerAsRoot(platform.receive(request, context, receiver));
    for (const stored of throughStorage(receiver.accepted)) {
      events.set(stored.key, await platform.parse(stored, context));
    }
    outgoing.writeHead(response.status, { "content-type": "application/json" }).end(await response.text());
    changed();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  simulator.setWebhook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`, "s3cret");

  let changed: () => void = () => undefined;
  const eventWhere = async (matches: (event: MessengerEvent) => boolean): Promise<MessengerEvent> => {
    for (;;) {
      const found = [...events.values()].find(matches);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => (changed = resolve));
    }
  };
  open.push({ simulator, server });
  return {
    simulator,
    platform,
    context,
    surface: platform.surface(context),
    eventWhere,
    eventOf: (text: string) => eventWhere((event) => event.message?.text === text),
    deliveries: () => deliveries,
    failNextStores: (count: number) => (failures = count),
  };
}

const open: { simulator: Simulator; server: Server }[] = [];
afterEach(async () => {
  for (const { simulator, server } of open.splice(0)) {
    await simulator.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

function addressOf({ thread, messengerId }: MessengerEvent): Address {
  const { id, chatId, topicId, isDirectMessage } = thread;
  return {
    messengerId,
    threadId: id,
    chatId,
    ...(topicId === undefined ? {} : { topicId }),
    isDirectMessage,
  };
}

const signal = () => AbortSignal.timeout(5000);

async function kindOf(surface: Surface, run: Promise<unknown>): Promise<string> {
  return run.then(
    () => "done",
    (error: unknown) => surface.classifyError(error).kind,
  );
}

describe("with a Bot API", () => {
  it("tells whether a person is in a group", async () => {
    const { context, platform, simulator } = await createBot();
    const ada = simulator.addUser({ first_name: "Ada", username: "ada" });
    const bob = simulator.addUser({ first_name: "Bob", username: "bob" });
    const group = simulator.addGroup({ title: "Team", members: [ada] });
    const isMember = async (userId: number) =>
      platform.isMember?.(String(group.id), String(userId), context, signal());
    expect([await isMember(ada.id), await isMember(bob.id)]).toEqual([true, false]);
    const asked = isMember(999_999_999).then(() => {});
    expect(await kindOf(platform.surface(context), asked)).toBe("rejected");
  });

  it("answers a person in the thread and under the message they wrote", async () => {
    const { simulator, surface, eventOf } = await createBot();
    const ada = simulator.addUser({ first_name: "Ada", username: "ada" });
    const chat = simulator.privateChat(ada);
    simulator.sendText(chat, ada, "hello");
    const event = await eventOf("hello");
    const address = addressOf(event);
    await surface.typing(address, { signal: signal() });
    expect(simulator.typing(chat)).toBe(true);
    const { messageId } = await surface.post(
      address,
      { text: "hi Ada", entities: [{ type: "bold", offset: 3, length: 3 }], replyTo: event.message?.id },
      { signal: signal() },
    );
    await surface.edit(address, messageId, { text: "hi, Ada", entities: [] }, { signal: signal() });
    const shown = simulator.messages(chat).map((message) => message.text);
    expect(shown).toEqual(["hello", "hi, Ada"]);
    const same = surface.edit(address, messageId, { text: "hi, Ada", entities: [] }, { signal: signal() });
    expect(await kindOf(surface, same)).toBe("unchanged");
    await surface.remove(address, messageId, { signal: signal() });
    expect(simulator.messages(chat)).toHaveLength(1);
    const gone = surface.edit(address, messageId, { text: "x", entities: [] }, { signal: signal() });
    expect(await kindOf(surface, gone)).toBe("missing");
  });

  it("keeps topics, General and the rest of a forum apart", async () => {
    const { simulator, surface, eventOf } = await createBot();
    const ada = simulator.addUser({ first_name: "Ada" });
    const forum = simulator.addGroup({ title: "Team", forum: true, members: [ada] });
    const orders = simulator.addTopic(forum, "Orders");
    simulator.sendText(forum, ada, "@support_bot in orders", { threadId: orders });
    simulator.sendText(forum, ada, "@support_bot in general");
    simulator.sendText(forum, ada, "just talking", { threadId: orders });
    const inTopic = await eventOf("@support_bot in orders");
    const inGeneral = await eventOf("@support_bot in general");
    const talk = await eventOf("just talking");
    expect([inTopic.kind, inGeneral.kind, talk.kind]).toEqual(["mention", "mention", "message"]);
    expect(inTopic.thread.id).toBe(`telegram:${forum.id}:${orders}`);
    expect(talk.thread.id).toBe(inTopic.thread.id);
    expect(inGeneral.thread.id).toBe(`telegram:${forum.id}`);
    expect(talk.message?.quoted).toBeUndefined();
    for (const [event, text] of [
      [inTopic, "for orders"],
      [inGeneral, "for all"],
    ] as const) {
      await surface.typing(addressOf(event), { signal: signal() });
      await surface.post(addressOf(event), { text, entities: [] }, { signal: signal() });
    }
    const texts = (threadId: number) =>
      simulator.messages(forum, { threadId }).map((message) => message.text);
    expect(texts(orders)).toContain("for orders");
    expect(texts(0)).toContain("for all");
    expect(texts(0)).not.toContain("for orders");
  });

  it("takes a reply in an ordinary supergroup for one of its chat, and one to the bot for a mention", async () => {
    const { simulator, surface, eventOf } = await createBot();
    const ada = simulator.addUser({ first_name: "Ada" });
    const group = simulator.addGroup({ title: "Team", members: [ada] });
    simulator.sendText(group, ada, "@support_bot hi");
    const first = await eventOf("@support_bot hi");
    const { messageId } = await surface.post(
      addressOf(first),
      { text: "hello", entities: [] },
      { signal: signal() },
    );
    simulator.sendText(group, ada, "and now?", { replyTo: Number(messageId) });
    const reply = await eventOf("and now?");
    expect(reply).toMatchObject({
      kind: "mention",
      thread: { id: first.thread.id },
      message: { quoted: { id: messageId, text: "hello", isFromBot: true } },
    });
  });

  it("reads edits, presses, files and memberships", async () => {
    const { simulator, platform, context, surface, eventOf, eventWhere } = await createBot();
    const ada = simulator.addUser({ first_name: "Ada" });
    const chat = simulator.privateChat(ada);
    const sent = simulator.sendText(chat, ada, "helo");
    const original = await eventOf("helo");
    simulator.editText(chat, ada, sent.message_id, "hello!");
    const edit = await eventOf("hello!");
    expect(edit).toMatchObject({ kind: "message-edited", message: { id: original.message?.id } });

    const { messageId } = await surface.post(
      addressOf(original),
      { text: "sure?", entities: [] },
      { signal: signal() },
    );
    const query = simulator.pressData(chat, ada, Number(messageId), "yes:1");
    const press = await eventWhere((event) => event.kind === "action");
    expect(press.action).toEqual({ id: query.id, data: "yes:1", messageId });
    await surface.answerAction(addressOf(press), { id: query.id }, { text: "Done" }, { signal: signal() });
    expect(simulator.callbackAnswers()).toMatchObject([{ text: "Done" }]);
    const late = surface.answerAction(addressOf(press), { id: query.id }, undefined, { signal: signal() });
    expect(await kindOf(surface, late)).toBe("missing");

    const bytes = new TextEncoder().encode("a,b\n1,2\n");
    simulator.sendDocument(chat, ada, {
      bytes,
      fileName: "orders.csv",
      mimeType: "text/csv",
      caption: "see",
    });
    const [file] = (await eventOf("see")).message?.attachments ?? [];
    expect(file).toMatchObject({ kind: "document", name: "orders.csv", mediaType: "text/csv", sizeBytes: 8 });
    if (file === undefined) return;
    const fetched = await platform.fetchAttachment(file.reference, context, {
      maxBytes: 100,
      signal: signal(),
    });
    expect(new TextDecoder().decode(fetched.bytes)).toBe("a,b\n1,2\n");

    simulator.blockBot(ada);
    await eventWhere((event) => event.kind === "membership" && event.detail === "blocked");
    const blocked = surface.post(
      addressOf(original),
      { text: "still there?", entities: [] },
      { signal: signal() },
    );
    expect(await kindOf(surface, blocked)).toBe("gone");
    simulator.unblockBot(ada);
    await eventWhere((event) => event.kind === "membership" && event.detail === "unblocked");
  });

  it("gets an event again that could not be stored, under the same key (I1, I2)", async () => {
    const { simulator, eventOf, deliveries, failNextStores } = await createBot();
    const ada = simulator.addUser({ first_name: "Ada" });
    const chat = simulator.privateChat(ada);
    failNextStores(2);
    const sent = simulator.sendText(chat, ada, "again");
    const event = await eventOf("again");
    expect(event.key).toBe(`m:${chat.id}:${sent.message_id}`);
    expect(deliveries()).toBe(3);
  });

  it.each([
    [
      { kind: "429", retryAfter: 7 } as const,
      { kind: "retry-after", code: "too-many-requests", retryAfterMs: 7000 },
      false,
    ],
    [{ kind: "5xx", body: "json" } as const, { kind: "transient", code: "server-error" }, false],
    [{ kind: "5xx", status: 502, body: "html" } as const, { kind: "unknown", code: "gateway-error" }, false],
    [{ kind: "cut-before" } as const, { kind: "unknown", code: "connection-lost" }, false],
    [{ kind: "cut-after" } as const, { kind: "unknown", code: "connection-lost" }, true],
    [{ kind: "hang", processed: true } as const, { kind: "unknown", code: "timed-out" }, true],
  ])("knows what a fault means: %o", async (fault, failure, isVisible) => {
    const { simulator, surface, eventOf } = await createBot();
    const ada = simulator.addUser({ first_name: "Ada" });
    const chat = simulator.privateChat(ada);
    simulator.sendText(chat, ada, "hello");
    const address = addressOf(await eventOf("hello"));
    simulator.fault({ ...fault, method: "sendMessage" });
    const limit = new AbortController();
    const posting = surface.post(address, { text: "answer", entities: [] }, { signal: limit.signal });
    await simulator.waitFor(() => simulator.calls({ method: "sendMessage" }).length > 0);
    if (fault.kind === "hang") limit.abort();
    const error: unknown = await posting.catch((caught: unknown) => caught);
    expect(surface.classifyError(error)).toEqual(failure);
    expect(simulator.messages(chat).some((message) => message.text === "answer")).toBe(isVisible);
  });

  it("knows that nothing was sent to a server that is not there", async () => {
    const { simulator, surface, eventOf } = await createBot();
    const ada = simulator.addUser({ first_name: "Ada" });
    simulator.sendText(simulator.privateChat(ada), ada, "hello");
    const address = addressOf(await eventOf("hello"));
    await simulator.close();
    const posting = surface.post(address, { text: "answer", entities: [] }, { signal: signal() });
    expect(await posting.catch((error: unknown) => surface.classifyError(error))).toEqual({
      kind: "transient",
      code: "no-connection",
    });
  });
});
