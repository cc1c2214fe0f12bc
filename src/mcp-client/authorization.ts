import {
  checkResourceAllowed,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  refreshAuthorization,
  registerClient,
  resourceUrlFromServerUrl,
  startAuthorization,
} from "@modelcontextprotocol/client";
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import type { Deps } from "../core/base/deps.ts";
import { SwitchboardError } from "../core/base/errors.ts";
import { withTimeLimit } from "../core/time/with-time-limit.ts";
import type { McpServer } from "./mcp-client-options.ts";
import { publicFetch } from "./public-fetch.ts";

/** Time for the requests of one step. */
const STEP_MS = 20_000;
/** A token that ends sooner is refreshed before a call. */
const EARLY_MS = 30_000;

/** The authorization server of a server, and the bot as its client. */
const grantorSchema = z.object({
  issuer: z.string(),
  metadata: z.custom<AuthorizationServerMetadata>().optional(),
  client: z.custom<OAuthClientInformationMixed>((value) => typeof value === "object" && value !== null),
  resource: z.string(),
});

export type Grantor = Readonly<z.infer<typeof grantorSchema>>;

export const begunSchema = z.object({ grantor: grantorSchema, verifier: z.string() });

export const tokensSchema = z.object({
  grantor: grantorSchema,
  access: z.string(),
  refresh: z.string().optional(),
  scope: z.string().optional(),
  /** In epoch milliseconds. Undefined if the server does not say. */
  expiresAt: z.number().optional(),
});

export type Tokens = Readonly<z.infer<typeof tokensSchema>>;

/** The steps of OAuth 2.1 with the authorization server of one server. Nothing is stored here. */
export class Authorization {
  readonly #server: McpServer;
  readonly #redirectUrl: string;
  readonly #deps: Pick<Deps, "clock" | "fetch">;
  readonly #fetch: typeof fetch;

  /**
   * @param redirectUrl the address to which the authorization server sends people back
   * @param strangers the network for addresses that the server names
   */
  constructor(
    server: McpServer,
    redirectUrl: string,
    deps: Pick<Deps, "clock" | "fetch">,
    strangers?: typeof fetch,
  ) {
    this.#server = server;
    this.#redirectUrl = redirectUrl;
    this.#deps = deps;
    this.#fetch = publicFetch(deps.fetch, new URL(server.url).origin, strangers);
  }

  /**
   * Returns the address at which a person signs in, and the verifier of its answer.
   *
   * @param known the client that the authorization server with this address has registered, if there is one
   */
  begin(
    state: string,
    known: (issuer: string) => Promise<OAuthClientInformationMixed | undefined>,
  ): Promise<{ readonly address: string; readonly grantor: Grantor; readonly verifier: string }> {
    return this.#within(async (fetchFn) => {
      const { url } = this.#server;
      const { auth } = this.#server;
      const asked = await this.#challenge(fetchFn);
      const found = await discoverOAuthServerInfo(url, {
        fetchFn,
        ...(asked.resourceMetadataUrl !== undefined && { resourceMetadataUrl: asked.resourceMetadataUrl }),
      });
      const issuer = found.authorizationServerUrl;
      const resource = resourceOf(url, found.resourceMetadata?.resource);
      const metadata = found.authorizationServerMetadata;
      const scope =
        (typeof auth === "object" ? auth.scope : undefined) ??
        asked.scope ??
        found.resourceMetadata?.scopes_supported?.join(" ");
      const client =
        this.#ownClient() ??
        (await known(issuer)) ??
        (await this.#register(issuer, metadata, scope, fetchFn));
      const started = await startAuthorization(issuer, {
        clientInformation: client,
        redirectUrl: this.#redirectUrl,
        state,
        resource,
        ...(metadata !== undefined && { metadata }),
        ...(scope !== undefined && { scope }),
      });
      const address = started.authorizationUrl;
      if (address.protocol !== "https:" && address.origin !== new URL(url).origin)
        throw new SwitchboardError("mcp-address", "The sign-in of an MCP server has no https address.");
      return {
        address: address.href,
        verifier: started.codeVerifier,
        grantor: { issuer, metadata, client, resource },
      };
    });
  }

  /** Exchanges the code with which a person came back. Checks `iss` (RFC 9207) before it is sent. */
  exchange(grantor: Grantor, verifier: string, code: string, iss: string | undefined): Promise<Tokens> {
    return this.#within(async (fetchFn) => {
      const { client, issuer, metadata, resource } = grantor;
      const tokens = await exchangeAuthorization(issuer, {
        clientInformation: client,
        authorizationCode: code,
        codeVerifier: verifier,
        redirectUri: this.#redirectUrl,
        resource,
        fetchFn,
        ...(metadata !== undefined && { metadata }),
        ...(iss !== undefined && { iss }),
      });
      return this.#kept(grantor, tokens);
    });
  }

  /** Returns newer tokens. Undefined if there is no way to get any without the person. */
  async refresh({ grantor, refresh, scope }: Tokens): Promise<Tokens | undefined> {
    if (refresh === undefined) return undefined;
    const { client, issuer, metadata, resource } = grantor;
    return this.#within(async (fetchFn) => {
      const tokens = await refreshAuthorization(issuer, {
        clientInformation: client,
        refreshToken: refresh,
        resource,
        fetchFn,
        ...(metadata !== undefined && { metadata }),
      });
      return this.#kept(grantor, {
        refresh_token: refresh,
        ...(scope !== undefined && { scope }),
        ...tokens,
      });
    });
  }

  isOld({ expiresAt }: Tokens): boolean {
    return expiresAt !== undefined && expiresAt - this.#deps.clock.now() < EARLY_MS;
  }

  /** Tells the authorization server that tokens are not needed any more (RFC 7009), if it listens. */
  async revoke({ access, grantor, refresh }: Tokens): Promise<void> {
    const { metadata } = grantor;
    const endpoint = metadata && "revocation_endpoint" in metadata ? metadata.revocation_endpoint : undefined;
    if (typeof endpoint !== "string") return;
    const body = new URLSearchParams({ token: refresh ?? access, client_id: grantor.client.client_id });
    const { client_secret: secret } = grantor.client;
    if (secret !== undefined) body.set("client_secret", secret);
    await this.#within((fetchFn) => fetchFn(endpoint, { method: "POST", body }));
  }

  #kept(grantor: Grantor, tokens: OAuthTokens): Tokens {
    const { access_token: access, expires_in: seconds, refresh_token: refresh, scope } = tokens;
    const expiresAt = seconds === undefined ? undefined : this.#deps.clock.now() + seconds * 1000;
    return { grantor, access, refresh, scope, expiresAt };
  }

  #ownClient(): OAuthClientInformationMixed | undefined {
    const { auth } = this.#server;
    if (typeof auth !== "object") return undefined;
    const { clientId, clientSecret } = auth;
    return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
  }

  #register(
    issuer: string,
    metadata: AuthorizationServerMetadata | undefined,
    scope: string | undefined,
    fetchFn: typeof fetch,
  ): Promise<OAuthClientInformationMixed> {
    // Servers of the protocol before 2026 know no other way, and the package keeps it until they are gone.
    // oxlint-disable-next-line typescript/no-deprecated
    return registerClient(issuer, {
      clientMetadata: {
        client_name: "Switchboard",
        redirect_uris: [this.#redirectUrl],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      },
      fetchFn,
      ...(metadata !== undefined && { metadata }),
      ...(scope !== undefined && { scope }),
    });
  }

  /** Asks the server without a token: its refusal may name its metadata (RFC 9728). */
  async #challenge(fetchFn: typeof fetch): Promise<ReturnType<typeof extractWWWAuthenticateParams>> {
    const { headers, url } = this.#server;
    const response = await fetchFn(url, { headers: { ...headers, accept: "text/event-stream" } });
    return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
  }

  #within<T>(body: (fetchFn: typeof fetch) => Promise<T>): Promise<T> {
    return withTimeLimit(this.#deps.clock, STEP_MS, (signal) =>
      body((input, init) => this.#fetch(input, { ...init, signal })),
    );
  }
}

/** Returns the resource for which tokens are asked (RFC 8707). It must be the server's own. */
function resourceOf(url: string, declared: string | undefined): string {
  const own = resourceUrlFromServerUrl(url);
  if (declared === undefined) return own.href;
  if (!checkResourceAllowed({ requestedResource: own, configuredResource: declared }))
    throw new SwitchboardError("mcp-address", "The metadata of an MCP server is about another server.");
  return declared;
}
