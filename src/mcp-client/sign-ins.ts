import { z } from "zod";
import type { Database } from "../core/store/database.ts";
import type { Deps } from "../core/base/deps.ts";
import { ConfigurationError, failureCode } from "../core/base/errors.ts";
import type { Log } from "../core/base/log.ts";
import { parseJson } from "../core/json/parse-json.ts";
import { SecretStore } from "../core/store/secret-store.ts";
import { sha256Now } from "../core/bytes/sha256.ts";
import { publicNetworkOf } from "../core/web/public-network.ts";
import { Authorization, begunSchema, tokensSchema } from "./authorization.ts";
import type { Tokens } from "./authorization.ts";
import type { BegunSignIn, PersonKey, SignInAnswer, SignInPage } from "./mcp-client-calls.ts";
import type { McpServer, McpServers } from "./mcp-client-options.ts";
import { SignInStore } from "./sign-in-store.ts";
import type { SignInRow } from "./sign-in-store.ts";

/** Time in which a link can be used. */
const LINK_MS = 15 * 60_000;

const clientSchema = z.looseObject({ client_id: z.string(), client_secret: z.string().optional() });

export interface SignInsOptions {
  readonly database: Database;
  readonly env: object;
  readonly deps: Deps;
  readonly log: Log;
  readonly servers: () => McpServers;
  /** The bot's address on the internet. */
  readonly publicUrl: () => string;
}

/**
 * Signs people in at servers, and keeps their tokens, at the root.
 *
 * 1. A state belongs to one person and server, ends after a quarter of an hour, and connects once.
 * 2. Until it has connected, its link can be opened again: a process that dies between redirect and token loses nothing.
 * 3. The link shows whose chat it connects, and only the browser that has opened it can come back.
 * 4. Tokens are in the secret store only. All conversations get them here, so one refresh serves all calls.
 * 5. A secret of a person is stored and deleted together with its row, and its name has the person's id.
 */
export class SignIns {
  readonly #options: SignInsOptions;
  readonly #store: SignInStore;
  readonly #secrets: SecretStore;
  readonly #exchanges = new Map<string, Promise<SignInAnswer>>();
  readonly #refreshes = new Map<string, Promise<string | undefined>>();

  constructor(options: SignInsOptions) {
    const { database, deps, env } = options;
    this.#options = options;
    this.#store = new SignInStore(database);
    this.#secrets = new SecretStore({ database, env, clock: deps.clock });
  }

  /** Begins a sign-in. Returns the address of its link. */
  begin(server: string, { messenger, userId }: PersonKey, name: string): BegunSignIn {
    const { deps } = this.#options;
    const now = deps.clock.now();
    this.sweep();
    const state = deps.newId();
    const row = { stateHash: sha256Now(state), server, messenger, userId, name, expiresAt: now + LINK_MS };
    this.#store.begin(row);
    const url = new URL(this.#callbackOf(server));
    url.searchParams.set("begin", state);
    return { url: url.href, stateHash: row.stateHash };
  }

  /** Returns the page of a link: the address at which the person signs in. Undefined if the link is over. */
  async page(server: string, state: string): Promise<SignInPage | undefined> {
    const row = this.#open(server, state);
    const declared = this.#options.servers()[server];
    if (row === undefined || declared === undefined) return undefined;
    const authorization = this.#authorization(server, declared);
    const { address, grantor, verifier } = await authorization.begin(state, (issuer) =>
      this.#knownClient(server, issuer),
    );
    if (typeof declared.auth !== "object")
      await this.#secrets.put(this.#clientName(server, grantor.issuer), JSON.stringify(grantor.client));
    const keep = await this.#secrets.sealed(verifierName(row), JSON.stringify({ grantor, verifier }));
    // It may have connected meanwhile.
    if (this.#open(server, state) === undefined) return undefined;
    keep();
    return { address, name: row.name };
  }

  /** Takes the answer of an authorization server. The same one twice is taken once. */
  finish(server: string, state: string, code: string, iss: string | undefined): Promise<SignInAnswer> {
    const running = this.#exchanges.get(state);
    if (running !== undefined) return running;
    const made = this.#finish(server, state, code, iss).finally(() => this.#exchanges.delete(state));
    this.#exchanges.set(state, made);
    return made;
  }

  async #finish(server: string, state: string, code: string, iss: string | undefined): Promise<SignInAnswer> {
    const { database, deps, log } = this.#options;
    const row = this.#open(server, state);
    const declared = this.#options.servers()[server];
    const stored = row && (await this.#secrets.get(verifierName(row)));
    const begun = begunSchema.safeParse(parseJson(stored ?? ""));
    if (row === undefined || declared === undefined || !begun.success) return { kind: "over" };
    const { grantor, verifier } = begun.data;
    let tokens: Tokens;
    try {
      tokens = await this.#authorization(server, declared).exchange(grantor, verifier, code, iss);
    } catch (error) {
      log.warn("mcp-client.sign-in-failed", { server, code: failureCode(error) });
      this.#forgetClient(server, grantor.issuer, error);
      return { kind: "failed" };
    }
    const { messenger, userId } = row;
    const secret = secretName(server, declared, { messenger, userId });
    const keep = await this.#secrets.sealed(secret, JSON.stringify(tokens));
    database.transaction(() => {
      keep();
      this.#store.connect({ secret, server, messenger, userId, connectedAt: deps.clock.now() });
      this.#forget(row);
    });
    log.info("mcp-client.signed-in", { server });
    return { kind: "connected", person: { messenger, userId } };
  }

  /** Returns the servers to which a person is connected. */
  connectedTo({ messenger, userId }: PersonKey): readonly string[] {
    const servers = this.#options.servers();
    return this.#store.of(messenger, userId).flatMap(({ secret, server }) => {
      const declared = servers[server];
      const isSame =
        declared?.auth !== undefined && secretName(server, declared, { messenger, userId }) === secret;
      return isSame ? [server] : [];
    });
  }

  /** Deletes the links whose time is over, and their verifiers. */
  sweep(): void {
    for (const row of this.#store.expired(this.#options.deps.clock.now())) this.#forget(row);
  }

  /** Returns the time of the next sweep. */
  sweepAt(): number | undefined {
    return this.#store.firstEnd();
  }

  /**
   * Returns a person's token. Undefined if the person must sign in.
   *
   * @param refused a token that the server has refused
   */
  async token(server: string, person: PersonKey, refused?: string): Promise<string | undefined> {
    const declared = this.#options.servers()[server];
    if (declared?.auth === undefined) return undefined;
    const secret = secretName(server, declared, person);
    const tokens = await this.#tokens(secret);
    if (tokens === undefined) return undefined;
    const authorization = this.#authorization(server, declared);
    if (tokens.access !== refused && !authorization.isOld(tokens)) return tokens.access;
    const running = this.#refreshes.get(secret);
    if (running !== undefined) return running;
    const made = this.#refresh(server, secret, authorization, tokens.access).finally(() =>
      this.#refreshes.delete(secret),
    );
    this.#refreshes.set(secret, made);
    return made;
  }

  /** @param seen the access token that is no good. If there is another one now, a refresh has ended meanwhile. */
  async #refresh(
    server: string,
    secret: string,
    authorization: Authorization,
    seen: string,
  ): Promise<string | undefined> {
    const before = this.#store.connection(secret);
    const tokens = await this.#tokens(secret);
    if (before === undefined || tokens === undefined) return undefined;
    if (tokens.access !== seen) return tokens.access;
    let newer: Tokens | undefined;
    let keep: (() => void) | undefined;
    try {
      newer = await authorization.refresh(tokens);
      keep = newer && (await this.#secrets.sealed(secret, JSON.stringify(newer)));
    } catch (error) {
      this.#options.log.warn("mcp-client.refresh-failed", { server, code: failureCode(error) });
      // A server that is away says nothing about the token: the next call tries again.
      if (!isRefusal(error)) throw error;
      this.#forgetClient(server, tokens.grantor.issuer, error);
    }
    // The person may have disconnected meanwhile, and connected again.
    if (this.#store.connection(secret)?.connectedAt !== before.connectedAt)
      return (await this.#tokens(secret))?.access;
    if (keep === undefined) this.#drop(secret);
    else keep();
    return newer?.access;
  }

  /** Deletes a person's tokens, and tells the authorization server. Returns `false` if there were none. */
  async disconnect(server: string, person: PersonKey): Promise<boolean> {
    const declared = this.#options.servers()[server];
    if (declared === undefined) return false;
    const secret = secretName(server, declared, person);
    if (this.#store.connection(secret) === undefined) return false;
    // Tokens that no key opens any more can be deleted all the same.
    const tokens = await this.#tokens(secret).catch(() => undefined);
    this.#drop(secret);
    if (tokens !== undefined)
      await this.#authorization(server, declared)
        .revoke(tokens)
        .catch((error: unknown) => {
          this.#options.log.warn("mcp-client.revocation-failed", { server, code: failureCode(error) });
        });
    return true;
  }

  #drop(secret: string): void {
    this.#options.database.transaction(() => {
      this.#store.disconnect(secret);
      this.#secrets.delete(secret);
    });
  }

  #forget(row: SignInRow): void {
    this.#options.database.transaction(() => {
      this.#store.end(row.stateHash);
      this.#secrets.delete(verifierName(row));
    });
  }

  /** A client that the authorization server does not know any more would fail in each sign-in. */
  #forgetClient(server: string, issuer: string, error: unknown): void {
    if (/^(?:invalid|unauthorized)_client$/.test(failureCode(error)))
      this.#secrets.delete(this.#clientName(server, issuer));
  }

  #open(server: string, state: string): SignInRow | undefined {
    const row = this.#store.open(sha256Now(state), this.#options.deps.clock.now());
    return row?.server === server ? row : undefined;
  }

  async #tokens(secret: string): Promise<Tokens | undefined> {
    if (this.#store.connection(secret) === undefined) return undefined;
    return tokensSchema.safeParse(parseJson((await this.#secrets.get(secret)) ?? "")).data;
  }

  async #knownClient(server: string, issuer: string): Promise<z.infer<typeof clientSchema> | undefined> {
    const stored = await this.#secrets.get(this.#clientName(server, issuer));
    return clientSchema.safeParse(parseJson(stored ?? "")).data;
  }

  /** A client is registered with its callback, so another address needs another client. */
  #clientName(server: string, issuer: string): string {
    return `mcp-client/${server}/${sha256Now(`${issuer} ${this.#callbackOf(server)}`)}`;
  }

  #callbackOf(server: string): string {
    return new URL(`/oauth/${server}`, this.#options.publicUrl()).href;
  }

  #authorization(server: string, declared: McpServer): Authorization {
    const { deps, env } = this.#options;
    return new Authorization(declared, this.#callbackOf(server), deps, publicNetworkOf(env));
  }
}

/** Whether an authorization server has refused the refresh token. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^(?:invalid|unauthorized)_/.test(String(error.code));
}

function verifierName({ messenger, stateHash, userId }: SignInRow): string {
  return `mcp-verifier/${stateHash}/${messenger}/${userId}`;
}

/** A server that moves is another one: nobody's token follows it. */
function secretName(server: string, { url }: McpServer, { messenger, userId }: PersonKey): string {
  return `mcp-token/${server}/${sha256Now(url).slice(0, 16)}/${messenger}/${userId}`;
}

/**
 * Returns the bot's address on the internet, never that of a request.
 *
 * @throws {ConfigurationError} `public-url-missing`
 */
export function publicUrlOf(env: object): string {
  const value: unknown = Reflect.get(env, "PUBLIC_URL");
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigurationError(
      "public-url-missing",
      'People sign in at an MCP server, and come back to the bot: set PUBLIC_URL in its environment, such as "https://bot.example.com".',
    );
  return url.origin;
}
