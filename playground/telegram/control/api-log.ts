import type { Clock } from "../clock.ts";

/** One Bot API call, from the moment it arrives. */
export interface ApiCall {
  readonly number: number;
  /** Milliseconds. */
  readonly at: number;
  readonly method: string;
  readonly chatId?: number;
  /** The parameters; a file is shown by its name and size. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** What the bot was told. "dropped": the connection ended without an answer. */
  readonly outcome: "pending" | "ok" | "error" | "dropped";
  readonly errorCode?: number;
  readonly description?: string;
  /** What the bot was answered, as long as the call is one of the newest. */
  readonly answer?: object;
  /** Whether the servers did what was asked, whatever the bot was told. */
  readonly processed: boolean;
  /** The kind of the fault that was played on this call. */
  readonly fault?: string;
  /** The message that was made or changed. */
  readonly messageId?: number;
  readonly durationMs?: number;
}

export interface CallFilter {
  readonly method?: string | RegExp;
  readonly chatId?: number;
  readonly outcome?: ApiCall["outcome"];
}

/** Answers are as long as the messages in them, so that only some are kept. */
const answersKept = 300;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Every call, oldest first; the oldest are forgotten beyond `limit`. */
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

/** Who sees the webhook's secret could write to the bot in anybody's name. */
function withoutSecret(payload: ApiCall["payload"]): ApiCall["payload"] {
  return "secret_token" in payload ? { ...payload, secret_token: "(hidden)" } : payload;
}

export function matchesMethod(pattern: string | RegExp, method: string): boolean {
  return typeof pattern === "string" ? pattern.toLowerCase() === method.toLowerCase() : pattern.test(method);
}
