import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { CallKind, Place, PlatformCall, PlatformEmulator, Refusal } from "./platform-emulator.ts";

/**
 * - `cut-before`: the connection breaks, and nothing was done
 * - `cut-after`: it is done, and the connection breaks before the answer
 * - `no-answer`: it is done, and the connection stays open without an answer
 * - `edit-limit`: the message can no longer be changed
 */
export type Fault =
  | Refusal
  | { readonly kind: "edit-limit" }
  | { readonly kind: "cut-before" }
  | { readonly kind: "cut-after" }
  | { readonly kind: "no-answer" };

export interface FaultRule {
  readonly fault: Fault;
  /** @default every kind */
  readonly on?: readonly CallKind[];
  /** @default every place */
  readonly in?: Place;
  /** Calls that it hits. @default 1 */
  readonly times?: number;
  /** Ends the rule. @default never */
  readonly while?: () => boolean;
}

export interface ServedCall extends PlatformCall {
  readonly at: number;
  /** Status of the answer; 0 if the bot got none. */
  readonly status: number;
}

/** Serves an emulator on 127.0.0.1, and makes faults. */
export class EmulatorServer {
  readonly emulator: PlatformEmulator;
  readonly #rules: { readonly rule: FaultRule; left: number }[] = [];
  readonly #calls: ServedCall[] = [];
  readonly #server = createServer((incoming, outgoing) => {
    this.#serve(incoming, outgoing).catch((error: unknown) => {
      this.problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
      outgoing.destroy();
    });
  });
  #changed: () => void = () => {};
  /** Errors of the emulator itself. */
  readonly problems: string[] = [];

  constructor(emulator: PlatformEmulator) {
    this.emulator = emulator;
    emulator.watch(() => this.#changed());
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
    await this.emulator.close?.();
  }

  /** Has `changed` called after every call and every change that people can see. */
  watch(changed: () => void): void {
    this.#changed = changed;
  }

  fail(rule: FaultRule): void {
    this.#rules.push({ rule, left: rule.times ?? 1 });
  }

  calls(place?: Place): readonly ServedCall[] {
    return place === undefined ? this.#calls : this.#calls.filter((call) => call.place === place);
  }

  #faultFor({ kind, place }: PlatformCall): Fault | undefined {
    if (kind === "keys") return undefined;
    const found = this.#rules.find(
      ({ rule, left }) =>
        left > 0 &&
        (rule.on?.includes(kind) ?? true) &&
        (rule.in === undefined || rule.in === place) &&
        (rule.while?.() ?? true),
    );
    if (found === undefined) return undefined;
    found.left -= 1;
    return found.rule.fault;
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await this.#read(incoming);
    const call = await this.emulator.describe(request.clone());
    const fault = this.#faultFor(call);
    const at = Date.now();
    const note = (status: number): void => {
      this.#calls.push({ ...call, at, status });
      this.#changed();
    };
    if (fault?.kind === "cut-before") {
      note(0);
      return void outgoing.destroy();
    }
    const response = this.#refusal(fault, call) ?? (await this.emulator.answer(request));
    if (fault?.kind === "no-answer") return note(0);
    if (fault?.kind === "cut-after") {
      note(0);
      return void outgoing.destroy();
    }
    const body = Buffer.from(await response.arrayBuffer());
    outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(body);
    note(response.status);
  }

  #refusal(fault: Fault | undefined, call: PlatformCall): Response | undefined {
    switch (fault?.kind) {
      case "flood":
      case "error":
      case "token":
        return this.emulator.refuse(fault, call);
      case "edit-limit":
        return this.emulator.refuseEdit?.();
      default:
        return undefined;
    }
  }

  async #read(incoming: IncomingMessage): Promise<Request> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const headers = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    );
    return new Request(`${this.url}${incoming.url ?? "/"}`, {
      method: incoming.method ?? "GET",
      headers: headers.filter(([name]) => !["connection", "content-length", "host", "expect"].includes(name)),
      ...(body.length > 0 && { body }),
    });
  }
}
