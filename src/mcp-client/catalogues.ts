import type { Database } from "../core/store/database.ts";
import type { Deps } from "../core/base/deps.ts";
import { failureCode } from "../core/base/errors.ts";
import type { Log } from "../core/base/log.ts";
import { sha256Now } from "../core/bytes/sha256.ts";
import type { HealthWarning } from "../messengers/root/health/health-problem.ts";
import { CatalogueStore, type CatalogueRow, type Decision } from "./catalogue-store.ts";
import { failureReason, McpConnection, withToken } from "./connection.ts";
import type { McpServer, McpServers } from "./mcp-client-options.ts";
import type { OfferedTools, PersonKey, ToolState } from "./mcp-client-calls.ts";
import type { OwnerCards } from "./owner-card.ts";
import { pinTools, type ListedTool, type ToolPin } from "./tool-pin.ts";

/** Age at which a catalogue is asked for again. */
const FRESH_MS = 10 * 60_000;
/** Rest after a server could not be asked. */
const REST_MS = 60_000;
/** Decisions that are kept, also those about tools that the server lists no more. */
const MOST_DECISIONS = 1_000;
const MOST_NAMED = 5;
/** People whose lists are remembered. */
const MOST_PEOPLE = 2_000;
/** Tools of a server that lists others for each person. */
const MOST_JOINED = 256;

export interface CataloguesOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly servers: () => McpServers;
  readonly maxTools: number | undefined;
  readonly cards: Pick<OwnerCards, "ask">;
  /** Returns a person's token. */
  readonly tokenFor: (server: string, person: PersonKey) => Promise<string | undefined>;
}

/**
 * The tools of the bot's servers, kept once at the root.
 *
 * 1. A tool is offered only while its server lists it exactly as the owner has agreed to it.
 * 2. Nobody waits for a server: a catalogue is asked for in the background, and the stored one counts meanwhile.
 * 3. A server that is away keeps its tools, so that their calls can say that it is away.
 */
export class Catalogues {
  readonly #options: CataloguesOptions;
  readonly #store: CatalogueStore;
  readonly #running = new Map<string, Promise<void>>();
  /** The hashes of the tools that a server has listed for a person. */
  readonly #own = new Map<string, { readonly at: number; readonly hashes: readonly string[] }>();

  constructor(options: CataloguesOptions) {
    this.#options = options;
    this.#store = new CatalogueStore(options.database);
  }

  /** Returns the tools to which the owner has agreed. */
  offered(): OfferedTools {
    const entries = Object.entries(this.#options.servers()).map(([name, server]) => {
      const row = this.#rowOf(name, server);
      return [name, (row?.tools ?? []).filter(({ hash }) => row?.decisions[hash] === "allowed")] as const;
    });
    const tools = Object.fromEntries(entries);
    return {
      tools,
      version: sha256Now(JSON.stringify(entries.map(([name, own]) => [name, own.map(({ hash }) => hash)]))),
    };
  }

  states(): readonly ToolState[] {
    return Object.entries(this.#options.servers()).flatMap(([server, declared]) => {
      const row = this.#rowOf(server, declared);
      return (row?.tools ?? []).map(({ description, hash, name }) => ({
        server,
        tool: name,
        hash,
        description,
        state: row?.decisions[hash] ?? ("new" as const),
      }));
    });
  }

  /** Returns the names of the servers whose catalogue is old. */
  stale(): readonly string[] {
    const now = this.#options.deps.clock.now();
    return Object.entries(this.#options.servers()).flatMap(([name, server]) => {
      const row = this.#rowOf(name, server);
      if (row === undefined) return [name];
      const restMs = row.problem === undefined ? FRESH_MS : REST_MS;
      return now - row.triedAt >= restMs ? [name] : [];
    });
  }

  /** Makes a catalogue old. */
  expire(name: string): void {
    const server = this.#options.servers()[name];
    const row = server && this.#rowOf(name, server);
    if (row !== undefined) this.#store.put({ ...row, triedAt: 0 });
    for (const key of this.#own.keys())
      if (key.startsWith(`${JSON.stringify([name]).slice(0, -1)},`)) this.#own.delete(key);
  }

  /**
   * Asks a server for its tools, and the owner about new ones. Never throws.
   *
   * @param person the person with whose token a server is asked at which people sign in. It is not asked without one.
   */
  refresh(name: string, person?: PersonKey): Promise<void> {
    const key = keyOf(name, person);
    const running =
      this.#running.get(key) ?? this.#refresh(name, person).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }

  /** Returns the hashes of the tools that a server lists for a person. Undefined if it cannot be asked now. */
  async ofPerson(name: string, person: PersonKey): Promise<readonly string[] | undefined> {
    const key = keyOf(name, person);
    const { clock } = this.#options.deps;
    const known = this.#own.get(key);
    if (known !== undefined && clock.now() - known.at < FRESH_MS) return known.hashes;
    await this.refresh(name, person);
    return this.#own.get(key)?.hashes;
  }

  /** Forgets a person's list, with the connection. */
  forgetPerson(name: string, person: PersonKey): void {
    this.#own.delete(keyOf(name, person));
  }

  async #refresh(name: string, person: PersonKey | undefined): Promise<void> {
    const { log } = this.#options;
    try {
      const server = this.#options.servers()[name];
      if (server === undefined) return;
      const listed = await this.#list(name, server, person);
      if (listed === undefined) return;
      this.#keep(name, server, listed, person);
      await this.askOwner(name);
    } catch (error) {
      log.error("mcp-client.catalogue-failed", { server: name, code: failureCode(error) });
    }
  }

  async #list(
    name: string,
    server: McpServer,
    person: PersonKey | undefined,
  ): Promise<readonly ListedTool[] | undefined> {
    const { deps, log, tokenFor } = this.#options;
    const isPersonal = server.auth !== undefined && person !== undefined;
    const token = isPersonal ? await tokenFor(name, person).catch(() => undefined) : undefined;
    if (server.auth !== undefined && token === undefined) return undefined;
    const listed = token === undefined ? server : withToken(server, token);
    const connection = new McpConnection({ server: listed, deps, onToolsChanged: () => {} });
    try {
      return await connection.listTools();
    } catch (error) {
      const problem = failureReason(error);
      log.warn("mcp-client.server-failed", { server: name, reason: problem });
      const row = this.#rowOf(name, server) ?? newRow(name, server);
      this.#store.put({ ...row, triedAt: deps.clock.now(), problem });
      return undefined;
    } finally {
      connection.close();
    }
  }

  #keep(name: string, server: McpServer, listed: readonly ListedTool[], person?: PersonKey): void {
    const { deps, log, maxTools } = this.#options;
    const { leftOut, tools } = pinTools(name, listed, server, maxTools);
    if (server.auth !== undefined && person !== undefined) this.#keepOwn(name, person, tools);
    const row = this.#rowOf(name, server) ?? newRow(name, server);
    const now = deps.clock.now();
    if (JSON.stringify(leftOut) !== JSON.stringify(row.leftOut))
      for (const { why } of leftOut.slice(0, 1))
        log.warn("mcp-client.tools-left-out", { server: name, count: leftOut.length, reason: why });
    this.#store.put({
      ...row,
      triedAt: now,
      listedAt: now,
      problem: undefined,
      tools: server.auth === undefined ? [...tools] : joined(tools, row.tools),
      leftOut: [...leftOut],
    });
  }

  #keepOwn(name: string, person: PersonKey, tools: readonly ToolPin[]): void {
    const [oldest] = this.#own.keys();
    if (oldest !== undefined && this.#own.size >= MOST_PEOPLE) this.#own.delete(oldest);
    const hashes = tools.map(({ hash }) => hash);
    this.#own.set(keyOf(name, person), { at: this.#options.deps.clock.now(), hashes });
  }

  /** Asks the owner about the tools of a server about which nobody was asked. */
  async askOwner(name: string): Promise<void> {
    const { log, servers } = this.#options;
    const server = servers()[name];
    const row = server && this.#rowOf(name, server);
    if (server === undefined || row === undefined) return;
    const unasked = row.tools.filter(({ hash }) => row.decisions[hash] === undefined);
    if (unasked.length === 0) return;
    const isAsked = await this.#options.cards.ask(name, unasked, (tool) => row.asked.includes(tool.name));
    const now = this.#rowOf(name, server);
    if (!isAsked || now === undefined) return;
    log.info("mcp-client.tools-asked", { server: name, count: unasked.length });
    const hashes = unasked.map(({ hash }) => hash).filter((hash) => now.decisions[hash] === undefined);
    this.#decide(now, hashes, "asked");
  }

  /** Stores a decision. Returns how many of the tools the server lists now. */
  decide(name: string, hashes: readonly string[], isAllowed: boolean): number {
    const server = this.#options.servers()[name];
    const row = server && this.#rowOf(name, server);
    if (row === undefined) return 0;
    const listed = row.tools.map(({ hash }) => hash).filter((hash) => hashes.includes(hash));
    this.#decide(row, listed, isAllowed ? "allowed" : "refused");
    this.#options.log.info("mcp-client.tools-decided", { server: name, count: listed.length, isAllowed });
    return listed.length;
  }

  #decide(row: CatalogueRow, hashes: readonly string[], decision: Decision): void {
    const rest = Object.entries(row.decisions).filter(([hash]) => !hashes.includes(hash));
    const entries = [...rest, ...hashes.map((hash) => [hash, decision] as const)].slice(-MOST_DECISIONS);
    const names = row.tools.filter(({ hash }) => hashes.includes(hash)).map(({ name }) => name);
    this.#store.put({
      ...row,
      decisions: Object.fromEntries(entries),
      asked: [...new Set([...row.asked, ...names])].slice(-MOST_DECISIONS),
    });
  }

  warnings(): HealthWarning[] {
    return Object.entries(this.#options.servers()).flatMap(([name, server]) => {
      const row = this.#rowOf(name, server);
      return row === undefined ? [] : warningsOf(name, row);
    });
  }

  /** Returns the catalogue of a server, if it is that of its present address. */
  #rowOf(name: string, { url }: McpServer): CatalogueRow | undefined {
    const row = this.#store.get(name);
    return row?.addressHash === sha256Now(url) ? row : undefined;
  }
}

function keyOf(server: string, person: PersonKey | undefined): string {
  return person === undefined ? server : JSON.stringify([server, person.messenger, person.userId]);
}

/** The tools of one person, with those that the server has listed for others. */
function joined(own: readonly ToolPin[], others: readonly ToolPin[]): ToolPin[] {
  const hashes = new Set(own.map(({ hash }) => hash));
  return [...own, ...others.filter(({ hash }) => !hashes.has(hash))].slice(0, MOST_JOINED);
}

function newRow(server: string, { url }: McpServer): CatalogueRow {
  return {
    server,
    addressHash: sha256Now(url),
    triedAt: 0,
    listedAt: undefined,
    problem: undefined,
    tools: [],
    leftOut: [],
    decisions: {},
    asked: [],
  };
}

function warningsOf(server: string, { decisions, leftOut, problem, tools }: CatalogueRow): HealthWarning[] {
  const waiting = tools.filter(({ hash }) => !["allowed", "refused"].includes(decisions[hash] ?? "new"));
  const warnings: HealthWarning[] = [];
  if (problem !== undefined)
    warnings.push({
      code: "mcp-server-failing",
      message: `The MCP server "${server}" could not be asked for its tools (${problem}). It is asked again each minute while people write.`,
    });
  if (waiting.length > 0)
    warnings.push({
      code: "mcp-tools-waiting",
      message: `${waiting.length} tools of the MCP server "${server}" wait for the owner: ${namesOf(waiting)}. Decide in the owner's chat, or at /switchboard/mcp-tools.`,
    });
  for (const [why, words] of Object.entries(LEFT_OUT)) {
    const tools = leftOut.filter((tool) => tool.why === why);
    if (tools.length > 0)
      warnings.push({
        code: "mcp-tools-left-out",
        message: `${tools.length} tools of the MCP server "${server}" are not offered, because ${words}: ${namesOf(tools)}.`,
      });
  }
  return warnings;
}

const LEFT_OUT = {
  schema: "no provider of models takes their input schemas",
  "too-many": 'there are too many; name the useful ones in "only", or raise "maxTools"',
  name: "their names cannot be used",
};

/** Names are the server's words. */
function namesOf(tools: readonly { readonly name: string }[]): string {
  const names = tools.slice(0, MOST_NAMED).map(({ name }) => name.replaceAll(/[^\w./-]/g, "_").slice(0, 64));
  return tools.length > MOST_NAMED ? `${names.join(", ")} and others` : names.join(", ");
}
