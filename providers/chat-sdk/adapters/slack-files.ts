import type { Adapter, FileUpload } from "chat";
import { z } from "zod";
import { type Clock, wait } from "../../../src/core/base/deps.ts";
import { isRecord } from "../../../src/core/json/is-record.ts";
import { ChatSdkCallError } from "../errors/call-error.ts";
import type { FilePost, FilePostOptions } from "./adapter-profile.ts";
import { RefusedRequest } from "./refused-request.ts";

/** The parts of the adapter that know the token and Slack's markup. */
const parts = z.object({
  slackApiUrl: z.string().optional(),
  getToken: z.custom<() => Promise<string>>(isFunction),
  formatConverter: z.custom<MarkupConverter>(
    (value) => isRecord(value) && isFunction(value.toResponseUrlText),
  ),
});
interface MarkupConverter {
  toResponseUrlText(message: { readonly markdown: string }): string;
}

const ticket = z.object({ upload_url: z.string(), file_id: z.string() });
const shares = z.record(z.string(), z.array(z.object({ ts: z.string() })).nullish()).nullish();
const file = z.object({ shares: z.object({ public: shares, private: shares }).nullish() });
const completed = z.object({ files: z.array(file) });
const information = z.object({ file });

/**
 * Waits before Slack is asked for the message of a file, in milliseconds. Slack shares files after its answer. Later
 * messages of the chat wait as long.
 */
const ASK_AFTER_MS = [100, 200, 400, 800, 1500];
/** Uploads shorter than the limit of a text need no sign of life in this time, in milliseconds. */
const SIGN_OF_LIFE_MS = 5000;

/**
 * Posts files to a channel or a thread. The adapter's own way needs `form-data`, which bundles replace with nothing.
 *
 * 1. A ticket for each file, and its bytes. Nothing is visible, so a lost answer is `transient`.
 * 2. One call shares all of them with the caption. If its answer is lost, Slack is asked whether the file was shared.
 *    If that is not known, the outcome is `unknown`.
 * 3. The message id is found out, because Slack shares files after its answer. If it stays unknown, the id is that of the
 *    file, and the message cannot be edited.
 */
export async function postFiles(
  { files, text, threadId }: FilePost,
  adapter: Adapter,
  options: FilePostOptions,
): Promise<string> {
  const { clock, onSent, signal } = options;
  const { formatConverter, getToken, slackApiUrl = "https://slack.com/api/" } = parts.parse(adapter);
  const api = new SlackApi(slackApiUrl, await getToken.call(adapter), options);
  const [, channel = "", threadTs] = threadId.split(":");
  const uploaded = await withSignsOfLife(clock, onSent, async () => {
    const ids: string[] = [];
    for (const one of files) ids.push(await upload(one, api, options));
    return ids;
  });
  const [fileId = ""] = uploaded;
  const markup = text === "" ? "" : formatConverter.toResponseUrlText({ markdown: text });
  onSent?.(true);
  const request = {
    files: JSON.stringify(uploaded.map((id, index) => ({ id, title: files[index]?.filename }))),
    channel_id: channel,
    ...(threadTs && { thread_ts: threadTs }),
    ...(markup && { initial_comment: markup }),
  };
  let isCertain = true;
  try {
    const answer = completed.safeParse(await api.call("files.completeUploadExternal", request));
    const messageId = answer.data?.files.map((one) => messageIn(one, channel)).find((id) => id !== undefined);
    if (messageId !== undefined) return messageId;
  } catch (error) {
    if (!mayBeDone(error)) throw error;
    isCertain = false;
  }
  for (const afterMs of ASK_AFTER_MS) {
    await wait(clock, afterMs, signal);
    const answer = await api.call("files.info", { file: fileId }).catch((error: unknown) => error);
    const messageId = messageIn(information.safeParse(answer).data?.file, channel);
    if (messageId !== undefined) return messageId;
    // Without the right to read files it stays unknown.
    if (answer instanceof ChatSdkCallError) break;
  }
  if (!isCertain) throw new ChatSdkCallError("post", { kind: "unknown", code: "no-answer" });
  return `file:${fileId}`;
}

/** Uploads a file, which nobody sees yet. Returns its id. */
async function upload(
  { data, filename }: FileUpload,
  api: SlackApi,
  { fetch, signal }: FilePostOptions,
): Promise<string> {
  const body = data instanceof Blob ? data : new Blob([new Uint8Array(data)]);
  try {
    const length = String(body.size);
    const { file_id: fileId, upload_url: url } = ticket.parse(
      await api.call("files.getUploadURLExternal", { filename, length }),
    );
    const response = await fetch(url, { method: "POST", body, signal });
    if (!response.ok) throw new RefusedRequest(response, await response.text());
    void response.body?.cancel().catch(() => undefined);
    return fileId;
  } catch (error) {
    if (mayBeDone(error)) throw new ChatSdkCallError("post", { kind: "transient", code: "upload-failed" });
    throw error;
  }
}

/** Answers after which Slack cannot tell whether some of the call was done. */
export const UNDECIDED: ReadonlySet<string> = new Set(["fatal_error", "internal_error"]);

/** False if Slack has refused the request. */
function mayBeDone(error: unknown): boolean {
  if (error instanceof RefusedRequest) return error.status >= 500;
  if (error instanceof SlackRefusal) return UNDECIDED.has(error.data.error);
  return !(error instanceof ChatSdkCallError);
}

/** A refusal with the status 200, as Slack's own client reports it. */
class SlackRefusal extends Error {
  readonly code = "slack_webapi_platform_error";
  readonly data: { readonly error: string };

  constructor(error: string) {
    super("Slack has refused the call.");
    this.name = "SlackRefusal";
    this.data = { error };
  }
}

class SlackApi {
  readonly #url: string;
  readonly #token: string;
  readonly #options: Pick<FilePostOptions, "fetch" | "signal">;

  constructor(url: string, token: string, options: Pick<FilePostOptions, "fetch" | "signal">) {
    this.#url = url;
    this.#token = token;
    this.#options = options;
  }

  async call(method: string, values: Readonly<Record<string, string>>): Promise<unknown> {
    const { fetch, signal } = this.#options;
    const response = await fetch(new URL(method, this.#url), {
      method: "POST",
      headers: { authorization: `Bearer ${this.#token}` },
      body: new URLSearchParams(values),
      redirect: "manual",
      signal,
    });
    if (!response.ok) throw new RefusedRequest(response, await response.text());
    const answer: unknown = await response.json();
    const { data } = refusal.safeParse(answer);
    // Texts need no right to files, so the messenger's credentials are good.
    if (data?.error === "missing_scope") {
      throw new ChatSdkCallError("post", { kind: "rejected", code: "files-scope-missing", about: "file" });
    }
    if (data !== undefined) throw new SlackRefusal(data.error);
    return answer;
  }
}

const refusal = z.object({ ok: z.literal(false), error: z.string() });

function messageIn(found: z.infer<typeof file> | undefined, channel: string): string | undefined {
  const { private: inPrivate, public: inPublic } = found?.shares ?? {};
  return [inPublic, inPrivate].flatMap((one) => one?.[channel] ?? []).at(-1)?.ts;
}

/** Says now and then that an upload goes on. The delivery would end it after the time of a text. */
async function withSignsOfLife<Value>(
  clock: Clock,
  onSent: FilePostOptions["onSent"],
  run: () => Promise<Value>,
): Promise<Value> {
  const ended = new AbortController();
  const signs = async (): Promise<never> => {
    for (;;) {
      onSent?.(false);
      await wait(clock, SIGN_OF_LIFE_MS, ended.signal);
    }
  };
  void signs().catch(() => {
    // The upload has ended.
  });
  try {
    return await run();
  } finally {
    ended.abort();
  }
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
