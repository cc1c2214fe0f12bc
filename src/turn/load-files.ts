import type { UIMessage } from "ai";

/** How many tokens of a transcript reach the model; roughly four characters of its JSON are one token. */
export const CHARACTERS_PER_TOKEN = 4;
/** Files of one call, together: their bytes are in memory at once, several times over. */
const MAX_BYTES = 20 * 1024 * 1024;
/** The part of the context that the text of files may take. */
const TEXT_SHARE = 0.5;
const AT_ONCE = 4;
/** No more files are begun to be loaded after so long: the person waits for the answer. */
const LONGEST_MS = 20_000;
const LEFT_OUT = "[A file was left out: there are too many, or they are too large or too slow.]";

export type ResolvedFile =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly kind: "text"; readonly text: string };

export interface LoadFilesOptions {
  /** Older messages beyond this many tokens are left out. */
  readonly maxContextTokens: number;
  /** Turns a stored file into content for the model; `undefined` when it is not a stored reference. */
  readonly resolveFile: (
    url: string,
    mediaType: string,
    name: string | undefined,
  ) => Promise<ResolvedFile | undefined>;
  /** Epoch milliseconds. @default no limit of time */
  readonly now?: () => number;
}

type Part = UIMessage["parts"][number];
type FilePart = Extract<Part, { type: "file" }>;

/**
 * The messages with their stored files in them: those of the newest messages, as many as fit. A transcript holds
 * references only, so nothing else keeps a person from having every later call of the model carry all they ever sent.
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

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  const step = 0x8000;
  for (let start = 0; start < bytes.length; start += step) {
    binary += String.fromCharCode(...bytes.subarray(start, start + step));
  }
  return btoa(binary);
}
