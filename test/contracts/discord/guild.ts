import type { Person, SentFile } from "../platform-emulator.ts";
import { COMPONENTS_V2, problemOfComponents, type Component, type Embed } from "./components.ts";

export const APPLICATION = "1457469483726668048";
export const GUILD = "1457468924290662599";
export const EPHEMERAL = 1 << 6;
const EPOCH = 1_420_070_400_000;

export type Fields = Readonly<Record<string, unknown>>;

export interface Message {
  readonly id: string;
  readonly authorId: string;
  readonly onlyFor?: string;
  content: string;
  embeds: readonly Embed[];
  components: readonly Component[];
  flags: number;
  files: readonly SentFile[];
  isEdited: boolean;
  isThinking: boolean;
}

/** A message that was made with a nonce. */
interface MadeMessage {
  readonly id: string;
  readonly at: number;
}

export interface Channel {
  readonly id: string;
  readonly isDirect: boolean;
  readonly messages: Message[];
  /** By nonce. */
  readonly made: Map<string, MadeMessage>;
  isShut: boolean;
  typing: number;
}

export interface Interaction {
  readonly channel: Channel;
  readonly user: string;
  readonly at: number;
  /** Discord takes the first answer. */
  isAnswered: boolean;
  /** The message that answers it, once there is one. */
  original: Message | undefined;
}

/** A refusal with Discord's code. */
export class DiscordError extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const invalidForm = (why: string): DiscordError =>
  new DiscordError(400, 50_035, `Invalid Form Body: ${why}`);

/** The state of Discord: channels, messages, people and interactions. */
export class Guild {
  readonly channels = new Map<string, Channel>();
  readonly people = new Map<string, Person>();
  readonly interactions = new Map<string, Interaction>();
  changed: () => void = () => {};
  #snowflakes = 0n;

  /** Opens the private channel of a person. */
  direct(person: Person): string {
    this.people.set(person.id, person);
    return this.open(`99${person.id.padStart(8, "0")}`, true);
  }

  open(id: string, isDirect: boolean): string {
    if (!this.channels.has(id))
      this.channels.set(id, { id, isDirect, messages: [], made: new Map(), isShut: false, typing: 0 });
    return id;
  }

  channel(id: string): Channel {
    const channel = this.channels.get(id);
    if (channel === undefined) throw new DiscordError(404, 10_003, "Unknown Channel");
    return channel;
  }

  find(channel: Channel, id: string): Message {
    const message = channel.messages.find((one) => one.id === id);
    if (message === undefined) throw new DiscordError(404, 10_008, "Unknown Message");
    return message;
  }

  add(channel: Channel, fields: Partial<Message>): Message {
    const message: Message = {
      id: this.id(),
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

  id(): string {
    const now = BigInt(Date.now() - EPOCH) << 22n;
    this.#snowflakes = now > this.#snowflakes ? now : this.#snowflakes + 1n;
    return String(this.#snowflakes);
  }

  json(channel: Channel, message: Message): Fields {
    const person = this.people.get(message.authorId);
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
    };
  }
}

export function userOf({ id, name }: Person): Fields {
  return {
    id,
    username: name.toLowerCase().replaceAll(" ", "_"),
    global_name: name,
    discriminator: "0",
    avatar: null,
  };
}

export function contentOf(
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
