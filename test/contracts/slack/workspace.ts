import type { Person, SentFile } from "../platform-emulator.ts";
import { type Block, problemOfBlocks } from "./blocks.ts";

export const TOKEN = "xoxb-1";
export const TEAM = "T1";
export const BOT_USER = "U0BOT";

/** Limits of `chat.postMessage`: of `text`, and of `markdown_text`. */
const MOST_TEXT = 40_000;
const MOST_MARKDOWN = 12_000;

export interface Message {
  readonly ts: string;
  /** The id of a Slack user. */
  readonly user: string;
  readonly threadTs?: string;
  readonly onlyFor?: string;
  text: string;
  markdown?: string;
  blocks: readonly Block[];
  readonly files: readonly SentFile[];
  readonly metadata?: unknown;
  isEdited: boolean;
}

export interface Channel {
  readonly id: string;
  readonly isDirect: boolean;
  readonly messages: Message[];
  isArchived: boolean;
  typing: number;
}

/** Where the answer to an interaction goes. */
interface ResponseTarget {
  readonly channel: Channel;
  readonly user: string;
  readonly ts?: string;
  readonly threadTs?: string;
}

/** A file that the app uploads, and its message once it is shared. */
interface Ticket {
  readonly name: string;
  bytes?: Uint8Array<ArrayBuffer>;
  shared?: { readonly channel: Channel; readonly ts: string };
  /** Whether `files.info` tells of the message. It does not at first, as Slack shares files after its answer. */
  isTold?: boolean;
}

export type Fields = Readonly<Record<string, unknown>>;

/** A refusal with Slack's code. */
export class SlackError extends Error {}

/** The state of a workspace: channels, messages, people and files. */
export class Workspace {
  readonly channels = new Map<string, Channel>();
  readonly people = new Map<string, Person>();
  readonly files = new Map<string, SentFile>();
  readonly tickets = new Map<string, Ticket>();
  readonly responses = new Map<string, ResponseTarget>();
  apiUrl = "";
  changed: () => void = () => {};
  /** Called with the event of each change of the bot's own messages. */
  echoed: (channel: Channel, event: Fields) => void = () => {};
  #clock = 0;

  /** Opens the private channel of a person. */
  direct(person: Person): string {
    const id = `D${person.id}`;
    this.people.set(`U${person.id}`, person);
    this.open(id, true);
    return id;
  }

  open(id: string, isDirect: boolean): void {
    if (this.channels.has(id)) return;
    this.channels.set(id, { id, isDirect, messages: [], isArchived: false, typing: 0 });
  }

  channel(id: string): Channel {
    const channel = this.channels.get(id);
    if (channel === undefined) throw new SlackError("channel_not_found");
    return channel;
  }

  message(channel: Channel, ts: string): Message {
    const message = channel.messages.find((one) => one.ts === ts && one.onlyFor === undefined);
    if (message === undefined) throw new SlackError("message_not_found");
    return message;
  }

  /** Unique in the workspace, and later ones are larger. */
  ts(): string {
    this.#clock = Math.max(this.#clock + 1, Date.now() * 1000);
    return `${Math.floor(this.#clock / 1_000_000)}.${String(this.#clock % 1_000_000).padStart(6, "0")}`;
  }

  eventMessage(channel: Channel, message: Message): Fields {
    const { threadTs } = message;
    const parent = channel.messages.find(({ ts }) => ts === threadTs);
    const isBot = message.user === BOT_USER;
    return {
      type: "message",
      user: message.user,
      ts: message.ts,
      text: message.text,
      team: TEAM,
      ...(message.blocks.length > 0 && { blocks: message.blocks }),
      ...(isBot && message.files.length > 0 && { files: message.files.map(({ name }) => ({ name })) }),
      ...(threadTs !== undefined && { thread_ts: threadTs, parent_user_id: parent?.user }),
      ...(isBot ? { bot_id: "B1", app_id: "A1" } : { client_msg_id: `client-${message.ts}` }),
    };
  }

  /** The event of an edit. */
  change(channel: Channel, message: Message, previous: Fields): Fields {
    const edited = { user: message.user, ts: this.ts() };
    return {
      type: "message",
      subtype: "message_changed",
      message: { ...this.eventMessage(channel, message), edited },
      previous_message: previous,
      hidden: true,
      ts: edited.ts,
    };
  }

  /** The event of a deletion. */
  deletion(channel: Channel, message: Message): Fields {
    return {
      type: "message",
      subtype: "message_deleted",
      deleted_ts: message.ts,
      previous_message: this.eventMessage(channel, message),
      hidden: true,
      ts: this.ts(),
    };
  }

  respond(target: ResponseTarget, fields: Fields): void {
    const { channel, threadTs, ts, user } = target;
    const original = channel.messages.find((message) => message.ts === ts);
    if (fields["delete_original"] === true && original !== undefined) {
      channel.messages.splice(channel.messages.indexOf(original), 1);
    } else if (fields["replace_original"] === true && original !== undefined) {
      Object.assign(original, contentOf(fields), { isEdited: true });
    } else {
      channel.messages.push({
        ts: this.ts(),
        user: BOT_USER,
        ...(threadTs !== undefined && { threadTs }),
        ...(fields["response_type"] !== "in_channel" && { onlyFor: user }),
        ...contentOf(fields),
        files: [],
        isEdited: false,
      });
    }
    this.changed();
  }

  responseUrl(target: ResponseTarget): string {
    const id = String(this.responses.size + 1);
    this.responses.set(id, target);
    return `${this.apiUrl}/response/${id}`;
  }
}

/** Forms have their structures as JSON. */
export function json(value: unknown): unknown {
  return typeof value === "string" && value !== "" ? JSON.parse(value) : value;
}

export function contentOf(fields: Fields): { text: string; markdown?: string; blocks: readonly Block[] } {
  const text = typeof fields["text"] === "string" ? fields["text"] : "";
  const markdown = typeof fields["markdown_text"] === "string" ? fields["markdown_text"] : undefined;
  const blocks = (json(fields["blocks"]) ?? []) as readonly Block[];
  if (markdown !== undefined && (text !== "" || blocks.length > 0))
    throw new SlackError("markdown_text_conflict");
  if (text === "" && (markdown ?? "") === "" && blocks.length === 0) throw new SlackError("no_text");
  if (text.length > MOST_TEXT || (markdown?.length ?? 0) > MOST_MARKDOWN)
    throw new SlackError("msg_too_long");
  const problem = problemOfBlocks(blocks);
  if (problem !== undefined) throw new SlackError(problem);
  return { text: markdown ?? text, ...(markdown !== undefined && { markdown }), blocks };
}
