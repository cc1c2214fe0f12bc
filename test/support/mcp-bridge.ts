import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

interface Message {
  readonly id?: string | number;
  readonly method?: string;
}

/** Moments at which the bridge can hold a call: before the server has it, and before its answer leaves. */
export type Moment = "before the effect" | "after the effect";

/**
 * Puts a server of the Model Context Protocol that speaks through its standard input on HTTP: a process for each session.
 * It can hold a call of a tool, whose answer then never leaves.
 */
export class McpBridge {
  /** Names of the tools that were called. */
  readonly calls: string[] = [];
  readonly #command: readonly string[];
  readonly #sessions = new Map<string, StdioServer>();
  readonly #server: Server;
  #held: { readonly moment: Moment; readonly reached: () => void } | undefined;

  /** @param command the program of Node with its parameters */
  constructor(command: readonly string[]) {
    this.#command = command;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  /** Holds the next call of a tool. Resolves when it is there. */
  hold(moment: Moment): Promise<void> {
    return new Promise((reached) => {
      this.#held = { moment, reached };
    });
  }

  close(): void {
    for (const session of this.#sessions.values()) session.close();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const line = await text(request);
    const message = JSON.parse(line) as Message;
    const session = this.#sessionOf(request, message);
    if (session === undefined) return void response.writeHead(400).end();
    const held = message.method === "tools/call" ? this.#called(line) : undefined;
    if (held?.moment === "before the effect") return held.reached();
    const answer = await session.server.send(line, message.id);
    if (held !== undefined) return held.reached();
    response.writeHead(answer === undefined ? 202 : 200, {
      "content-type": "application/json",
      "mcp-session-id": session.id,
    });
    response.end(answer);
  }

  #called(line: string): { readonly moment: Moment; readonly reached: () => void } | undefined {
    const { params } = JSON.parse(line) as { readonly params: { readonly name: string } };
    this.calls.push(params.name);
    const held = this.#held;
    this.#held = undefined;
    return held;
  }

  #sessionOf(
    { headers }: IncomingMessage,
    { method }: Message,
  ): { readonly id: string; readonly server: StdioServer } | undefined {
    const id = method === "initialize" ? randomUUID() : String(headers["mcp-session-id"]);
    if (method === "initialize") this.#sessions.set(id, new StdioServer(this.#command));
    const server = this.#sessions.get(id);
    return server && { id, server };
  }
}

/** One process of a server, which reads and writes a message a line. */
class StdioServer {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<string | number, (line: string) => void>();

  constructor(command: readonly string[]) {
    this.#process = spawn(process.execPath, [...command], { stdio: ["pipe", "pipe", "ignore"] });
    const { stdout } = this.#process;
    if (stdout === null) throw new Error("The server has no output.");
    createInterface({ input: stdout }).on("line", (line) => {
      const { id, method } = JSON.parse(line) as Message;
      if (id !== undefined && method === undefined) this.#waiting.get(id)?.(line);
    });
  }

  /** Sends a message. Resolves with the answer, or undefined if there is none to a message without an id. */
  send(line: string, id: string | number | undefined): Promise<string | undefined> {
    this.#process.stdin?.write(`${line}\n`);
    if (id === undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => void this.#waiting.set(id, resolve));
  }

  close(): void {
    this.#process.kill();
  }
}
