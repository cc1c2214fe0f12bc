import type { MessageEntity } from "grammy/types";
import { startSimulator, type SimChat, type Simulator } from "../../../playground/telegram/simulator.ts";
import type {
  Act,
  Acted,
  CallKind,
  Mark,
  Person,
  Place,
  PlatformCall,
  PlatformEmulator,
  Refusal,
  SeenMessage,
  SentFile,
  Webhook,
} from "../platform-emulator.ts";
import { readForm } from "../read-form.ts";

const SECRET = "s3cret";

/** Telegram: the simulator, whose Bot API and people this hands on. */
export class TelegramEmulator implements PlatformEmulator {
  readonly name = "telegram";
  readonly #simulator: Simulator;
  readonly #shared = new Map<string, SimChat>();
  readonly #chats = new Map<Place, SimChat>();
  /** People who have joined a group, as `chat person`. */
  readonly #members = new Set<string>();
  readonly #sent = new Map<string, SentFile>();

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  static async start(): Promise<TelegramEmulator> {
    return new TelegramEmulator(await startSimulator({ flood: false }));
  }

  async close(): Promise<void> {
    await this.#simulator.close();
  }

  env(apiUrl: string): Readonly<Record<string, string>> {
    const { bot, token } = this.#simulator;
    const options = { apiBaseUrl: apiUrl, token, secretToken: SECRET, userName: bot.username };
    return { PLATFORM: this.name, PLATFORM_OPTIONS: JSON.stringify(options) };
  }

  watch(changed: () => void): void {
    this.#simulator.onChange(changed);
  }

  // People

  direct(person: Person): Place {
    this.#user(person);
    return this.#keep(this.#simulator.privateChat(this.#user(person)));
  }

  shared(name: string): Place {
    const chat =
      this.#shared.get(name) ??
      this.#simulator.addGroup({ title: name, members: [this.#simulator.addUser({ first_name: "Olga" })] });
    this.#shared.set(name, chat);
    return this.#keep(chat);
  }

  shut(place: Place): void {
    const chat = this.#chat(place);
    if (chat.type === "private") this.#simulator.blockBot(chat.id);
    else this.#simulator.kickBot(chat);
  }

  typingShown(place: Place): number {
    return this.#simulator.calls({ method: "sendChatAction", chatId: Number(place) }).length;
  }

  seen(place: Place): readonly SeenMessage[] {
    const chat = this.#chat(place);
    const messages = this.#simulator.messages(chat).filter(({ service }) => service === undefined);
    const notes = this.#simulator
      .callbackAnswers()
      .filter(({ chatId, text }) => chatId === chat.id && (text ?? "") !== "")
      .map(({ queryId, text, userId }): SeenMessage => ({
        ...EMPTY,
        id: queryId,
        by: "bot",
        text: text ?? "",
        onlyFor: String(userId),
      }));
    return [
      ...messages.map((message): SeenMessage => ({
        id: String(message.id),
        by: message.from.isBot ? "bot" : String(message.from.id),
        text: message.text,
        marks: [...marksOf(message.text, message.entities), ...this.#mentionsIn(message.text)],
        buttons: message.buttons
          .flat()
          .filter(({ callbackData }) => callbackData !== undefined)
          .map(({ text }) => text),
        files: message.attachments.map(
          ({ fileName = "", mimeType }) =>
            this.#sent.get(fileName) ?? { name: fileName, mediaType: mimeType, bytes: new Uint8Array() },
        ),
        isEdited: message.editDate !== undefined,
      })),
      ...notes,
    ];
  }

  async act(act: Act): Promise<Acted | undefined> {
    const simulator = this.#simulator;
    const chat = this.#chat(act.in);
    if (chat.type !== "private" && !this.#members.has(`${chat.id} ${act.by.id}`)) {
      simulator.join(chat, this.#user(act.by));
      this.#members.add(`${chat.id} ${act.by.id}`);
    }
    const before = simulator.updates().length;
    const messageId = this.#do(act);
    const webhooks = simulator
      .updates()
      .slice(before)
      .map(({ update }): Webhook => {
        const headers = { "content-type": "application/json", "x-telegram-bot-api-secret-token": SECRET };
        return {
          request: (url) => new Request(url, { method: "POST", body: JSON.stringify(update), headers }),
        };
      });
    return { webhooks, ...(messageId !== undefined && { messageId: String(messageId) }) };
  }

  #do(act: Act): number | undefined {
    const simulator = this.#simulator;
    const chat = this.#chat(act.in);
    const user = this.#user(act.by);
    switch (act.kind) {
      case "write": {
        const text = `${act.isMention === true ? `@${simulator.bot.username} ` : ""}${act.text}`;
        const place = act.inThreadOf === undefined ? {} : { replyTo: Number(act.inThreadOf) };
        const [file] = act.files ?? [];
        if (file === undefined) return simulator.sendText(chat, user, text, place).message_id;
        const options = { ...place, bytes: file.bytes, caption: text };
        return file.mediaType.startsWith("image/")
          ? simulator.sendPhoto(chat, user, options).message_id
          : simulator.sendDocument(chat, user, { ...options, fileName: file.name, mimeType: file.mediaType })
              .message_id;
      }
      case "command":
        return simulator.sendText(chat, user, `/${act.name} ${act.args}`.trim()).message_id;
      case "press":
        simulator.pressButton(chat, user, Number(act.messageId), act.label);
        return undefined;
      case "edit":
        return simulator.editText(chat, user, Number(act.messageId), act.text).message_id;
      case "delete":
        simulator.deleteMessage(chat, Number(act.messageId));
        return undefined;
      case "react":
        simulator.react(chat, user, Number(act.messageId), act.emoji);
        return undefined;
      default:
        return act satisfies never;
    }
  }

  // The API

  async describe(request: Request): Promise<PlatformCall> {
    const method = new URL(request.url).pathname.split("/").at(-1) ?? "";
    const fields = await fieldsOf(request);
    const chatId = fields.get("chat_id");
    return { kind: kindOf(method), ...(chatId !== undefined && { place: chatId }) };
  }

  refuse(refusal: Refusal): Response {
    const answer = (status: number, description: string, parameters?: object): Response =>
      Response.json(
        { ok: false, error_code: status, description, ...(parameters && { parameters }) },
        { status },
      );
    switch (refusal.kind) {
      case "flood": {
        const seconds = Math.ceil(refusal.retryAfterMs / 1000);
        return answer(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
      }
      case "error":
        return answer(refusal.status, "Internal Server Error");
      case "token":
        return answer(401, "Unauthorized");
      default:
        return refusal satisfies never;
    }
  }

  /** Of a message that is too old. */
  refuseEdit(): Response {
    const description = "Bad Request: message can't be edited";
    return Response.json({ ok: false, error_code: 400, description }, { status: 400 });
  }

  async answer(request: Request): Promise<Response> {
    if (request.headers.get("content-type")?.startsWith("multipart/form-data") === true) {
      for (const value of (await readForm(request.clone())).values()) {
        if (typeof value === "string") continue;
        const bytes = new Uint8Array(await value.arrayBuffer());
        this.#sent.set(value.name, { name: value.name, mediaType: value.type, bytes });
      }
    }
    const { pathname, search } = new URL(request.url);
    const { method } = request;
    const body = method === "GET" ? null : await request.arrayBuffer();
    return fetch(`${this.#simulator.url}${pathname}${search}`, { method, headers: request.headers, body });
  }

  #user(person: Person): ReturnType<Simulator["addUser"]> {
    const id = Number(person.id);
    return (
      this.#simulator.users().find((user) => user.id === id) ??
      this.#simulator.addUser({
        id,
        first_name: person.name,
        ...(USERNAME.test(person.name) && { username: person.name }),
      })
    );
  }

  /** A name that nobody has is no mention. */
  #mentionsIn(text: string): readonly Mark[] {
    return this.#simulator
      .users()
      .filter(
        ({ username }) => username !== undefined && new RegExp(`(?<!\\w)@${username}\\b`, "i").test(text),
      )
      .map(({ username = "" }) => ({ kind: "mention", text: username }));
  }

  #keep(chat: SimChat): Place {
    this.#chats.set(String(chat.id), chat);
    return String(chat.id);
  }

  #chat(place: Place): SimChat {
    const chat = this.#chats.get(place);
    if (chat === undefined) throw new Error(`There is no chat ${place}.`);
    return chat;
  }
}

const USERNAME = /^[a-z]\w{4,31}$/i;
const EMPTY = { marks: [], buttons: [], files: [], isEdited: false } as const;

function kindOf(method: string): CallKind {
  if (method === "sendChatAction") return "typing";
  if (method.startsWith("send")) return "post";
  if (method.startsWith("edit")) return "edit";
  if (method.startsWith("delete")) return "remove";
  return method.startsWith("get") ? "read" : "other";
}

async function fieldsOf(request: Request): Promise<ReadonlyMap<string, string>> {
  const type = request.headers.get("content-type") ?? "";
  const entries = type.startsWith("multipart/form-data")
    ? [...(await readForm(request))]
    : type.includes("json")
      ? Object.entries((await request.json()) as object)
      : [...new URLSearchParams(await request.text())];
  return new Map(entries.map(([name, value]) => [name, String(value)]));
}

const KINDS: Partial<Record<MessageEntity["type"], Mark["kind"]>> = {
  bold: "bold",
  italic: "italic",
  strikethrough: "strike",
  code: "code",
  pre: "block",
  text_link: "link",
  blockquote: "quote",
};

function marksOf(text: string, entities: readonly MessageEntity[]): readonly Mark[] {
  const marks = entities.flatMap((entity): Mark[] => {
    const kind = KINDS[entity.type];
    if (kind === undefined) return [];
    const part = text.slice(entity.offset, entity.offset + entity.length);
    return [{ kind, text: part, ...(entity.type === "text_link" && { url: entity.url }) }];
  });
  const items = [...text.matchAll(/^• (.+)$/gm)].map(([, item = ""]): Mark => ({ kind: "item", text: item }));
  return [...marks, ...items];
}
