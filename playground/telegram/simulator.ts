import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { User } from "grammy/types";
import { ApiLog } from "./control/api-log.ts";
import { BotApi } from "./bot-api/bot-api.ts";
import { BotApiServer } from "./bot-api/bot-api-server.ts";
import { CallbackQueries } from "./chats/callback-queries.ts";
import { ChangeSignal } from "./webhook/change-signal.ts";
import { realClock } from "./clock.ts";
import type {
  BotDoor,
  ChatReference,
  SimChat,
  Simulator,
  SimulatorOptions,
  UserReference,
} from "./control/contract.ts";
import { ControlApi } from "./control/control-api.ts";
import { Faults } from "./control/faults.ts";
import { Flood } from "./control/flood.ts";
import { checkCallers, reachableHost } from "./control/trusted-callers.ts";
import { servePage } from "./control/page-server.ts";
import { People } from "./chats/people.ts";
import { StateFile } from "./control/state-file.ts";
import { Updates } from "./webhook/updates.ts";
import { messagesOf } from "./chats/visible-message.ts";
import { WebhookDelivery } from "./webhook/webhook-delivery.ts";
import { World } from "./chats/world.ts";
import type { ChatState } from "./chats/world.ts";

export type { ApiCall, CallFilter } from "./control/api-log.ts";
export type { CallbackAnswer } from "./chats/callback-queries.ts";
export type { Clock, Timer } from "./clock.ts";
export type { FaultKind, FaultRule } from "./control/faults.ts";
export { realFloodRules } from "./control/flood.ts";
export type { FloodRules } from "./control/flood.ts";
export type { AttachmentOptions, DocumentOptions, SendOptions } from "./chats/people.ts";
export type { UpdateAttempt, UpdateRecord } from "./webhook/updates.ts";
export type { VisibleAttachment, VisibleButton, VisibleMessage } from "./chats/visible-message.ts";
export type { Draft } from "./chats/world.ts";

export type {
  ChatReference,
  GroupProfile,
  SimChat,
  Simulator,
  SimulatorOptions,
  UserReference,
} from "./control/contract.ts";

const defaultToken = "7000000001:simulated-token";
const defaultWaitMs = 60_000;

/** Starts a simulated Bot API, with chats, people and a page to watch it. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const clock = options.clock ?? realClock;
  const token = options.token ?? defaultToken;
  const signal = new ChangeSignal();
  const onChange = (): void => signal.emit();

  const world = new World(clock, {
    id: options.bot?.id ?? (Number(token.split(":")[0]) || 7_000_000_001),
    is_bot: true,
    first_name: options.bot?.firstName ?? "Switchboard",
    username: options.bot?.username ?? "switchboard_bot",
    can_join_groups: true,
    can_read_all_group_messages: true,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
    has_topics_enabled: false,
    allows_users_to_create_topics: false,
    can_manage_bots: false,
    supports_join_request_queries: false,
  });
  if (options.webFiles !== undefined) world.webFiles = options.webFiles;
  const updates = new Updates(clock, options.firstUpdateId ?? 100_000_001);
  const log = new ApiLog(clock, options.callLimit ?? 100_000);
  const faults = new Faults();
  const callbackQueries = new CallbackQueries(clock, options.callbackTimeoutMs ?? 60_000);
  const delivery = new WebhookDelivery({
    clock,
    updates,
    redelivery: options.redelivery ?? { baseMs: 1000, maxMs: 60_000 },
    timeoutMs: options.webhookTimeoutMs ?? 60_000,
    onMethodInAnswer: ({ method, ...values }) => api.run(String(method), { values, files: new Map() }),
  });
  const context = {
    world,
    updates,
    delivery,
    callbackQueries,
    commands: new Map<string, readonly object[]>(),
  };
  const flood = options.flood ? new Flood(options.flood, clock) : undefined;
  const api = new BotApi(context, log, flood);
  const people = new People(world, updates, callbackQueries);
  const stateFile = options.stateFile === undefined ? undefined : new StateFile(options.stateFile, context);
  stateFile?.load();

  for (const source of [world, updates, log, faults, callbackQueries]) source.onChange = onChange;
  for (const record of updates.pending.values()) delivery.add(record);
  updates.onAdded = (record) => delivery.add(record);
  if (stateFile !== undefined) signal.subscribe(() => stateFile.scheduleSave());

  const setWebhook = (url: string, secretToken?: string): void => {
    delivery.setTarget({
      url,
      ...(secretToken !== undefined && secretToken !== "" && { secretToken }),
      maxConnections: options.maxConnections ?? 40,
    });
    onChange();
  };

  const botApiServer = new BotApiServer({
    token,
    api,
    world,
    updates,
    faults,
    log,
    clock,
    nextChange: () => signal.next(),
  });

  const chatOf = (chat: ChatReference): ChatState =>
    world.requireChat(typeof chat === "number" ? chat : chat.id);
  const userOf = (user: UserReference): User => world.requireUser(typeof user === "number" ? user : user.id);
  const anyMember = (chat: ChatState): User => {
    const id = [...chat.members][0];
    if (id === undefined) throw new Error(`Chat ${chat.id} has no members.`);
    return world.requireUser(id);
  };

  const host = options.host ?? "127.0.0.1";
  const checkCaller = checkCallers(host, options.allowHosts ?? []);
  const server = createServer((request, response) => {
    const url = parseRequestUrl(request.url);
    if (url === undefined) {
      response.writeHead(400).end();
      return;
    }
    const refusal = checkCaller(request, url.pathname);
    if (refusal !== undefined) {
      response.writeHead(403, { "content-type": "text/plain; charset=utf-8" }).end(refusal);
      return;
    }
    if (botApiServer.handle(request, response, url)) return;
    if (controlApi.handle(request, response, url)) return;
    void servePage(response, url.pathname);
  });
  server.keepAliveTimeout = 60_000;

  let url = "";
  let botProblem: string | undefined;
  let botDoor: BotDoor | undefined;
  const simulator: Simulator = {
    get url() {
      return url;
    },
    token,
    bot: world.bot,

    addUser: (profile) => world.addUser(profile),
    privateChat: (user) => toSimChat(world.privateChat(user)),
    addGroup: (profile) => {
      const chat = world.addGroup({
        title: profile.title,
        type: profile.forum === true ? "supergroup" : (profile.type ?? "supergroup"),
        isForum: profile.forum ?? false,
        members: profile.members,
        botIsAdministrator: profile.botIsAdministrator ?? false,
      });
      people.botAdded(chat, anyMember(chat));
      return toSimChat(chat);
    },
    addTopic: (chat, name) => people.addTopic(chatOf(chat), anyMember(chatOf(chat)), name),
    closeTopic: (chat, threadId) =>
      people.setTopicClosed(chatOf(chat), anyMember(chatOf(chat)), threadId, true),
    reopenTopic: (chat, threadId) =>
      people.setTopicClosed(chatOf(chat), anyMember(chatOf(chat)), threadId, false),
    users: () => [...world.users.values()],
    chats: () => [...world.chats.values()].map(toSimChat),

    sendText: (chat, user, text, sendOptions) =>
      people.sendText(chatOf(chat), userOf(user), text, sendOptions),
    editText: (chat, user, messageId, text) => people.editText(chatOf(chat), userOf(user), messageId, text),
    sendPhoto: (chat, user, photo) => people.sendPhoto(chatOf(chat), userOf(user), photo),
    sendDocument: (chat, user, document) => people.sendDocument(chatOf(chat), userOf(user), document),
    sendVoice: (chat, user, voice) => people.sendVoice(chatOf(chat), userOf(user), voice),
    sendAudio: (chat, user, audio) => people.sendAudio(chatOf(chat), userOf(user), audio),
    sendVideo: (chat, user, video) => people.sendVideo(chatOf(chat), userOf(user), video),
    sendAlbum: (chat, user, items) => people.sendAlbum(chatOf(chat), userOf(user), items),
    pressButton: (chat, user, messageId, data) =>
      people.pressButton(chatOf(chat), userOf(user), messageId, data),
    pressData: (chat, user, messageId, data) => people.pressData(chatOf(chat), userOf(user), messageId, data),
    react: (chat, user, messageId, emoji) => people.react(chatOf(chat), userOf(user), messageId, emoji),
    unpin: (chat, messageId) => people.unpin(chatOf(chat), messageId),
    pin: (chat, user, messageId) => people.pin(chatOf(chat), userOf(user), messageId),
    deleteMessage: (chat, messageId) => people.deleteMessage(chatOf(chat), messageId),
    join: (chat, user) => people.join(chatOf(chat), user),
    leave: (chat, user) => people.leave(chatOf(chat), userOf(user)),
    changeTitle: (chat, user, title) => people.changeTitle(chatOf(chat), userOf(user), title),
    upgradeGroup: (chat) => toSimChat(people.upgradeGroup(chatOf(chat), anyMember(chatOf(chat)))),
    blockBot: (user) => people.setBlocked(userOf(user), true),
    unblockBot: (user) => people.setBlocked(userOf(user), false),
    kickBot: (chat) => people.setBotStatus(chatOf(chat), anyMember(chatOf(chat)), "kicked"),
    readmitBot: (chat) => people.setBotStatus(chatOf(chat), anyMember(chatOf(chat)), "member"),
    stopDraft: (chat) => people.stopDraft(chatOf(chat)),
    postUpdate: (update) => updates.addRaw(update, rawTarget(update)),

    messages: (chat, filter) => messagesOf(world, chatOf(chat), filter?.threadId),
    typing: (chat, threadId) => world.actionIn(chatOf(chat), threadId) !== undefined,
    draft: (chat) => world.draftIn(chatOf(chat)),
    callbackAnswers: () => callbackQueries.list(),

    calls: (filter) => log.list(filter),
    updates: () => updates.records,
    webhookProblem: () => delivery.lastError?.message,
    setBotProblem: (problem) => {
      if (botProblem === problem) return;
      botProblem = problem;
      onChange();
    },
    setBotDoor: (door) => {
      botDoor = door;
      onChange();
    },
    waitFor: (predicate, waitOptions) =>
      signal.waitFor(predicate, waitOptions?.timeoutMs ?? defaultWaitMs, () => summary(log, updates)),
    onChange: (listener) => signal.subscribe(listener),
    noteChange: () => signal.emit(),

    fault: (rule) => faults.add(rule).remove,
    clearFaults: () => faults.clear(),
    setWebhook,
    deleteWebhook: () => delivery.setTarget(undefined),
    redeliverNow: () => delivery.redeliverNow(),
    close: async () => {
      delivery.close();
      controlApi.close();
      await stateFile?.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  const controlApi = new ControlApi({
    log,
    simulator,
    world,
    delivery,
    updates,
    faults,
    signal,
    commands: context.commands,
    botProblem: () => botProblem,
    botDoor: () => botDoor,
    suggestions: options.suggestions ?? [],
  });

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  url = `http://${reachableHost(host)}:${(server.address() as AddressInfo).port}`;
  if (options.webhook !== undefined) setWebhook(options.webhook.url, options.webhook.secretToken);
  return simulator;
}

/** Parses the path of a request. Undefined if it cannot be decoded. */
function parseRequestUrl(path = "/"): URL | undefined {
  try {
    const url = new URL(`http://simulator${path}`);
    decodeURIComponent(url.pathname);
    return url;
  } catch {
    return undefined; // a malformed address, or invalid percent-encoding
  }
}

function toSimChat(chat: ChatState): SimChat {
  const { id, type, title, isForum } = chat;
  return { id, type, isForum, ...(title !== undefined && { title }) };
}

/** Returns the destination of a raw update: the chat in its payload. */
function rawTarget(update: object): { readonly chatId?: number; readonly lane: string } {
  for (const [kind, payload] of Object.entries(update)) {
    if (typeof payload !== "object" || payload === null) continue;
    const holder = "message" in payload && !("chat" in payload) ? payload.message : payload;
    const chat: unknown =
      typeof holder === "object" && holder !== null && "chat" in holder ? holder.chat : undefined;
    if (typeof chat === "object" && chat !== null && "id" in chat && typeof chat.id === "number") {
      const lane = kind === "message" || kind === "edited_message" ? "messages" : kind;
      return { chatId: chat.id, lane: `${lane}:${chat.id}` };
    }
  }
  return { lane: "other" };
}

function summary(log: ApiLog, updates: Updates): string {
  const calls = log
    .list()
    .slice(-12)
    .map((call) => `  ${call.method} ${call.chatId ?? ""} ${call.outcome} ${call.description ?? ""}`);
  const pending = [...updates.pending.values()].map(
    (record) => `  update ${record.id} ${record.kind} after ${record.attempts.length} attempts`,
  );
  return ["The last calls:", ...calls, "Undelivered:", ...pending].join("\n");
}
