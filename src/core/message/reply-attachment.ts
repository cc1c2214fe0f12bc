import type { CardContent, FileAddress, FileKind, FileSource, Json, LocationContent } from "./content.ts";

/**
 * Something that an action adds to the reply beside its text: `ctx.attachReply(...)`. The model does not see it.
 *
 * Any object with a `type` is allowed. Types other than these are shown in a chat only if `renderAttachment` of the bot
 * makes content of them.
 */
export type ReplyAttachment = KnownAttachments[keyof KnownAttachments] | CustomAttachment;

/** The attachments that every chat can show, by type. */
interface KnownAttachments {
  readonly email_draft: EmailDraftAttachment;
  readonly card: CardAttachment;
  readonly voice_note: VoiceNoteAttachment;
  readonly image: FileAttachment;
  readonly document: FileAttachment;
  readonly audio: FileAttachment;
  readonly video: FileAttachment;
  readonly location: LocationAttachment;
}

/**
 * Forbids the fields that a known type does not have, so that a misspelt one is a type error. A card without a text is
 * one of the bot's own, which `renderAttachment` shows.
 */
export type AllowedFields<Given extends ReplyAttachment> = Given extends { readonly type: "card" }
  ? "text" extends keyof Given
    ? FieldsOf<Given, "card">
    : unknown
  : Given["type"] extends keyof KnownAttachments
    ? FieldsOf<Given, Given["type"]>
    : unknown;

type FieldsOf<Given, Type extends keyof KnownAttachments> = KnownAttachments[Type] & {
  readonly [Field in Exclude<keyof Given, keyof KnownAttachments[Type]>]: never;
};

/** An e-mail for the person to send. In a chat it is a card, with a button for the mail program. */
export interface EmailDraftAttachment {
  readonly type: "email_draft";
  readonly to?: string | readonly string[];
  readonly cc?: string | readonly string[];
  readonly bcc?: string | readonly string[];
  readonly subject?: string;
  /** Plain text. */
  readonly body?: string;
}

/** A card. Presses of its `callback` buttons reach `onAction`. */
export type CardAttachment = { readonly type: "card" } & Omit<CardContent, "kind">;

/** A recording. OGG with Opus is a voice message in a chat; other audio is an audio file. */
export interface VoiceNoteAttachment {
  readonly type: "voice_note";
  readonly source: FileSource;
  readonly name?: string;
  readonly mediaType?: string;
  /** The words that are spoken, for platforms that cannot play it. */
  readonly transcript?: string;
  /** Markdown. */
  readonly caption?: string;
}

/** A file. Several images or videos in a row become one album, where the platform has albums. */
export interface FileAttachment {
  readonly type: "image" | "document" | "audio" | "video";
  readonly source: FileSource;
  readonly name?: string;
  readonly mediaType?: string;
  /** Markdown. */
  readonly caption?: string;
}

/** A place on the map. */
export type LocationAttachment = { readonly type: "location" } & Omit<LocationContent, "kind">;

/** An attachment of the bot's own. */
export interface CustomAttachment {
  readonly type: string;
  readonly [field: string]: unknown;
}

/**
 * An attachment as it is stored: plain JSON, a copy for every reader. Where it had bytes, it has a `StoredFile`, which
 * `say` and `renderAttachment` accept as the source of a file.
 */
export type StoredAttachment = Readonly<Record<string, Json>> & { readonly type: string };

/** The chat for which an attachment is rendered, and its abilities. */
export interface AttachmentSurface {
  /** The key of the messenger in `getMessengers()`. */
  readonly messengerId: string;
  /** Such as `telegram`. */
  readonly provider: string;
  readonly chatId: string;
  readonly isDirectMessage: boolean;
  /** Whether messages can have files, buttons, buttons that copy, a place on a map. */
  readonly files: boolean;
  readonly buttons: boolean;
  readonly copyButtons: boolean;
  readonly location: boolean;
}

/** The kinds of files that attachments become. */
export const FILE_KINDS: Readonly<Record<string, FileKind>> = {
  voice_note: "voice",
  image: "photo",
  document: "document",
  audio: "audio",
  video: "video",
};

/** Sources of bytes. They are stored before an attachment is recorded. */
export type ByteSource = Exclude<
  FileSource,
  FileAddress | { readonly fileId: string } | { readonly storedId: string }
>;
