import type { UIMessage } from "ai";
import { toBase64 } from "../../core/bytes/base64.ts";

/** About this many characters of a transcript's JSON are one token. */
export const CHARACTERS_PER_TOKEN = 4;
/** Most bytes of all files of one call. They are in memory at the same time, several times over. */
const MAX_BYTES = 20 * 1024 * 1024;
/** Share of the context that the text of files may use. */
const TEXT_SHARE = 0.5;
const AT_ONCE = 4;
/** After this time no further file is loaded, because the person waits for the answer. */
const LONGEST_MS = 20_000;
const LEFT_OUT = "[A file was left out: there are too many, or they are too large or too slow.]";

export type ResolvedFile =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly kind: "text"; readonly text: string };

export interface LoadFilesOptions {
  /** Older messages beyond this number of tokens are left out. */
  readonly maxContextTokens: number;
  /** Turns a stored file into content for the model. Returns undefined if the URL is not a stored reference. */
  readonly resolveFile: (
    url: string,
    mediaType: string,
    name: string | undefined,
  ) => Promise<ResolvedFile | undefined>;
  /** Returns the time in epoch milliseconds. @default no time limit */
  readonly now?: () => number;
}

type Part = UIMessage["parts"][number];
type FilePart = Extract<Part, { type: "file" }>;

/**
 * Loads the stored files of the newest messages, as many as fit, into the messages. A transcript holds only references.
 * Without these limits every later model call would carry all files that a person ever sent.
 */
export async function loadFiles(
  messages: readonly UIMessage[],
  options: LoadFilesOptions,
): Promise<UIMessage[]> {
  const files = messages
    .toReversed()
    .flatMap(({ parts, role }) => (role === "user" ? parts.filter((part) => part.type === "file") : []));
  const loaded = new Map<FilePart, Part>();
  const room = { bytes: MAX_BYTES, characters: options.maxContextTokens * CHARACTERS_PER_TOKEN * TEXT_SHARE };
  const { now = () => 0 } = options;
  const until = now() + LONGEST_MS;
  for (let start = 0; start < files.length; start += AT_ONCE) {
    const batch = files.slice(start, start + AT_ONCE);
    const isFull = room.bytes <= 0 || room.characters <= 0 || now() >= until;
    const contents = isFull ? [] : await Promise.all(batch.map((part) => resolve(part, options)));
    for (const [index, part] of batch.entries()) {
      const file = contents[index];
      if (isFull) loaded.set(part, { type: "text", text: LEFT_OUT });
      else if (file !== undefined)
        loaded.set(
          part,
          loaded.size === 0 || fits(file, room) ? content(file, part) : { type: "text", text: LEFT_OUT },
        );
      if (file?.kind === "text") room.characters -= file.text.length;
      else room.bytes -= file?.bytes.length ?? 0;
    }
  }
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) => (part.type === "file" ? (loaded.get(part) ?? part) : part)),
  }));
}

function resolve(
  { filename, mediaType, url }: FilePart,
  options: LoadFilesOptions,
): Promise<ResolvedFile | undefined> {
  return options.resolveFile(url, mediaType, filename);
}

function fits(file: ResolvedFile, room: { readonly bytes: number; readonly characters: number }): boolean {
  return file.kind === "text" ? file.text.length <= room.characters : file.bytes.length <= room.bytes;
}

function content(file: ResolvedFile, { filename }: FilePart): Part {
  if (file.kind === "text") return { type: "text", text: file.text };
  return {
    type: "file",
    mediaType: file.mediaType,
    url: `data:${file.mediaType};base64,${toBase64(file.bytes)}`,
    ...(filename !== undefined && { filename }),
  };
}
