/** A person at the authorization server: the account that signs in. */
interface Grant {
  readonly account: string;
  readonly challenge: string;
  readonly redirectUri: string;
  readonly clientId: string;
}

/**
 * An authorization server of the same origin as the MCP server that it protects: discovery, dynamic registration, PKCE,
 * resource indicators, `iss`, refresh with rotation, revocation. Whoever opens its page signs in as `account`.
 */
export class FakeOAuth {
  /** The account of the next person who signs in. */
  account = "ada@docs";
  /** Accounts by access token. */
  readonly tokens = new Map<string, string>();
  /** Answers a request in place of the server. */
  instead: ((request: Request) => Response | undefined) | undefined;
  /** Paths and forms of the requests that arrived. */
  readonly requests: { readonly path: string; readonly form: Readonly<Record<string, string>> }[] = [];
  /** Secrets of clients that were registered by hand, by their ids. */
  readonly secrets = new Map<string, string>();
  /** Seconds that an access token lives. */
  expiresIn = 3600;
  readonly #origin: string;
  readonly #grants = new Map<string, Grant>();
  readonly #refreshTokens = new Map<string, string>();
  readonly #clients = new Set<string>();
  #count = 0;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Makes all access tokens useless. With `all` no refresh token helps either. */
  revoke(all: boolean): void {
    this.tokens.clear();
    if (all) this.#refreshTokens.clear();
  }

  /** Answers a request. Undefined if it is for the MCP server, and has a good token. */
  async answer(request: Request): Promise<Response | undefined> {
    const url = new URL(request.url);
    const path = url.pathname;
    const text = request.method === "POST" && path !== "/mcp" ? await request.clone().text() : "";
    const form = Object.fromEntries(path === "/authorize" ? url.searchParams : new URLSearchParams(text));
    if (path !== "/mcp") this.requests.push({ path, form });
    const other = this.instead?.(request);
    if (other !== undefined) return other;
    switch (path) {
      case "/.well-known/oauth-protected-resource/mcp":
        return Response.json({ resource: `${this.#origin}/mcp`, authorization_servers: [this.#origin] });
      case "/.well-known/oauth-authorization-server":
        return Response.json(this.#metadata());
      case "/register":
        return this.#register(text);
      case "/authorize":
        return this.#authorize(form);
      case "/token":
        return this.#token(form);
      case "/revoke":
        this.revoke(true);
        return new Response();
      case "/mcp":
        return this.#guard(request);
      default:
        return new Response(null, { status: 404 });
    }
  }

  #metadata(): object {
    const at = (path: string): string => `${this.#origin}${path}`;
    return {
      issuer: this.#origin,
      authorization_endpoint: at("/authorize"),
      token_endpoint: at("/token"),
      registration_endpoint: at("/register"),
      revocation_endpoint: at("/revoke"),
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
      authorization_response_iss_parameter_supported: true,
    };
  }

  #register(text: string): Response {
    const clientId = this.#next("client");
    this.#clients.add(clientId);
    return Response.json({ ...(JSON.parse(text) as object), client_id: clientId }, { status: 201 });
  }

  #authorize(form: Readonly<Record<string, string>>): Response {
    const { client_id: clientId = "", code_challenge: challenge = "", redirect_uri: redirectUri = "" } = form;
    const isGood =
      (this.#clients.has(clientId) || this.secrets.has(clientId)) &&
      form["code_challenge_method"] === "S256" &&
      form["resource"] === `${this.#origin}/mcp`;
    if (!isGood) return new Response("bad request", { status: 400 });
    const code = this.#next("code");
    this.#grants.set(code, { account: this.account, challenge, redirectUri, clientId });
    const back = new URL(redirectUri);
    back.searchParams.set("code", code);
    back.searchParams.set("state", form["state"] ?? "");
    back.searchParams.set("iss", this.#origin);
    return new Response(null, { status: 302, headers: { location: back.href } });
  }

  async #token(form: Readonly<Record<string, string>>): Promise<Response> {
    if (form["grant_type"] === "refresh_token") {
      const account = this.#refreshTokens.get(form["refresh_token"] ?? "");
      this.#refreshTokens.delete(form["refresh_token"] ?? "");
      return account === undefined ? refused() : this.#granted(account);
    }
    const grant = this.#grants.get(form["code"] ?? "");
    this.#grants.delete(form["code"] ?? "");
    const isGood =
      grant?.clientId === form["client_id"] &&
      this.secrets.get(grant?.clientId ?? "") === form["client_secret"] &&
      grant?.redirectUri === form["redirect_uri"] &&
      grant?.challenge === (await challengeOf(form["code_verifier"] ?? ""));
    return grant !== undefined && isGood ? this.#granted(grant.account) : refused();
  }

  #granted(account: string): Response {
    const [access, refresh] = [this.#next("access-token"), this.#next("refresh-token")];
    this.tokens.set(access, account);
    this.#refreshTokens.set(refresh, account);
    return Response.json({
      access_token: access,
      refresh_token: refresh,
      token_type: "Bearer",
      expires_in: this.expiresIn,
    });
  }

  #guard(request: Request): Response | undefined {
    const token = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
    if (this.tokens.has(token)) return undefined;
    const metadata = `${this.#origin}/.well-known/oauth-protected-resource/mcp`;
    return new Response(null, {
      status: 401,
      headers: { "www-authenticate": `Bearer resource_metadata="${metadata}"` },
    });
  }

  #next(what: string): string {
    this.#count += 1;
    return `${what}-${this.#count}-of-the-server`;
  }
}

function refused(): Response {
  return Response.json({ error: "invalid_grant" }, { status: 400 });
}

async function challengeOf(verifier: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const base64 = btoa(String.fromCodePoint(...new Uint8Array(hash)));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
