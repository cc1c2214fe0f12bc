import type { Clock } from "../clock.ts";

/** One Bot API call, from the moment it arrives. */
export interface ApiCall {
  readonly number: number;
  /** In milliseconds. */
  readonly at: number;
  readonly method: string;
  readonly chatId?: number;
  /** The parameters. A file is shown by its name and size. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The result that the bot got. "dropped": the connection ended without an answer. */
  readonly outcome: "pending" | "ok" | "error" | "dropped";
  readonly errorCode?: number;
  readonly description?: string;
  /** The answer to the bot. Only the newest calls have one. */
  readonly answer?: object;
  /** True if the call was done, whatever the bot was told. */
  readonly processed: boolean;
  /** Kind of the fault that was injected into this call. */
  readonly fault?: string;
  /** Message that was created or changed. */
  readonly messageId?: number;
  readonly durationMs?: number;
}

export interface CallFilter {
  readonly method?: string | RegExp;
  readonly chatId?: number;
  readonly outcome?: ApiCall["outcome"];
}

/** Number of answers to keep. An answer is as long as the messages in it. */
const answersKept = 300;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** All calls, oldest first. Beyond `limit` the oldest are dropped. */
export class ApiLog {
  readonly #clock: Clock;
  readonly #limit: number;
  #calls: Mutable<ApiCall>[] = [];
  #count = 0;
  onChange: () => void = () => undefined;

  constructor(clock: Clock, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
  }

  start(call: Pick<ApiCall, "method" | "chatId" | "payload">): ApiCall {
    this.#count += 1;
    const entry: Mutable<ApiCall> = {
      number: this.#count,
      at: this.#clock.now(),
      ...call,
      payload: withoutSecret(call.payload),
      outcome: "pending",
      processed: false,
    };
    this.#calls.push(entry);
    const aged = this.#calls.at(-answersKept - 1);
    if (aged !== undefined) delete aged.answer;
    if (this.#calls.length > this.#limit * 1.1) this.#calls = this.#calls.slice(-this.#limit);
    this.onChange();
    return entry;
  }

  update(call: ApiCall, change: Partial<Omit<ApiCall, "number" | "at" | "method">>): void {
    const entry: Mutable<ApiCall> = call;
    Object.assign(entry, change);
    if (change.outcome !== undefined && change.outcome !== "pending")
      entry.durationMs = this.#clock.now() - entry.at;
    this.onChange();
  }

  find(number: number): ApiCall | undefined {
    return this.#calls.findLast((call) => call.number === number);
  }

  list(filter: CallFilter = {}): readonly ApiCall[] {
    return this.#calls.filter(
      (call) =>
        (filter.method === undefined || matchesMethod(filter.method, call.method)) &&
        (filter.chatId === undefined || call.chatId === filter.chatId) &&
        (filter.outcome === undefined || call.outcome === filter.outcome),
    );
  }
}

/** Hides the webhook's secret, with which anyone could write to the bot in another person's name. */
function withoutSecret(payload: ApiCall["payload"]): ApiCall["payload"] {
  return "secret_token" in payload ? { ...payload, secret_token: "(hidden)" } : payload;
}

export function matchesMethod(pattern: string | RegExp, method: string): boolean {
  return typeof pattern === "string" ? pattern.toLowerCase() === method.toLowerCase() : pattern.test(method);
}
