import { abortError, untilAborted } from "../../src/core/time/until-aborted.ts";
import { multipartBody, type Reading, type UploadPart } from "./files/multipart.ts";
import type { Opts } from "grammy/types";
import { Api, GrammyError, HttpError, type RawApi } from "grammy/web";
import { z } from "zod";
import { TelegramCallError, gatewayFailure, networkFailure, refusalFailure } from "./call-error.ts";
import type { TelegramSettings } from "./options.ts";
import { parseJson } from "../../src/core/json/parse-json.ts";

/**
 * The only access to the Bot API. Every call ends when its signal aborts, is made once, and rejects only with a
 * `TelegramCallError`.
 */
export interface TelegramClient {
  call<Method extends keyof RawApi>(
    method: Method,
    payload: Opts<Method>,
    signal: AbortSignal,
  ): Promise<CallResult<Method>>;
  /**
   * Makes a call that streams files. `attach://<name>` in a value refers to the part of that name. Without files it is
   * an ordinary call.
   */
  upload(
    method: string,
    payload: Readonly<Record<string, unknown>>,
    files: readonly UploadPart[],
    reading: Reading,
  ): Promise<unknown>;
  /** Returns the Bot API for bot code. Its calls reject with a `TelegramCallError`, which contains no token. */
  botApi(): Api;
}

/** The result of a call, as grammY types it. */
export type CallResult<Method extends keyof RawApi> = Awaited<ReturnType<RawApi[Method]>>;

/** grammY's own limit, for bot code that passes no signal. */
const backstopTimeoutS = 300;

export function createTelegramClient(
  settings: TelegramSettings,
  fetch: typeof globalThis.fetch,
): TelegramClient {
  let botApi: Api | undefined;
  const upload: TelegramClient["upload"] = async (method, payload, files, reading) => {
    const { onSent, signal } = reading;
    if (signal.aborted) throw new TelegramCallError(method, { kind: "transient", code: "not-started" });
    const url = `${settings.apiBaseUrl}/bot${settings.token}/${method}`;
    try {
      const request = files.length === 0 ? jsonRequest(payload) : multipartRequest(payload, files, reading);
      if (files.length > 0) onSent?.(false);
      // Ends the wait at once, even if a `fetch` ignores its signal.
      const answer = await untilAborted(
        signal,
        answerOf(fetch, url, { ...request, method: "POST", signal }),
        abortError,
      );
      if (answer.ok) return answer.result;
      throw new GrammyError("refused", answer, method, {});
    } catch (error) {
      throw callError(method, error, signal.aborted);
    }
  };
  return {
    upload,
    call: async (method, payload, signal) => (await upload(method, payload, [], { signal })) as never,
    botApi() {
      if (botApi !== undefined) return botApi;
      botApi = new Api(settings.token, {
        apiRoot: settings.apiBaseUrl,
        timeoutSeconds: backstopTimeoutS,
        sensitiveLogs: false,
        // grammY's web build is typed for node-fetch. It only uses `json()` of a response.
        fetch: (async (input: string, init: RequestInit) => {
          const answer = await answerOf(fetch, input, init);
          return { json: () => answer };
        }) as never,
      });
      botApi.config.use(async (previous, method, payload, signal) => {
        try {
          return await previous(method, payload, signal);
        } catch (error) {
          throw callError(method, error, signal?.aborted);
        }
      });
      return botApi;
    },
  };
}

/**
 * Turns any error into the one that may leave this file. Never throws, and keeps no reference to the original error
 * (I10).
 */
export function callError(method: string, error: unknown, aborted = false): TelegramCallError {
  if (error instanceof TelegramCallError) return error;
  if (error instanceof GatewayAnswer) {
    return new TelegramCallError(method, gatewayFailure(error.status, error.retryAfter), error.status);
  }
  if (error instanceof HttpError) return callError(method, error.error, aborted);
  if (error instanceof GrammyError) {
    const { error_code: errorCode, description, parameters } = error;
    const failure = refusalFailure({
      errorCode,
      description,
      retryAfterS: parameters.retry_after,
      migrateToChatId: parameters.migrate_to_chat_id,
    });
    return new TelegramCallError(method, failure, errorCode);
  }
  return new TelegramCallError(method, networkFailure(error, aborted));
}

const apiAnswer = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), result: z.unknown() }).refine((answer) => "result" in answer),
  z.object({
    ok: z.literal(false),
    error_code: z.number(),
    description: z.string().catch(""),
    parameters: z
      .object({ retry_after: z.number().optional(), migrate_to_chat_id: z.number().optional() })
      .catch({}),
  }),
]);

type ApiAnswer = z.infer<typeof apiAnswer>;

function jsonRequest(payload: Readonly<Record<string, unknown>>): RequestInit {
  return { headers: { "content-type": "application/json" }, body: JSON.stringify(payload) };
}

interface WithFixedLength {
  readonly FixedLengthStream?: new (sizeBytes: number) => TransformStream<Uint8Array, Uint8Array>;
}

/** Creates the request of an upload. In workerd it declares the length of its body; elsewhere the body is chunked. */
function multipartRequest(
  payload: Readonly<Record<string, unknown>>,
  files: readonly UploadPart[],
  reading: Reading,
): RequestInit {
  const fields = Object.entries(payload).map(
    ([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as const,
  );
  const boundary = `switchboard-${crypto.randomUUID()}`;
  const { contentType, sizeBytes, stream } = multipartBody(
    Object.fromEntries(fields),
    files,
    boundary,
    reading,
  );
  const { FixedLengthStream } = globalThis as WithFixedLength;
  const body =
    FixedLengthStream === undefined ? stream : stream.pipeThrough(new FixedLengthStream(sizeBytes));
  return { headers: { "content-type": contentType }, body, duplex: "half" } as RequestInit;
}

/** A response that is not the Bot API's JSON. Never leaves this file. */
class GatewayAnswer extends Error {
  readonly status: number;
  readonly retryAfter: string | null;

  constructor(status: number, retryAfter: string | null) {
    super("not a Bot API answer");
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/**
 * Makes one request. grammY reads JSON whatever the status is, so it would turn a gateway's page into a syntax error
 * without its status.
 */
async function answerOf(
  fetch: typeof globalThis.fetch,
  input: string,
  init: RequestInit,
): Promise<ApiAnswer> {
  // The address holds the token, so redirects are not followed.
  const response = await fetch(input, { ...init, redirect: "manual" });
  const answer = apiAnswer.safeParse(parseJson(await response.text()));
  if (!answer.success) throw new GatewayAnswer(response.status, response.headers.get("retry-after"));
  return answer.data;
}
