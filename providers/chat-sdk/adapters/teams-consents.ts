/**
 * Files that Teams puts into a person's OneDrive: in private chats, and after the person has allowed it ("Send and
 * receive files using bot").
 *
 * 1. The bytes are kept, under an id that nobody can guess and that belongs to one chat, before the card that asks is
 *    posted.
 * 2. The answer is a stored event, so a killed process acts on it again. Of several answers to a card one counts.
 * 3. All that people see of it is an edit of the card: it becomes the file, the name of a file that they declined, or a
 *    sentence. It can be repeated without harm.
 */
import type { Adapter } from "chat";
import { z } from "zod";
import { wait } from "../../../src/core/base/deps.ts";
import type { Deps } from "../../../src/core/base/deps.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { withTimeLimit } from "../../../src/core/time/with-time-limit.ts";
import { parsePublicUrl } from "../../../src/core/web/public-url.ts";
import { ChatSdkCallError } from "../errors/call-error.ts";
import { plainMarkdown } from "../markup/markdown.ts";
import type { KeptFile, KeptFileCalls, OwnTurn } from "../state/kept-file-store.ts";
import type { FilePost, FilePostOptions, OwnEventOptions, UnreportedEvent } from "./adapter-profile.ts";

/** The servers of people's files. */
export const DRIVES = ["*.sharepoint.com", "*.sharepoint.us", "my.microsoftpersonalcontent.com"];

const CARD = "application/vnd.microsoft.teams.card.file";
const PIECE_BYTES = 1024 * 1024;
const UPLOAD_MS = 60_000;
/** Waits before another try of a failed call, in milliseconds. */
const AGAIN_AFTER_MS = [1000, 4000];
/** The platform asks for seconds. A longer wait leaves the card as it is, for another press. */
const MOST_WAIT_MS = 10_000;

const upload = z.object({
  contentUrl: z.string(),
  name: z.string(),
  uploadUrl: z.string(),
  uniqueId: z.string(),
  fileType: z.string().nullish(),
});
type Upload = z.infer<typeof upload>;

const invoke = z.looseObject({
  type: z.literal("invoke"),
  name: z.literal("fileConsent/invoke"),
  replyToId: z.string(),
  value: z.object({
    action: z.enum(["accept", "decline"]),
    context: z.object({ file: z.string() }),
    uploadInfo: upload.nullish().catch(undefined),
  }),
});

/** The update as it is stored: `ofUpdate` puts the platform's own object into `raw`. */
const stored = z.object({ raw: invoke });

interface TeamsTarget {
  readonly conversationId: string;
  readonly serviceUrl: string;
}
interface TeamsAdapter extends Adapter {
  decodeThreadId(threadId: string): TeamsTarget;
  threadIdFromActivity(activity: unknown): string;
  readonly app: {
    sendTo(target: TeamsTarget, activity: object): Promise<{ readonly id?: string }>;
    apiFor(serviceUrl: string): {
      readonly conversations: {
        activities(id: string): { update(messageId: string, activity: object): Promise<unknown> };
      };
    };
  };
}

/** Posts a picture in the text of a message, and any other file as a card that asks for consent. */
export async function postFiles(
  { chatId, files, kinds, text, threadId }: FilePost,
  adapter: Adapter,
  { kept, newId }: FilePostOptions,
): Promise<string> {
  const [file] = files;
  if (file === undefined || kinds.every((kind) => kind === "photo"))
    return (await adapter.postMessage(threadId, { raw: text, files: [...files] })).id;
  // Neither channels nor several files at once have such cards. An album is then posted one by one.
  if (files.length > 1 || adapter.isDM?.(threadId) !== true)
    throw new ChatSdkCallError("post", { kind: "rejected", code: "files-unsupported", about: "file" });
  const { data, filename: name } = file;
  const bytes = new Uint8Array(data instanceof Blob ? await data.arrayBuffer() : data);
  const id = newId();
  try {
    await keep(id, { chatId, name, sizeBytes: bytes.length }, bytes, kept(chatId));
  } catch {
    throw new ChatSdkCallError("post", { kind: "transient", code: "file-not-kept" });
  }
  const context = { file: id };
  const content = {
    // It is plain text: the mark of a message that is sent again.
    description: text === "" ? "OneDrive" : text.replaceAll("\\", "").trim(),
    sizeInBytes: bytes.length,
    acceptContext: context,
    declineContext: context,
  };
  const teams = adapter as TeamsAdapter;
  const attachments = [{ contentType: `${CARD}.consent`, name, content }];
  const sent = await teams.app.sendTo(teams.decodeThreadId(threadId), { type: "message", attachments });
  return sent.id ?? "";
}

async function keep(id: string, file: KeptFile, bytes: Uint8Array, keeper: KeptFileCalls): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    await keeper.keepPiece(id, file.chatId, at / PIECE_BYTES, bytes.slice(at, at + PIECE_BYTES));
  await keeper.keepFile(id, file);
}

/** Reads the answer to a card that asks for consent, which the adapter leaves out. */
export function readAnswer(body: unknown): UnreportedEvent | undefined {
  if (!invoke.safeParse(body).success) return undefined;
  return { kind: "own", threadIdOf: (adapter) => (adapter as TeamsAdapter).threadIdFromActivity(body) };
}

/** Acts on the answer to a card that asks for consent. */
export async function handleAnswer(
  { key, raw, thread }: Pick<MessengerEvent, "key" | "raw" | "thread">,
  adapter: Adapter,
  { classify, clock, fetch, kept, textOf, threadId }: OwnEventOptions,
): Promise<void> {
  const { data } = stored.safeParse(raw);
  if (data === undefined) return;
  const { replyToId, value } = data.raw;
  const id = value.context.file;
  const keeper = kept(thread.chatId);
  const say = (words: string): Promise<void> =>
    persist(
      clock,
      classify,
      async () => void (await adapter.editMessage(threadId, replyToId, { raw: words })),
    );
  const turn = await keeper.beginAnswer(id, thread.chatId, key);
  if (turn.kind === "busy") return;
  if (turn.kind === "unknown") return say(textOf("staleActionResponseText"));
  try {
    const name = `**${plainMarkdown.escape(turn.file.name, true)}**`;
    const info = value.uploadInfo ?? undefined;
    if (value.action === "decline") await say(name);
    else if (info === undefined || !(await put(info, id, turn, keeper, { clock, fetch })))
      await say(`${name}\n\n${textOf("fileRefusedText")}`);
    else await persist(clock, classify, () => showFile(adapter as TeamsAdapter, threadId, replyToId, info));
  } catch (error) {
    await keeper.forgetAnswer(id);
    throw error;
  }
  await keeper.endFile(id);
}

/** Turns the card that asked into the file. */
async function showFile(
  adapter: TeamsAdapter,
  threadId: string,
  messageId: string,
  { contentUrl, fileType, name, uniqueId }: Upload,
): Promise<void> {
  const { conversationId, serviceUrl } = adapter.decodeThreadId(threadId);
  const content = { uniqueId, fileType: fileType ?? "" };
  const attachments = [{ contentType: `${CARD}.info`, contentUrl, name, content }];
  const { conversations } = adapter.app.apiFor(serviceUrl);
  await conversations.activities(conversationId).update(messageId, { type: "message", attachments });
}

/** Puts a file into its place. Returns whether it is there. */
async function put(
  { uploadUrl }: Upload,
  id: string,
  { file, isAgain }: OwnTurn,
  keeper: KeptFileCalls,
  { clock, fetch }: Pick<Deps, "clock" | "fetch">,
): Promise<boolean> {
  const url = driveUrl(uploadUrl);
  const body = url && (await bytesOf(id, file, keeper));
  if (url === undefined || body === undefined) return false;
  const headers = { "content-range": `bytes 0-${body.length - 1}/${body.length}` };
  // The place takes the bytes once and is gone then: a try whose answer was lost may have been the one.
  let mayBeThere = isAgain;
  for (const againAfterMs of [...AGAIN_AFTER_MS, undefined]) {
    const status = await withTimeLimit(clock, UPLOAD_MS, async (signal) => {
      const response = await fetch(url, { method: "PUT", headers, body, redirect: "manual", signal });
      void response.body?.cancel().catch(() => undefined);
      return response.status;
    }).catch(() => 0);
    if (status === 200 || status === 201) return true;
    if (status === 404 || status === 409 || status === 416) return mayBeThere;
    if ((status !== 0 && status !== 429 && status < 500) || againAfterMs === undefined) return false;
    mayBeThere ||= status !== 429;
    await wait(clock, againAfterMs);
  }
  return false;
}

/** Returns the address of an upload, if it is on a server of people's files. */
function driveUrl(uploadUrl: string): string | undefined {
  try {
    const url = parsePublicUrl(uploadUrl, DRIVES);
    return url.port === "" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

async function bytesOf(
  id: string,
  { sizeBytes }: KeptFile,
  keeper: KeptFileCalls,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = new Uint8Array(sizeBytes);
  for (let at = 0, piece = 0; at < sizeBytes; piece += 1) {
    const next = await keeper.piece(id, piece);
    if (next === undefined) return undefined;
    bytes.set(next, at);
    at += next.length;
  }
  return bytes;
}

/** Makes a call that can be repeated, again after failures that pass. */
async function persist(
  clock: Deps["clock"],
  classify: OwnEventOptions["classify"],
  call: () => Promise<void>,
): Promise<void> {
  for (const againAfterMs of [...AGAIN_AFTER_MS, Infinity]) {
    try {
      return await call();
    } catch (error) {
      const failure = classify(error);
      const canPass = ["retry-after", "transient", "unknown"].includes(failure.kind);
      const waitMs = failure.kind === "retry-after" ? failure.retryAfterMs : againAfterMs;
      if (!canPass || Math.max(waitMs, againAfterMs) > MOST_WAIT_MS)
        throw new ChatSdkCallError("edit", failure);
      await wait(clock, waitMs);
    }
  }
}
