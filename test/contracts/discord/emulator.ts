import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
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
import { below } from "../shown-text.ts";
import {
  buttonsOf,
  COMPONENTS_V2,
  problemOfComponents,
  showComponents,
  showContent,
  showEmbed,
  type Component,
  type Embed,
} from "./components.ts";

const TOKEN = "token";
const APPLICATION = "1457469483726668048";
const GUILD = "1457468924290662599";
const EPHEMERAL = 1 << 6;
/** Shown while a deferred answer is awaited. */
const THINKING = "Shop is thinking…";
const EPOCH = 1_420_070_400_000;
const INTERACTION_LASTS_MS = 15 * 60_000;

type Fields = Readonly<Record<string, unknown>>;

interface Message {
  readonly id: string;
  readonly authorId: string;
  readonly onlyFor?: string;
  readonly nonce?: string;
  content: string;
  embeds: readonly Embed[];
  components: readonly Component[];
  flags: number;
  files: readonly SentFile[];
  isEdited: boolean;
  isThinking: boolean;
}

interface Channel {
  readonly id: string;
  readonly isDirect: boolean;
  readonly messages: Message[];
  isShut: boolean;
  typing: number;
}

interface Interaction {
  readonly channel: Channel;
  readonly user: string;
  readonly at: number;
  /** Discord takes the first answer. */
  isAnswered: boolean;
  /** The message that answers it, once there is one. */
  original: Message | undefined;
}

class DiscordError extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const invalidForm = (why: string): DiscordError => new DiscordError(400, 50_035, `Invalid Form Body: ${why}`);

/**
 * Discord for an app without a connection to the Gateway: the REST API, and interactions by HTTP. People can use commands
 * and press buttons. Ordinary messages are not reported to the app.
 */
export class DiscordEmulator implements PlatformEmulator {
  readonly name = "discord";
  readonly talksByCommand = true;
  readonly #keys = generateKeyPairSync("ed25519");
  readonly #channels = new Map<string, Channel>();
  readonly #shared = new Map<string, string>();
  readonly #people = new Map<string, Person>();
  readonly #interactions = new Map<string, Interaction>();
  #snowflakes = 0n;
  #changed: () => void = () => {};

  env(apiUrl: string): Readonly<Record<string, string>> {
    const publicKey = this.#keys.publicKey
      .export({ format: "der", type: "spki" })
      .subarray(-32)
      .toString("hex");
    const options = { apiUrl, applicationId: APPLICATION, botToken: TOKEN, publicKey };
    return {
      PLATFORM: this.name,
      PLATFORM_OPTIONS: JSON.stringify(options),
      // The adapter sends files and answers to interactions there, whatever its `apiUrl` is.
      PLATFORM_ORIGINS: JSON.stringify({ "https://discord.com": apiUrl }),
    };
  }

  watch(changed: () => void): void {
    this.#changed = changed;
  }

  direct(person: Person): Place {
    this.#people.set(person.id, person);
    return this.#open(`99${person.id.padStart(8, "0")}`, true);
  }

  shared(name: string): Place {
    const id = this.#shared.get(name) ?? `88${String(this.#shared.size).padStart(8, "0")}`;
    this.#shared.set(name, id);
    return this.#open(id, false);
  }

  shut(place: Place): void {
    this.#channel(place).isShut = true;
  }

  typingShown(place: Place): number {
    return this.#channel(place).typing;
  }

  seen(place: Place): readonly SeenMessage[] {
    return this.#channel(place).messages.map((message) => ({
      id: message.id,
      by: message.authorId === APPLICATION ? "bot" : message.authorId,
      ...show(message),
      ...(message.onlyFor !== undefined && { onlyFor: message.onlyFor }),
      buttons: buttonsOf(message.components).map(({ label }) => label ?? ""),
      files: message.files,
      isEdited: message.isEdited,
    }));
  }

  async act(act: Act): Promise<Acted | undefined> {
    const channel = this.#channel(act.in);
    this.#people.set(act.by.id, act.by);
    switch (act.kind) {
      case "write": {
        const mention = act.isMention === true ? `<@${APPLICATION}> ` : "";
        const files = act.files ?? [];
        const message = this.#add(channel, { authorId: act.by.id, content: mention + act.text, files });
        return { messageId: message.id, webhooks: [] };
      }
      case "command": {
        const options = act.args === "" ? [] : [{ name: "text", type: 3, value: act.args }];
        const data = { id: this.#id(), name: act.name, type: 1, options };
        return { webhooks: [this.#interaction(channel, act.by, 2, { data })] };
      }
      case "press": {
        const message = this.#find(channel, act.messageId);
        const button = buttonsOf(message.components).find(({ label }) => label === act.label);
        if (button === undefined) throw new Error(`There is no button ${act.label}.`);
        const data = { component_type: 2, custom_id: button.custom_id, id: 2 };
        return {
          webhooks: [this.#interaction(channel, act.by, 3, { data, message: this.#json(channel, message) })],
        };
      }
      case "edit": {
        Object.assign(this.#find(channel, act.messageId), { content: act.text, isEdited: true });
        return { messageId: act.messageId, webhooks: [] };
      }
      case "delete": {
        channel.messages.splice(channel.messages.indexOf(this.#find(channel, act.messageId)), 1);
        return { webhooks: [] };
      }
      case "react":
        return { webhooks: [] };
      default:
        return act satisfies never;
    }
  }

  #interaction(channel: Channel, by: Person, type: number, fields: Fields): Webhook {
    const token = randomUUID();
    const interaction: Interaction = {
      channel,
      user: by.id,
      at: Date.now(),
      isAnswered: false,
      original: undefined,
    };
    this.#interactions.set(token, interaction);
    const user = userOf(by);
    const body = JSON.stringify({
      id: this.#id(),
      application_id: APPLICATION,
      type,
      token,
      version: 1,
      channel_id: channel.id,
      channel: {
        id: channel.id,
        type: channel.isDirect ? 1 : 0,
        ...(!channel.isDirect && { guild_id: GUILD, name: "general" }),
      },
      ...(channel.isDirect
        ? { user, context: 1 }
        : { guild_id: GUILD, member: { user, roles: [], permissions: "0" }, context: 0 }),
      locale: "en-US",
      entitlements: [],
      attachment_size_limit: 10_485_760,
      ...fields,
    });
    return {
      request: (url) => {
        const timestamp = String(Math.floor(Date.now() / 1000));
        const signature = sign(null, Buffer.from(timestamp + body), this.#keys.privateKey).toString("hex");
        const headers = {
          "content-type": "application/json",
          "x-signature-ed25519": signature,
          "x-signature-timestamp": timestamp,
        };
        return new Request(url, { method: "POST", body, headers });
      },
      answered: async (response) => {
        this.#callback(interaction, (await response.json()) as Fields);
        this.#changed();
      },
    };
  }

  /** Shows an answer to an interaction: a message, a sign that one will come, or nothing yet. */
  #callback(interaction: Interaction, { data, type }: Fields): void {
    if (interaction.isAnswered) return;
    interaction.isAnswered = true;
    const fields = (data ?? {}) as Fields;
    const { channel, user } = interaction;
    const isPrivate = (Number(fields["flags"] ?? 0) & EPHEMERAL) !== 0;
    const readers = isPrivate ? { onlyFor: user } : {};
    if (type === 4) interaction.original = this.#add(channel, { ...contentOf(fields, []), ...readers });
    if (type === 5)
      interaction.original = this.#add(channel, { content: THINKING, isThinking: true, ...readers });
  }

  // The API

  describe(request: Request): PlatformCall {
    const parts = partsOf(request);
    const { method } = request;
    if (parts[0] === "webhooks" || parts[0] === "interactions") {
      const place = this.#interactions.get(parts[2] ?? "")?.channel.id;
      const kind =
        method === "GET" ? "read" : method === "DELETE" ? "remove" : parts[3] === undefined ? "post" : "edit";
      const isFirst =
        kind === "edit" && this.#interactions.get(parts[2] ?? "")?.original?.isThinking === true;
      return { kind: isFirst ? "post" : kind, place };
    }
    const place = parts[0] === "channels" ? parts[1] : undefined;
    if (method === "GET") return { kind: "read", place };
    if (parts[2] === "typing") return { kind: "typing", place };
    if (parts[2] !== "messages" || parts[4] !== undefined) return { kind: "other", place };
    return { kind: method === "POST" ? "post" : method === "PATCH" ? "edit" : "remove", place };
  }

  refuse(refusal: Refusal): Response {
    switch (refusal.kind) {
      case "flood": {
        const seconds = refusal.retryAfterMs / 1000;
        const headers = { "retry-after": String(Math.ceil(seconds)), "x-ratelimit-scope": "user" };
        const body = { message: "You are being rate limited.", retry_after: seconds, global: false };
        return Response.json(body, { status: 429, headers });
      }
      case "error":
        return Response.json(
          { message: `${refusal.status}: Internal Server Error`, code: 0 },
          { status: refusal.status },
        );
      case "token":
        return Response.json({ message: "401: Unauthorized", code: 0 }, { status: 401 });
      default:
        return refusal satisfies never;
    }
  }

  async answer(request: Request): Promise<Response> {
    const parts = partsOf(request);
    try {
      if (parts[0] === "webhooks") return await this.#webhookCall(parts, request);
      if (request.headers.get("authorization") !== `Bot ${TOKEN}`) return this.refuse({ kind: "token" });
      if (parts[0] === "channels") return await this.#channelCall(parts, request);
      if (parts[0] === "users" && parts[1] === "@me" && parts[2] === "channels") {
        const person = this.#people.get(String(((await request.json()) as Fields)["recipient_id"]));
        if (person === undefined) throw new DiscordError(404, 10_013, "Unknown User");
        return Response.json({ id: this.direct(person), type: 1 });
      }
      if (parts[0] === "users") {
        if (parts[1] === "@me") return Response.json({ id: APPLICATION, username: "shop", bot: true });
        const person = this.#people.get(parts[1] ?? "");
        if (person === undefined) throw new DiscordError(404, 10_013, "Unknown User");
        return Response.json(userOf(person));
      }
      if (parts[0] === "applications") return Response.json({ id: APPLICATION, name: "shop" });
      throw new DiscordError(404, 0, "404: Not Found");
    } catch (error) {
      if (!(error instanceof DiscordError)) throw error;
      const { code, message, status } = error;
      return Response.json({ message, code }, { status });
    } finally {
      this.#changed();
    }
  }

  async #channelCall(parts: readonly string[], request: Request): Promise<Response> {
    const channel = this.#channel(parts[1] ?? "");
    if (channel.isShut) {
      throw channel.isDirect
        ? new DiscordError(403, 50_007, "Cannot send messages to this user")
        : new DiscordError(403, 50_001, "Missing Access");
    }
    const { method } = request;
    if (parts[2] === undefined)
      return Response.json({
        id: channel.id,
        type: channel.isDirect ? 1 : 0,
        ...(!channel.isDirect && { guild_id: GUILD }),
      });
    if (parts[2] === "typing") {
      channel.typing += 1;
      return new Response(null, { status: 204 });
    }
    if (parts[2] !== "messages") throw new DiscordError(404, 0, "404: Not Found");
    if (parts[3] === undefined) {
      if (method === "GET") return Response.json(this.#list(channel, new URL(request.url).searchParams));
      const { fields, files } = await formOf(request);
      const nonce = fields["nonce"] === undefined ? undefined : String(fields["nonce"]);
      if (nonce !== undefined && nonce.length > 25) throw invalidForm("nonce");
      const same =
        fields["enforce_nonce"] === true
          ? channel.messages.find((one) => one.nonce === nonce && nonce !== undefined)
          : undefined;
      const made =
        same ?? this.#add(channel, { ...contentOf(fields, files), ...(nonce !== undefined && { nonce }) });
      return Response.json(this.#json(channel, made));
    }
    const message = this.#find(channel, parts[3]);
    if (parts[4] === "reactions") return new Response(null, { status: 204 });
    if (method === "GET") return Response.json(this.#json(channel, message));
    if (message.authorId !== APPLICATION)
      throw new DiscordError(403, 50_005, "Cannot edit a message authored by another user");
    if (method === "DELETE") {
      channel.messages.splice(channel.messages.indexOf(message), 1);
      return new Response(null, { status: 204 });
    }
    this.#change(message, await formOf(request));
    return Response.json(this.#json(channel, message));
  }

  /** Answers through the token of an interaction, which need no token of the bot. */
  async #webhookCall(parts: readonly string[], request: Request): Promise<Response> {
    const interaction = this.#interactions.get(parts[2] ?? "");
    if (parts[1] !== APPLICATION || interaction === undefined)
      throw new DiscordError(404, 10_015, "Unknown Webhook");
    if (Date.now() - interaction.at > INTERACTION_LASTS_MS)
      throw new DiscordError(401, 50_027, "Invalid Webhook Token");
    const { channel, original, user } = interaction;
    const { method } = request;
    if (parts[3] === undefined) {
      const { fields, files } = await formOf(request);
      // The first message after a deferred answer takes its place.
      if (original?.isThinking === true) {
        this.#change(original, { fields, files });
        return Response.json(this.#json(channel, original));
      }
      const isPrivate = (Number(fields["flags"] ?? 0) & EPHEMERAL) !== 0;
      const made = this.#add(channel, { ...contentOf(fields, files), ...(isPrivate && { onlyFor: user }) });
      return Response.json(this.#json(channel, made));
    }
    const message = parts[4] === "@original" ? original : channel.messages.find(({ id }) => id === parts[4]);
    if (message === undefined) throw new DiscordError(404, 10_008, "Unknown Message");
    if (method === "DELETE") {
      channel.messages.splice(channel.messages.indexOf(message), 1);
      return new Response(null, { status: 204 });
    }
    if (method === "PATCH") this.#change(message, await formOf(request));
    return Response.json(this.#json(channel, message));
  }

  /** Fields that an edit leaves out stay as they are. */
  #change(
    message: Message,
    { fields, files }: { readonly fields: Fields; readonly files: readonly SentFile[] },
  ): void {
    const before = {
      content: message.isThinking ? "" : message.content,
      embeds: message.embeds,
      components: message.components,
      flags: message.flags,
    };
    const after = contentOf({ ...before, ...fields }, files, message.files.length > 0);
    const isFirst = message.isThinking;
    Object.assign(message, after, {
      isEdited: !isFirst,
      isThinking: false,
      files: files.length > 0 ? files : message.files,
    });
  }

  #list(channel: Channel, query: URLSearchParams): readonly Fields[] {
    const limit = Number(query.get("limit") ?? 50);
    if (limit < 1 || limit > 100) throw invalidForm("limit");
    const after = query.get("after");
    const before = query.get("before");
    const found = channel.messages
      .filter(({ onlyFor }) => onlyFor === undefined)
      .filter(({ id }) => after === null || BigInt(id) > BigInt(after))
      .filter(({ id }) => before === null || BigInt(id) < BigInt(before));
    const chosen = after === null ? found.slice(-limit) : found.slice(0, limit);
    return chosen.reverse().map((message) => this.#json(channel, message));
  }

  // State

  #open(id: string, isDirect: boolean): string {
    if (!this.#channels.has(id))
      this.#channels.set(id, { id, isDirect, messages: [], isShut: false, typing: 0 });
    return id;
  }

  #channel(id: string): Channel {
    const channel = this.#channels.get(id);
    if (channel === undefined) throw new DiscordError(404, 10_003, "Unknown Channel");
    return channel;
  }

  #find(channel: Channel, id: string): Message {
    const message = channel.messages.find((one) => one.id === id);
    if (message === undefined) throw new DiscordError(404, 10_008, "Unknown Message");
    return message;
  }

  #add(channel: Channel, fields: Partial<Message>): Message {
    const message: Message = {
      id: this.#id(),
      authorId: APPLICATION,
      content: "",
      embeds: [],
      components: [],
      flags: 0,
      files: [],
      isEdited: false,
      isThinking: false,
      ...fields,
    };
    channel.messages.push(message);
    return message;
  }

  #id(): string {
    const now = BigInt(Date.now() - EPOCH) << 22n;
    this.#snowflakes = now > this.#snowflakes ? now : this.#snowflakes + 1n;
    return String(this.#snowflakes);
  }

  #json(channel: Channel, message: Message): Fields {
    const person = this.#people.get(message.authorId);
    return {
      id: message.id,
      channel_id: channel.id,
      type: 0,
      author: person === undefined ? { id: APPLICATION, username: "shop", bot: true } : userOf(person),
      content: message.content,
      timestamp: new Date(Number(BigInt(message.id) >> 22n) + EPOCH).toISOString(),
      edited_timestamp: message.isEdited ? new Date().toISOString() : null,
      attachments: message.files.map((file, index) => ({
        id: String(index + 1),
        filename: file.name,
        size: file.bytes.length,
      })),
      embeds: message.embeds,
      components: message.components,
      flags: message.flags,
      mentions: [],
      ...(message.nonce !== undefined && { nonce: message.nonce }),
    };
  }
}

function partsOf(request: Request): readonly string[] {
  return new URL(request.url).pathname
    .replace(/^\/api\/v10/, "")
    .slice(1)
    .split("/");
}

function userOf({ id, name }: Person): Fields {
  return {
    id,
    username: name.toLowerCase().replaceAll(" ", "_"),
    global_name: name,
    discriminator: "0",
    avatar: null,
  };
}

async function formOf(
  request: Request,
): Promise<{ readonly fields: Fields; readonly files: readonly SentFile[] }> {
  if (request.headers.get("content-type")?.startsWith("multipart/form-data") !== true) {
    return { fields: (await request.json()) as Fields, files: [] };
  }
  const form = await request.formData();
  const payload = form.get("payload_json");
  const files: SentFile[] = [];
  for (const [name, value] of form) {
    if (!/^files\[\d+\]$/.test(name) || typeof value === "string") continue;
    files.push({ name: value.name, mediaType: value.type, bytes: new Uint8Array(await value.arrayBuffer()) });
  }
  return { fields: typeof payload === "string" ? (JSON.parse(payload) as Fields) : {}, files };
}

function contentOf(
  fields: Fields,
  files: readonly SentFile[],
  hasFiles = false,
): Pick<Message, "components" | "content" | "embeds" | "files" | "flags"> {
  const content = typeof fields["content"] === "string" ? fields["content"] : "";
  const embeds = (fields["embeds"] ?? []) as readonly Embed[];
  const components = (fields["components"] ?? []) as readonly Component[];
  const flags = Number(fields["flags"] ?? 0);
  const isV2 = (flags & COMPONENTS_V2) !== 0;
  if (content.length > 2000) throw invalidForm("content: Must be 2000 or fewer in length.");
  if (isV2 && (content !== "" || embeds.length > 0))
    throw invalidForm("content cannot be used with components of version 2");
  if (embeds.length > 10 || embeds.some(({ description }) => (description ?? "").length > 4096))
    throw invalidForm("embeds");
  const problem = problemOfComponents(components, isV2);
  if (problem !== undefined) throw invalidForm(problem);
  if (
    content === "" &&
    embeds.length === 0 &&
    files.length === 0 &&
    !hasFiles &&
    !(isV2 && components.length > 0)
  ) {
    throw new DiscordError(400, 50_006, "Cannot send an empty message");
  }
  return { content, embeds, components, flags, files };
}

function show(message: Message): ReturnType<typeof below> {
  return below([
    showContent(message.content),
    ...message.embeds.map((embed) => showEmbed(embed)),
    showComponents(message.components),
  ]);
}
