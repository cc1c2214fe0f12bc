import type { ApiCall, ApiLog } from "../control/api-log.ts";
import { BotApiError } from "./bot-api-error.ts";
import type { ResponseParameters } from "./bot-api-error.ts";
import { CallParameters, readText } from "./call-parameters.ts";
import type { Flood } from "../control/flood.ts";
import { findMethod, floodCounted } from "./methods/index.ts";
import type { MethodContext } from "./methods/context.ts";
import type { RawParameters } from "./request-body.ts";

export type BotApiAnswer =
  | { readonly ok: true; readonly result: unknown }
  | {
      readonly ok: false;
      readonly error_code: number;
      readonly description: string;
      readonly parameters?: ResponseParameters;
    };

/** Runs Bot API calls against the world and logs them. It has no part of HTTP. */
export class BotApi {
  readonly #context: MethodContext;
  readonly #log: ApiLog;
  readonly #flood: Flood | undefined;

  constructor(context: MethodContext, log: ApiLog, flood: Flood | undefined) {
    this.#context = context;
    this.#log = log;
    this.#flood = flood;
  }

  /** Logs the arrival of a call. */
  begin(method: string, raw: RawParameters): ApiCall {
    const chatId = this.#chatOf(raw);
    return this.#log.start({
      method: findMethod(method)?.name ?? method,
      payload: readablePayload(raw),
      ...(chatId !== undefined && { chatId }),
    });
  }

  /** Runs the call. Never throws. */
  process(call: ApiCall, raw: RawParameters): BotApiAnswer {
    try {
      const method = findMethod(call.method);
      if (method === undefined) throw new BotApiError(404, "Not Found: method not found");
      if (call.chatId !== undefined && floodCounted.has(method.name)) {
        this.#flood?.count(call.chatId, this.#isLookup(method.name, raw, call.chatId));
      }
      const result = method.run(this.#context, new CallParameters(raw));
      const messageId = messageIdOf(result);
      this.#log.update(call, { processed: true, ...(messageId !== undefined && { messageId }) });
      return { ok: true, result };
    } catch (error) {
      if (error instanceof BotApiError) return errorAnswer(error);
      // A bug of the simulator itself. It is printed, and the bot gets a server error.
      console.error(`The simulator failed in ${call.method}:`, error);
      return errorAnswer(new BotApiError(500, "Internal Server Error"));
    }
  }

  /** Logs the answer to the bot. */
  answered(call: ApiCall, answer: BotApiAnswer): void {
    if (answer.ok) this.#log.update(call, { outcome: "ok", answer });
    else
      this.#log.update(call, {
        outcome: "error",
        answer,
        errorCode: answer.error_code,
        description: answer.description,
      });
  }

  /** Logs and runs a call that came in the answer to an update. */
  run(method: string, raw: RawParameters): BotApiAnswer {
    const call = this.begin(method, raw);
    const answer = this.process(call, raw);
    this.answered(call, answer);
    return answer;
  }

  /**
   * Whether an edit is only a lookup. Telegram's server looks a message up before it edits it, so a missing message
   * costs no edit.
   */
  #isLookup(method: string, raw: RawParameters, chatId: number): boolean {
    if (!method.startsWith("edit")) return false;
    const messageId = new CallParameters(raw).integer("message_id");
    return this.#context.world.chats.get(chatId)?.messages.has(messageId) !== true;
  }

  #chatOf(raw: RawParameters): number | undefined {
    const chatId = Number(raw.values.chat_id ?? Number.NaN);
    if (Number.isSafeInteger(chatId)) return chatId;
    const queryId = raw.values.callback_query_id;
    return queryId === undefined ? undefined : this.#context.callbackQueries.find(readText(queryId))?.chatId;
  }
}

export function errorAnswer(error: BotApiError): BotApiAnswer {
  return {
    ok: false,
    error_code: error.errorCode,
    description: error.description,
    ...(error.parameters !== undefined && { parameters: error.parameters }),
  };
}

function messageIdOf(result: unknown): number | undefined {
  const first: unknown = Array.isArray(result) ? result[0] : result;
  if (typeof first !== "object" || first === null || !("message_id" in first)) return undefined;
  return typeof first.message_id === "number" ? first.message_id : undefined;
}

function readablePayload(raw: RawParameters): Record<string, unknown> {
  const files = [...raw.files].map(([name, file]) => [
    name,
    { fileName: file.fileName, mimeType: file.mimeType, sizeBytes: file.bytes.length },
  ]);
  return { ...raw.values, ...Object.fromEntries(files) };
}
