import type { MessageEntity, RichBlock } from "grammy/types";
import { serviceWords } from "./service-words.ts";
import type { ChatState, Media, MessageVersion, StoredMessage, World } from "./world.ts";

export interface VisibleButton {
  readonly text: string;
  readonly callbackData?: string;
  readonly url?: string;
  /** Text that the button copies. */
  readonly copyText?: string;
}

export interface VisibleAttachment {
  readonly kind: "photo" | "document" | "voice" | "audio" | "video" | "animation";
  readonly fileId: string;
  readonly fileName?: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
}

export interface VisibleLocation {
  readonly latitude: number;
  readonly longitude: number;
  /** Set for a venue. */
  readonly title?: string;
  readonly address?: string;
}

/** A message as a person sees it. */
export interface VisibleMessage {
  readonly id: number;
  readonly chatId: number;
  readonly threadId?: number;
  readonly from: { readonly id: number; readonly name: string; readonly isBot: boolean };
  /** Seconds since 1970. */
  readonly date: number;
  readonly editDate?: number;
  /** The text, or the caption if there are attachments. */
  readonly text: string;
  readonly entities: readonly MessageEntity[];
  /** Blocks of a rich message. `text` then has its words. */
  readonly rich?: readonly RichBlock[];
  readonly buttons: readonly (readonly VisibleButton[])[];
  readonly attachments: readonly VisibleAttachment[];
  readonly mediaGroupId?: string;
  readonly location?: VisibleLocation;
  /** True if the message came without a sound. */
  readonly silent: boolean;
  /** True if people cannot forward or save the message. */
  readonly isProtected: boolean;
  readonly replyToId?: number;
  readonly reactions: readonly { readonly userId: number; readonly emoji: string }[];
  readonly pinned: boolean;
  /** Kind of a service message, such as "pinned_message". */
  readonly service?: string;
  /** Text of a service message in plain words. */
  readonly serviceText?: string;
  /** All versions of the text, oldest first. */
  readonly history: readonly MessageVersion[];
}

export function toVisible(world: World, message: StoredMessage): VisibleMessage {
  const { from } = message;
  const keyboard = message.markup?.kind === "inline" ? message.markup.markup.inline_keyboard : [];
  return {
    id: message.id,
    chatId: message.chatId,
    ...(message.threadId !== undefined && { threadId: message.threadId }),
    from: {
      id: from.id,
      name: [from.first_name, from.last_name].filter(Boolean).join(" "),
      isBot: from.is_bot,
    },
    date: message.date,
    ...(message.editDate !== undefined && { editDate: message.editDate }),
    text: message.text,
    entities: message.entities,
    ...(message.rich !== undefined && { rich: message.rich }),
    buttons: keyboard.map((row) =>
      row.map((button) => ({
        text: button.text,
        ...("callback_data" in button && { callbackData: button.callback_data }),
        ...("url" in button && { url: button.url }),
        ...("copy_text" in button && { copyText: button.copy_text.text }),
      })),
    ),
    attachments: message.media === undefined ? [] : attachmentsOf(world, message.media),
    ...(message.mediaGroupId !== undefined && { mediaGroupId: message.mediaGroupId }),
    ...(message.media?.location !== undefined && { location: locationOf(message.media) }),
    silent: message.silent ?? false,
    isProtected: message.isProtected ?? false,
    ...(message.replyToId !== undefined && { replyToId: message.replyToId }),
    reactions: message.reactions,
    pinned: message.pinned,
    ...(message.service !== undefined && {
      service: Object.keys(message.service)[0] ?? "service",
      serviceText: serviceWords(message.service, from),
    }),
    history: message.versions,
  };
}

export function messagesOf(world: World, chat: ChatState, threadId?: number): readonly VisibleMessage[] {
  return [...chat.messages.values()]
    .filter((message) => threadId === undefined || (message.threadId ?? 0) === threadId)
    .map((message) => toVisible(world, message));
}

function locationOf({ location, venue }: Media): VisibleLocation {
  return {
    latitude: location?.latitude ?? 0,
    longitude: location?.longitude ?? 0,
    ...(venue !== undefined && { title: venue.title, address: venue.address }),
  };
}

function attachmentsOf(world: World, media: Media): VisibleAttachment[] {
  const found: VisibleAttachment[] = [];
  for (const kind of ["photo", "animation", "document", "voice", "audio", "video"] as const) {
    // An animation comes with a copy of itself as a document.
    if (kind === "document" && media.animation !== undefined) continue;
    const item = kind === "photo" ? media.photo?.at(-1) : media[kind];
    if (item === undefined) continue;
    const file = world.files.get(item.file_id);
    found.push({
      kind,
      fileId: item.file_id,
      ...("file_name" in item && item.file_name !== undefined && { fileName: item.file_name }),
      mimeType: file?.mimeType ?? "application/octet-stream",
      sizeBytes: file?.bytes.length ?? 0,
    });
  }
  return found;
}
