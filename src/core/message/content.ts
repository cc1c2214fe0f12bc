/**
 * Content that a bot sends beside streamed answers. A string is Markdown and means the same as a `TextContent` without
 * options.
 */
export type Content = string | TextContent | CardContent | FilesContent | LocationContent;

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Options of every kind of content. */
export interface ContentOptions {
  /** Whether the message arrives without a sound, if the platform lets the bot choose. @default false */
  readonly silent?: boolean;
  /** Whether the platform keeps people from forwarding and saving the message. @default false */
  readonly protect?: boolean;
  /**
   * The platform's id of a message in the same chat that this one answers. If that message no longer exists, the
   * content is sent without it.
   */
  readonly replyTo?: string;
}

/** Options of `revise`. */
export interface ReviseOptions {
  /** Whether a card that a person has deleted is posted again (`post`), or stays deleted. @default "leave" */
  readonly ifDeleted?: "leave" | "post";
}

/** A text. One that is longer than a message of the platform becomes several messages. */
export interface TextContent {
  readonly kind: "text";
  /** Markdown. At least one visible character. */
  readonly text: string;
}

/**
 * A message with buttons, which the bot can change later: `revise(id, content)` edits it, `remove(id)` takes it away.
 * Its rows are kept for 90 days.
 *
 * Presses of its `callback` buttons reach `onAction` of the bot. If the text is longer than one message, the last
 * message has the buttons.
 */
export interface CardContent {
  readonly kind: "card";
  /** Markdown. May be empty if there are fields. */
  readonly text: string;
  /** Lines below the text, one a line: the label in bold, then the value. @default none */
  readonly fields?: readonly CardField[];
  /**
   * A picture above the text. A revision that adds or takes away the picture posts the card again. Where a message
   * cannot have a picture, an address becomes a link, and bytes are left out.
   * @default none
   */
  readonly image?: CardImage;
  /** Rows of buttons, from top to bottom. 100 buttons at most, 8 in a row. @default none */
  readonly buttons?: readonly (readonly CardButton[])[];
  /**
   * Whether the `callback` buttons are also numbered options, which a person may answer by writing the number. Only the
   * newest open card of a chat listens to numbers, and only to messages that were sent after it. Platforms without
   * buttons always number them. @default false
   */
  readonly numbered?: boolean;
}

export interface CardField {
  /** Plain text: 1 to 256 characters. */
  readonly label: string;
  /** Plain text: up to 1,024 characters. */
  readonly value: string;
}

/** A button of a card. A label is plain text of 1 to 64 characters. */
export type CardButton = CallbackButton | LinkButton | CopyButton;

/** A button whose press reaches `onAction`. */
export interface CallbackButton {
  readonly kind: "callback";
  readonly label: string;
  /**
   * Any JSON, 8 KiB at most as UTF-8. It is stored with the card and handed to `onAction`. The platform gets an opaque
   * token instead.
   */
  readonly payload: Json;
}

/** A button that opens an address. */
export interface LinkButton {
  readonly kind: "link";
  readonly label: string;
  /** An address that begins with `https://`, `http://` or `tg://`. */
  readonly url: string;
}

/** A button that copies a text to the clipboard. Where the platform has none, the text stands below the card. */
export interface CopyButton {
  readonly kind: "copy";
  readonly label: string;
  /** Plain text: 1 to 256 characters. */
  readonly text: string;
}

/** A file that the platform can fetch by itself: by an id of its own, or from an `https` address. */
export type RemoteFile = { readonly fileId: string } | { readonly url: string };

/** A picture of a card: its bytes, or a file that the platform can fetch by itself. */
export type CardImage = RemoteFile | PictureBytes;

/** The bytes of a card's picture. */
export type PictureBytes = Uint8Array | Blob | StoredFile;

/** The bytes of a file. A stream is read once, when the content is accepted; the file is durable after that. */
export type FileSource =
  | Uint8Array
  | Blob
  | ReadableStream<Uint8Array>
  | { readonly fileId: string }
  | StoredFile
  | FileAddress;

/** Bytes that this conversation has stored already, for example those of a reply's attachment. */
export interface StoredFile {
  readonly storedId: string;
  readonly sizeBytes: number;
}

/** A file behind an `https` address. */
export interface FileAddress {
  readonly url: string;
  /**
   * Fetches the file.
   *
   * - `bot`: Switchboard, when the content is accepted. Public addresses only.
   * - `platform`: the platform, each time the file is sent. It has limits of its own: Telegram takes 5 MB for a photo, 20
   *   MB for other files, and only some types of them. @default "bot"
   */
  readonly fetchedBy?: "bot" | "platform";
}

/**
 * Kind of a file in a chat. `voice` is OGG with Opus; other audio is sent as `audio`. `animation` is a video without
 * sound that plays by itself.
 */
export type FileKind = "photo" | "document" | "audio" | "voice" | "video" | "animation";

export interface OutgoingFile {
  readonly kind: FileKind;
  /** 1 byte to 50 MiB. */
  readonly source: FileSource;
  /** Name that people see, with its extension. 1 to 255 characters. @default a name by kind and media type */
  readonly name?: string;
  /** IANA media type, such as `application/pdf`. @default by kind and name */
  readonly mediaType?: string;
}

/**
 * One file, or an album.
 *
 * An album has 2 to 10 files of kinds that may stand together: photos and videos, or documents only, or audio only.
 *
 * @public
 */
export interface FilesContent {
  readonly kind: "files";
  readonly files: readonly [OutgoingFile, ...OutgoingFile[]];
  /** Markdown. As much as the platform's limit for captions allows stands below the file; the rest follows as text. */
  readonly caption?: string;
}

/**
 * A place on the map.
 *
 * @public
 */
export interface LocationContent {
  readonly kind: "location";
  /** Degrees, -90 to 90. */
  readonly latitude: number;
  /** Degrees, -180 to 180. */
  readonly longitude: number;
  /** Name of the place. With a title or an address the platform shows a venue, if it has such messages. */
  readonly title?: string;
  readonly address?: string;
}
