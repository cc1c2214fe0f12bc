import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { readBody } from "../bot-api/bot-api-server.ts";
import type { ApiLog } from "./api-log.ts";
import type { ChangeSignal } from "../webhook/change-signal.ts";
import { commandsIn } from "../chats/command-menu.ts";
import { botOperations } from "./bot-operations.ts";
import { describeState } from "./describe-state.ts";
import { describeCalls, viewSchema } from "./describe-view.ts";
import type { ViewSources } from "./describe-view.ts";
import { ViewStreams } from "./view-streams.ts";

const maxBodyBytes = 80 * 1024 * 1024;
/** Shortest time between two events to the page, in milliseconds. Quick changes reach it as one event. */
const eventEveryMs = 40;

export interface ControlApiOptions extends ViewSources {
  readonly log: ApiLog;
  readonly signal: ChangeSignal;
}

const id = z.coerce.number().int();
const placement = { replyTo: id.optional(), quote: z.string().optional(), threadId: id.optional() };
const attachment = { base64: z.string(), caption: z.string().optional(), ...placement };

const faultSchema = z.object({
  kind: z.enum([
    "429",
    "5xx",
    "400",
    "403",
    "slow",
    "hang",
    "cut-before",
    "cut-after",
    "late",
    "rich-refused",
  ]),
  method: z.string().optional(),
  chatId: id.optional(),
  /** -1: until removed. */
  times: z.number().int().optional(),
  skip: z.number().int().nonnegative().optional(),
  retryAfter: z.number().default(5),
  status: z.number().int().min(500).max(599).default(502),
  body: z.enum(["html", "json"]).default("html"),
  description: z.string().default("simulated"),
  delayMs: z.number().nonnegative().default(3000),
  processed: z.boolean().default(false),
  unknown: z.boolean().default(true),
});

type Operation = (body: unknown) => unknown;

/** Serves `/_sim/...`: everything that a person can do, as JSON over HTTP, for the page and for other test setups. */
export class ControlApi {
  readonly #options: ControlApiOptions;
  readonly #operations: Readonly<Record<string, Operation>>;
  readonly #streams = new Set<ServerResponse>();
  readonly #views: ViewStreams;
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ControlApiOptions) {
    this.#options = options;
    this.#operations = createOperations(options);
    this.#views = new ViewStreams(options);
    this.#stopListening = options.signal.subscribe(() => this.#announce());
  }

  handle(request: IncomingMessage, response: ServerResponse, url: URL): boolean {
    if (!url.pathname.startsWith("/_sim/")) return false;
    const name = url.pathname.slice("/_sim/".length);
    if (name === "events") this.#stream(response);
    else if (name === "view") this.#view(response, url);
    else if (name.startsWith("files/")) this.#file(request, response, name.slice("files/".length));
    else void this.#run(request, response, name, url);
    return true;
  }

  close(): void {
    this.#stopListening();
    clearTimeout(this.#timer);
    for (const stream of this.#streams) stream.end();
    this.#views.close();
  }

  async #run(request: IncomingMessage, response: ServerResponse, name: string, url: URL): Promise<void> {
    const operation = this.#operations[name];
    if (operation === undefined) return reply(response, 404, { error: `There is no operation "${name}".` });
    // Only this page and programs may act. A form of another website cannot send JSON.
    const isJson = (request.headers["content-type"] ?? "").startsWith("application/json");
    if (request.method === "POST" && !isJson)
      return reply(response, 415, { error: "Send application/json." });
    if (request.method !== "POST" && !readOnly.has(name)) return reply(response, 405, { error: "Use POST." });
    try {
      const raw = await readBody(request, maxBodyBytes);
      if (raw === undefined) return reply(response, 413, { error: "The body is too long." });
      const body: unknown =
        raw.length === 0 ? Object.fromEntries(url.searchParams) : JSON.parse(raw.toString());
      reply(response, 200, (await operation(body)) ?? {});
    } catch (error) {
      // The request was impossible or malformed. The reason is for the caller.
      const reason =
        error instanceof z.ZodError
          ? z.prettifyError(error)
          : error instanceof Error
            ? error.message
            : "failed";
      reply(response, 400, { error: reason });
    }
  }

  #file(request: IncomingMessage, response: ServerResponse, fileId: string): void {
    const file = this.#options.world.files.get(decodeURIComponent(fileId));
    if (file === undefined) return reply(response, 404, { error: "There is no such file." });
    // Only pictures and sounds are shown. Anything else could run as a page of this origin.
    const isShown = /^(?:image\/(?:png|jpeg|gif|webp)|audio\/|video\/)/.test(file.mimeType);
    const range = rangeOf(request.headers.range, file.bytes.length);
    const bytes = range === undefined ? file.bytes : file.bytes.subarray(range.from, range.to);
    response.writeHead(range === undefined ? 200 : 206, {
      "content-type": isShown ? file.mimeType : "application/octet-stream",
      "content-length": bytes.length,
      "accept-ranges": "bytes",
      ...(range !== undefined && {
        "content-range": `bytes ${range.from}-${range.to - 1}/${file.bytes.length}`,
      }),
      "x-content-type-options": "nosniff",
      "cache-control": "max-age=3600",
      ...(!isShown && { "content-disposition": "attachment" }),
    });
    response.end(bytes);
  }

  #stream(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write("event: change\ndata: {}\n\n");
    this.#streams.add(response);
    response.on("close", () => this.#streams.delete(response));
  }

  #view(response: ServerResponse, url: URL): void {
    const asked = viewSchema.safeParse(Object.fromEntries(url.searchParams));
    if (asked.success) this.#views.open(response, asked.data);
    else reply(response, 400, { error: z.prettifyError(asked.error) });
  }

  #announce(): void {
    if (this.#streams.size === 0 && this.#views.isIdle) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const stream of this.#streams) stream.write("event: change\ndata: {}\n\n");
      this.#views.send();
    }, eventEveryMs);
    this.#timer.unref();
  }
}

/** The asked part of a file, which browsers need to move within a sound. Undefined for the whole file. */
function rangeOf(
  header: string | undefined,
  length: number,
): { readonly from: number; readonly to: number } | undefined {
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(header ?? "") ?? [];
  if (first === undefined) return undefined;
  const from = Number(first);
  const to = last === undefined || last === "" ? length : Math.min(Number(last) + 1, length);
  return from < to ? { from, to } : undefined;
}

const readOnly: ReadonlySet<string> = new Set([
  "state",
  "messages",
  "commands",
  "calls",
  "answer",
  "updates",
  "schedules",
]);

function createOperations(options: ControlApiOptions): Readonly<Record<string, Operation>> {
  const { botDoor, commands, faults, log, simulator, world } = options;
  const on =
    <Schema extends z.ZodType>(schema: Schema, run: (input: z.infer<Schema>) => unknown): Operation =>
    (body) =>
      run(schema.parse(body));
  const inChat = { chatId: id, userId: id };
  const namedFile = z.object({ ...inChat, ...attachment, fileName: z.string(), mimeType: z.string() });
  return {
    state: () => describeState(options),
    messages: on(z.object({ chatId: id, threadId: id.optional() }), ({ chatId, threadId }) => ({
      messages: simulator.messages(chatId, threadId === undefined ? {} : { threadId }),
      typing: world.actionIn(world.requireChat(chatId), threadId),
      draft: simulator.draft(chatId),
      callbackAnswers: simulator.callbackAnswers().filter((answer) => answer.chatId === chatId),
    })),
    commands: on(z.object(inChat), ({ chatId, userId }) => ({
      commands: commandsIn(world.requireChat(chatId), world.requireUser(userId), commands),
    })),
    calls: on(z.object({ limit: z.coerce.number().int().default(200) }), ({ limit }) => ({
      calls: describeCalls(simulator, limit),
    })),
    answer: on(z.object({ number: id }), ({ number }) => ({ answer: log.find(number)?.answer })),
    updates: on(z.object({ limit: z.coerce.number().int().default(200) }), ({ limit }) => ({
      updates: simulator.updates().slice(-limit),
    })),
    addUser: on(
      z.object({
        id: id.optional(),
        first_name: z.string().min(1).optional(),
        last_name: z.string().optional(),
        username: z.string().optional(),
        language_code: z.string().optional(),
      }),
      (profile) => {
        const user = simulator.addUser(
          Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined)),
        );
        return { user, chat: simulator.privateChat(user) };
      },
    ),
    addGroup: on(
      z.object({
        title: z.string().min(1),
        type: z.enum(["group", "supergroup"]).default("supergroup"),
        forum: z.boolean().default(false),
        members: z.array(id).min(1),
        botIsAdministrator: z.boolean().default(false),
      }),
      ({ members, ...profile }) => ({
        chat: simulator.addGroup({ ...profile, members: members.map((member) => world.requireUser(member)) }),
      }),
    ),
    upgradeGroup: on(z.object({ chatId: id }), ({ chatId }) => ({ chat: simulator.upgradeGroup(chatId) })),
    addTopic: on(z.object({ chatId: id, name: z.string().min(1) }), ({ chatId, name }) => ({
      threadId: simulator.addTopic(chatId, name),
    })),
    closeTopic: on(z.object({ chatId: id, threadId: id }), ({ chatId, threadId }) =>
      simulator.closeTopic(chatId, threadId),
    ),
    reopenTopic: on(z.object({ chatId: id, threadId: id }), ({ chatId, threadId }) =>
      simulator.reopenTopic(chatId, threadId),
    ),
    sendText: on(
      z.object({ ...inChat, text: z.string(), ...placement }),
      ({ chatId, userId, text, ...options }) => ({
        message: simulator.sendText(chatId, userId, text, options),
      }),
    ),
    editText: on(
      z.object({ ...inChat, messageId: id, text: z.string() }),
      ({ chatId, userId, messageId, text }) => ({
        message: simulator.editText(chatId, userId, messageId, text),
      }),
    ),
    sendPhoto: on(z.object({ ...inChat, ...attachment }), ({ chatId, userId, base64, ...options }) => ({
      message: simulator.sendPhoto(chatId, userId, { ...options, bytes: Buffer.from(base64, "base64") }),
    })),
    sendDocument: on(namedFile, ({ chatId, userId, base64, ...options }) => ({
      message: simulator.sendDocument(chatId, userId, { ...options, bytes: Buffer.from(base64, "base64") }),
    })),
    sendVoice: on(
      z.object({ ...inChat, ...attachment, durationSeconds: z.number().int().positive().optional() }),
      ({ chatId, userId, base64, ...options }) => ({
        message: simulator.sendVoice(chatId, userId, { ...options, bytes: Buffer.from(base64, "base64") }),
      }),
    ),
    sendAudio: on(namedFile, ({ chatId, userId, base64, ...options }) => ({
      message: simulator.sendAudio(chatId, userId, { ...options, bytes: Buffer.from(base64, "base64") }),
    })),
    sendVideo: on(namedFile, ({ chatId, userId, base64, ...options }) => ({
      message: simulator.sendVideo(chatId, userId, { ...options, bytes: Buffer.from(base64, "base64") }),
    })),
    pressButton: on(
      z.object({ ...inChat, messageId: id, data: z.string() }),
      ({ chatId, userId, messageId, data }) => ({
        query: simulator.pressButton(chatId, userId, messageId, data),
      }),
    ),
    react: on(
      z.object({ ...inChat, messageId: id, emoji: z.string().optional() }),
      ({ chatId, userId, messageId, emoji }) => simulator.react(chatId, userId, messageId, emoji ?? []),
    ),
    pin: on(z.object({ ...inChat, messageId: id }), ({ chatId, userId, messageId }) => ({
      message: simulator.pin(chatId, userId, messageId),
    })),
    unpin: on(z.object({ chatId: id, messageId: id }), ({ chatId, messageId }) =>
      simulator.unpin(chatId, messageId),
    ),
    deleteMessage: on(z.object({ chatId: id, messageId: id }), ({ chatId, messageId }) =>
      simulator.deleteMessage(chatId, messageId),
    ),
    join: on(z.object(inChat), ({ chatId, userId }) => ({
      message: simulator.join(chatId, world.requireUser(userId)),
    })),
    leave: on(z.object(inChat), ({ chatId, userId }) => ({ message: simulator.leave(chatId, userId) })),
    blockBot: on(z.object({ userId: id }), ({ userId }) => simulator.blockBot(userId)),
    unblockBot: on(z.object({ userId: id }), ({ userId }) => simulator.unblockBot(userId)),
    kickBot: on(z.object({ chatId: id }), ({ chatId }) => simulator.kickBot(chatId)),
    readmitBot: on(z.object({ chatId: id }), ({ chatId }) => simulator.readmitBot(chatId)),
    stopDraft: on(z.object({ chatId: id }), ({ chatId }) => simulator.stopDraft(chatId)),
    postUpdate: on(z.looseObject({}), (update) => ({ updateId: simulator.postUpdate(update).id })),
    fault: on(faultSchema, ({ times, ...rule }) => ({
      id: faults.add({ ...rule, times: times === -1 ? Number.POSITIVE_INFINITY : (times ?? 1) }).id,
    })),
    removeFault: on(z.object({ id }), ({ id: faultId }) => faults.remove(faultId)),
    clearFaults: () => faults.clear(),
    setWebhook: on(z.object({ url: z.url(), secretToken: z.string().optional() }), ({ url, secretToken }) =>
      simulator.setWebhook(url, secretToken),
    ),
    deleteWebhook: () => simulator.deleteWebhook(),
    redeliverNow: () => simulator.redeliverNow(),
    ...botOperations(botDoor, () => simulator.noteChange()),
  };
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}
