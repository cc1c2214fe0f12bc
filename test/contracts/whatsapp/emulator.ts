import { createHash, createHmac } from "node:crypto";
import type {
  Act,
  Acted,
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
import { plain, showStars, type ShownText } from "../shown-text.ts";

const TOKEN = "EAAG";
const SECRET = "s3cret";
const PHONE = "100200300";
/** The customer service window after a message of the person's. */
const WINDOW_MS = 24 * 3_600_000;

type Fields = Readonly<Record<string, unknown>>;

/** Statuses of a message that arrives, as they come. */
const STATUSES = [
  ["sent", "delivered", "read"],
  ["sent", "read"],
  ["delivered", "sent"],
];

interface Message {
  readonly id: string;
  readonly by: string;
  readonly shown: ShownText;
  readonly buttons: readonly { readonly id: string; readonly title: string }[];
  readonly files: readonly SentFile[];
}

interface Chat {
  readonly person: Person;
  readonly phone: string;
  readonly messages: Message[];
  lastWrittenAt: number | undefined;
  isBlocked: boolean;
  typing: number;
}

/** An error of the Graph API, with Meta's code. */
class GraphError extends Error {
  readonly code: number;
  readonly status: number;
  constructor(code: number, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

const invalid = (details: string): GraphError => new GraphError(131_009, 400, details);

/** WhatsApp: the Cloud API of one phone number, and its webhooks. Bots write in private chats alone. */
export class WhatsAppEmulator implements PlatformEmulator {
  readonly name = "whatsapp";
  readonly tellsSeconds = true;
  readonly #chats = new Map<Place, Chat>();
  readonly #media = new Map<string, SentFile>();
  #apiUrl = "";
  #ids = 0;
  #changed: () => void = () => {};
  #echoed: (webhook: Webhook) => void = () => {};

  env(apiUrl: string): Readonly<Record<string, string>> {
    this.#apiUrl = apiUrl;
    const options = {
      apiUrl,
      accessToken: TOKEN,
      appSecret: SECRET,
      phoneNumberId: PHONE,
      verifyToken: SECRET,
      userName: "shop",
    };
    return { PLATFORM: this.name, PLATFORM_OPTIONS: JSON.stringify(options) };
  }

  watch(changed: () => void): void {
    this.#changed = changed;
  }

  /** Meta tells of each message whether it has arrived. */
  watchEchoes(echoed: (webhook: Webhook) => void): void {
    this.#echoed = echoed;
  }

  direct(person: Person): Place {
    const phone = `1555${person.id.padStart(7, "0")}`;
    if (!this.#chats.has(phone)) {
      this.#chats.set(phone, {
        person,
        phone,
        messages: [],
        lastWrittenAt: undefined,
        isBlocked: false,
        typing: 0,
      });
    }
    return phone;
  }

  shared(): undefined {
    return undefined;
  }

  shut(place: Place): void {
    this.#chat(place).isBlocked = true;
  }

  typingShown(place: Place): number {
    return this.#chat(place).typing;
  }

  seen(place: Place): readonly SeenMessage[] {
    return this.#chat(place).messages.map(({ buttons, by, files, id, shown }) => ({
      id,
      by,
      ...shown,
      buttons: buttons.map(({ title }) => title),
      files,
      isEdited: false,
    }));
  }

  /** WhatsApp reports neither edits nor deletions of people, and knows no commands. */
  async act(act: Act): Promise<Acted | undefined> {
    const chat = this.#chat(act.in);
    switch (act.kind) {
      case "write": {
        const files = act.files ?? [];
        if (files.length === 0)
          return this.#say(chat, act.text, [], { type: "text", text: { body: act.text } });
        const all = files.map((file, index) => {
          const id = this.#keep(file);
          const type = file.mediaType.startsWith("image/") ? "image" : "document";
          const media = {
            id,
            mime_type: file.mediaType,
            sha256: createHash("sha256").update(file.bytes).digest("base64"),
            ...(index === 0 && { caption: act.text }),
            ...(type === "document" && { filename: file.name }),
          };
          return this.#say(chat, index === 0 ? act.text : "", [file], { type, [type]: media });
        });
        const { messageId } = all[0] ?? {};
        return {
          ...(messageId !== undefined && { messageId }),
          webhooks: all.flatMap(({ webhooks }) => webhooks),
        };
      }
      case "press": {
        const message = chat.messages.find(({ id }) => id === act.messageId);
        const button = message?.buttons.find(({ title }) => title === act.label);
        if (button === undefined) throw new Error(`There is no button ${act.label}.`);
        // A press is a message, which quotes the one with the buttons.
        return this.#say(chat, button.title, [], {
          type: "interactive",
          interactive: { type: "button_reply", button_reply: button },
          context: { from: PHONE, id: act.messageId },
        });
      }
      case "react": {
        const reaction = { message_id: act.messageId, emoji: act.emoji };
        return { webhooks: [this.#webhook(chat, { id: this.#id(), type: "reaction", reaction })] };
      }
      case "command":
      case "edit":
      case "delete":
        return undefined;
      default:
        return act satisfies never;
    }
  }

  #say(chat: Chat, text: string, files: readonly SentFile[], fields: Fields): Acted {
    const id = this.#id();
    chat.lastWrittenAt = Date.now();
    chat.messages.push({ id, by: chat.person.id, shown: plain(text), buttons: [], files });
    return { messageId: id, webhooks: [this.#webhook(chat, { id, ...fields })] };
  }

  /** A person who looks at the chat reads a message without a `delivered`, and the order is not that of the times. */
  #statuses(): readonly string[] {
    return STATUSES[this.#ids % STATUSES.length] ?? [];
  }

  /**
   * Somebody writes in a group of the number's ("Group messaging"): the message has the group's id, and else the fields
   * of one in the author's private chat.
   */
  writeInGroup(person: Person, text: string): Acted {
    const chat = this.#chat(this.direct(person));
    const group_id = "Y2FwaV9ncm91cDoxNTU1MDAwMTExMToxMjAzNjM0MDQ2OTQyMzM4MjAZD";
    const message = { id: this.#id(), group_id, type: "text", text: { body: text } };
    return { webhooks: [this.#webhook(chat, message)] };
  }

  /** @param key what the call has named as `biz_opaque_callback_data`: every status repeats it */
  #status({ phone }: Chat, id: string, status: string, key: unknown): Webhook {
    const failed = {
      errors: [
        {
          code: 131_026,
          title: "Message undeliverable",
          message: "Message undeliverable",
          error_data: { details: "Message Undeliverable." },
        },
      ],
    };
    const taken = {
      conversation: { id: "0b7c", origin: { type: "service" } },
      pricing: { billable: true, pricing_model: "PMP", category: "service", type: "regular" },
    };
    const fields = {
      id,
      status,
      recipient_id: phone,
      ...(key !== undefined && { biz_opaque_callback_data: key }),
      ...(status === "failed" ? failed : taken),
    };
    return this.#report({ statuses: [{ timestamp: seconds(), ...fields }] });
  }

  #webhook({ person, phone }: Chat, message: Fields): Webhook {
    return this.#report({
      contacts: [{ profile: { name: person.name }, wa_id: phone }],
      messages: [{ from: phone, timestamp: seconds(), ...message }],
    });
  }

  #report(what: Fields): Webhook {
    const body = JSON.stringify({
      object: "whatsapp_business_account",
      entry: [
        {
          id: "100000000000002",
          changes: [
            {
              value: {
                messaging_product: "whatsapp",
                metadata: { display_phone_number: "15550001111", phone_number_id: PHONE },
                ...what,
              },
              field: "messages",
            },
          ],
        },
      ],
    });
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` };
    return { request: (url) => new Request(url, { method: "POST", body, headers }) };
  }

  // The API

  async describe(request: Request): Promise<PlatformCall> {
    const { pathname } = new URL(request.url);
    if (request.method === "GET") return { kind: "read" };
    if (pathname.endsWith("/media")) return { kind: "upload" };
    if (!pathname.endsWith("/messages")) return { kind: "other" };
    const fields = (await request.json()) as Fields;
    const message = fields["message_id"];
    if (fields["status"] === "read") {
      const chat = [...this.#chats.values()].find(({ messages }) =>
        messages.some(({ id }) => id === message),
      );
      const kind = fields["typing_indicator"] === undefined ? "other" : "typing";
      return { kind, ...(chat !== undefined && { place: chat.phone }) };
    }
    const kind = fields["type"] === "reaction" ? "other" : "post";
    return { kind, ...(typeof fields["to"] === "string" && { place: fields["to"].replace(/^\+/, "") }) };
  }

  /** Meta tells no waiting time, and asks to read the code. */
  refuse(refusal: Refusal): Response {
    switch (refusal.kind) {
      case "flood":
        return graphResponse(new GraphError(130_429, 400, "(#130429) Rate limit hit"));
      case "error":
        return graphResponse(
          new GraphError(refusal.status === 500 ? 131_000 : 131_016, refusal.status, "Something went wrong"),
        );
      case "token":
        return graphResponse(new GraphError(190, 401, "Error validating access token"));
      default:
        return refusal satisfies never;
    }
  }

  async answer(request: Request): Promise<Response> {
    try {
      if (request.headers.get("authorization") !== `Bearer ${TOKEN}`) {
        throw new GraphError(190, 401, "Invalid OAuth access token");
      }
      const parts = new URL(request.url).pathname.slice(1).split("/");
      if (parts[0] === "download") return this.#download(parts[1] ?? "");
      if (!/^v\d+\.0$/.test(parts[0] ?? "")) throw new GraphError(2500, 400, "Unknown path components");
      if (request.method === "GET" && parts[1] === PHONE)
        return Response.json({ id: PHONE, display_phone_number: "+1 555 0100", verified_name: "Shop" });
      if (request.method === "GET") return this.#describeMedia(parts[1] ?? "");
      if (parts[1] !== PHONE) throw new GraphError(100, 400, "Unsupported post request");
      if (parts[2] === "media") return await this.#uploadMedia(request);
      if (parts[2] !== "messages") throw new GraphError(2500, 400, "Unknown path components");
      return Response.json(this.#messages((await request.json()) as Fields));
    } catch (error) {
      if (error instanceof GraphError) return graphResponse(error);
      throw error;
    } finally {
      this.#changed();
    }
  }

  #messages(fields: Fields): Fields {
    if (fields["messaging_product"] !== "whatsapp")
      throw new GraphError(100, 400, "(#100) messaging_product is required");
    if (fields["status"] === "read") return this.#read(fields);
    const to = fields["to"];
    if (typeof to !== "string") throw new GraphError(100, 400, "(#100) The parameter to is required.");
    const chat = this.#chats.get(to.replace(/^\+/, ""));
    if (chat === undefined) throw new GraphError(131_026, 400, "Message undeliverable");
    if (chat.lastWrittenAt === undefined || Date.now() - chat.lastWrittenAt > WINDOW_MS) {
      throw new GraphError(131_047, 400, "Re-engagement message");
    }
    const id = this.#id();
    const content = this.#content(fields);
    // A message that cannot arrive is taken, and its status says so.
    for (const status of chat.isBlocked ? ["failed"] : this.#statuses())
      this.#echoed(this.#status(chat, id, status, fields["biz_opaque_callback_data"]));
    if (content !== undefined && !chat.isBlocked)
      chat.messages.push({ id, by: "bot", buttons: [], files: [], ...content });
    return {
      messaging_product: "whatsapp",
      contacts: [{ input: to, wa_id: chat.phone }],
      messages: [{ id }],
    };
  }

  /** Marks a message of a person as read. The sign that the bot is writing needs such a message, too. */
  #read(fields: Fields): Fields {
    const chat = [...this.#chats.values()].find(({ messages }) =>
      messages.some(({ by, id }) => id === fields["message_id"] && by !== "bot"),
    );
    if (chat === undefined) throw new GraphError(100, 400, "(#100) Invalid parameter");
    if (fields["typing_indicator"] !== undefined) chat.typing += 1;
    return { success: true };
  }

  #content(fields: Fields): Pick<Message, "shown"> & Partial<Message> {
    const type = typeof fields["type"] === "string" ? fields["type"] : "text";
    switch (type) {
      case "text": {
        const body = textOf(fields["text"], "body");
        if (body === "" || body.length > 4096)
          throw invalid("Param text['body'] must be 1 to 4096 characters long.");
        return { shown: show(body) };
      }
      case "interactive":
        return interactiveContent(recordOf(fields["interactive"]));
      case "image":
      case "document":
      case "video":
      case "audio": {
        const media = recordOf(fields[type]);
        const file = this.#media.get(String(media["id"]));
        if (file === undefined) throw invalid("Media id not found");
        const caption = textOf(media, "caption");
        if (caption.length > 1024) throw invalid("The caption is too long.");
        const name = textOf(media, "filename");
        return { shown: show(caption), files: [{ ...file, ...(name !== "" && { name }) }] };
      }
      default:
        throw new GraphError(131_051, 400, "Unsupported message type");
    }
  }

  async #uploadMedia(request: Request): Promise<Response> {
    const form = await readForm(request);
    const file = form.get("file");
    if (form.get("messaging_product") !== "whatsapp" || file === null || typeof file === "string") {
      throw new GraphError(100, 400, "(#100) Invalid parameter");
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    return Response.json({ id: this.#keep({ name: file.name, mediaType: file.type, bytes }) });
  }

  #describeMedia(id: string): Response {
    const file = this.#media.get(id);
    if (file === undefined) throw new GraphError(100, 400, "Unsupported get request");
    const sha256 = createHash("sha256").update(file.bytes).digest("hex");
    const url = `${this.#apiUrl}/download/${id}`;
    return Response.json({
      messaging_product: "whatsapp",
      url,
      mime_type: file.mediaType,
      sha256,
      file_size: file.bytes.length,
      id,
    });
  }

  #download(id: string): Response {
    const file = this.#media.get(id);
    if (file === undefined) return new Response("", { status: 404 });
    return new Response(file.bytes, { headers: { "content-type": file.mediaType } });
  }

  #keep(file: SentFile): string {
    const id = String(900 + this.#media.size);
    this.#media.set(id, file);
    return id;
  }

  #id(): string {
    this.#ids += 1;
    return `wamid.HBgLMTU1NTAwMDIyMjI${String(this.#ids).padStart(6, "0")}`;
  }

  #chat(place: Place): Chat {
    const chat = this.#chats.get(place);
    if (chat === undefined) throw new Error(`There is no chat ${place}.`);
    return chat;
  }
}

const seconds = (): string => String(Math.floor(Date.now() / 1000));

const show = (text: string): ShownText => showStars(text, { hasLabels: false });

function recordOf(value: unknown): Fields {
  if (typeof value !== "object" || value === null) throw new GraphError(100, 400, "(#100) Invalid parameter");
  return value as Fields;
}

function textOf(value: unknown, name: string): string {
  const text = recordOf(value)[name];
  return typeof text === "string" ? text : "";
}

function interactiveContent(interactive: Fields): Pick<Message, "shown"> & Partial<Message> {
  const body = textOf(interactive["body"], "text");
  if (body === "" || body.length > 1024)
    throw invalid("Interactive body text must be 1 to 1024 characters long.");
  const header = interactive["header"] === undefined ? "" : textOf(interactive["header"], "text");
  if (header.length > 60) throw invalid("Header text must be at most 60 characters long.");
  const action = recordOf(interactive["action"]);
  const shown = show(header === "" ? body : `${header}\n${body}`);
  if (interactive["type"] === "cta_url") return { shown };
  if (interactive["type"] !== "button") throw invalid("Unsupported interactive type");
  const buttons = ((action["buttons"] ?? []) as readonly Fields[]).map((button) => {
    const reply = recordOf(button["reply"]);
    const [id, title] = [textOf(reply, "id"), textOf(reply, "title")];
    if (title === "" || title.length > 20) throw invalid("Button title must be 1 to 20 characters long.");
    if (id === "" || id.length > 256) throw invalid("Button id must be 1 to 256 characters long.");
    return { id, title };
  });
  if (buttons.length === 0 || buttons.length > 3) throw invalid("There must be 1 to 3 buttons.");
  if (new Set(buttons.map(({ title }) => title)).size !== buttons.length)
    throw invalid("Button titles must be unique.");
  return { shown, buttons };
}

function graphResponse({ code, message, status }: GraphError): Response {
  const error = {
    message,
    type: "OAuthException",
    code,
    error_data: { messaging_product: "whatsapp", details: message },
    fbtrace_id: "Az8or2yhqkZfEZ",
  };
  return Response.json({ error }, { status });
}
