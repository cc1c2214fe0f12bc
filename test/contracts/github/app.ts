/**
 * A GitHub App with its installations.
 *
 * Sources: "Generating a JSON Web Token (JWT) for a GitHub App", "Generating an installation access token for a GitHub
 * App", "REST API endpoints for GitHub Apps", "installation" in "Webhook events and payloads", and error bodies that
 * users of the API have quoted.
 *
 * - The App itself proves who it is by a token that it signs (RS256), for ten minutes at most.
 * - An installation has tokens that end after an hour, and with the installation. They open its own repositories.
 */
import { createPrivateKey, randomBytes } from "node:crypto";
import { TokenKey } from "../json-web-token.ts";
import { notFound, ok, refused, wordRefusal, type Access, type Answer, type AskedCall } from "./answer.ts";

const TOKEN_LASTS_MS = 60 * 60_000;
const MOST_JWT_SECONDS = 600;

export interface InstallationJson {
  readonly id: number;
  readonly node_id: string;
}

export class GitHubApp implements Access {
  readonly id = 372_104;
  readonly #slug: string;
  readonly #now: () => number;
  readonly #key = new TokenKey("app");
  /** Ids by organization. */
  readonly #installations = new Map<string, number>();
  readonly #tokens = new Map<string, { readonly installation: number; readonly until: number }>();
  #lastId = 41_000_000;

  constructor(slug: string, now: () => number) {
    this.#slug = slug;
    this.#now = now;
  }

  /** Options of a client. GitHub makes keys as PKCS#1. */
  get options(): { readonly appId: number; readonly privateKey: string } {
    const key = createPrivateKey(this.#key.privatePem).export({ type: "pkcs1", format: "pem" });
    return { appId: this.id, privateKey: key.toString() };
  }

  install(owner: string): InstallationJson {
    this.#lastId += 1;
    this.#installations.set(owner, this.#lastId);
    return installationJson(this.#lastId);
  }

  uninstall(owner: string): InstallationJson {
    const id = this.#installations.get(owner);
    if (id === undefined) throw new Error(`${owner} has not installed the App.`);
    this.#installations.delete(owner);
    return installationJson(id);
  }

  installationOf(owner: string): InstallationJson | undefined {
    const id = this.#installations.get(owner);
    return id === undefined ? undefined : installationJson(id);
  }

  answer({ isBearer, method, pathname, token = "" }: AskedCall): Answer | undefined {
    if (/^\/app(?:\/|$)/.test(pathname)) {
      return this.#refuseApp(isBearer ? token : "") ?? this.#answerApp(method, pathname);
    }
    const { installation, until } = this.#tokens.get(token) ?? {};
    const [owner] = [...this.#installations].find(([, id]) => id === installation) ?? [];
    if (owner === undefined || until === undefined || until <= this.#now())
      return wordRefusal({ kind: "token" });
    if (pathname === "/user") return refused(403, "Resource not accessible by integration");
    const [, asked] = /^\/repos\/([^/]+)\//.exec(`${pathname}/`) ?? [];
    return asked === undefined || asked === owner ? undefined : notFound;
  }

  #answerApp(method: string, pathname: string): Answer {
    if (method === "GET" && pathname === "/app")
      return ok({ id: this.id, slug: this.#slug, name: this.#slug, events: ["issue_comment"] });
    const [, id] = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(pathname) ?? [];
    const installation = [...this.#installations.values()].find((known) => String(known) === id);
    if (method !== "POST" || installation === undefined) return notFound;
    const token = `ghs_${randomBytes(18).toString("hex")}`;
    const until = this.#now() + TOKEN_LASTS_MS;
    this.#tokens.set(token, { installation, until });
    const body = {
      token,
      expires_at: new Date(until).toISOString().replace(/\.\d+Z$/, "Z"),
      permissions: { issues: "write", pull_requests: "write", metadata: "read" },
      repository_selection: "all",
    };
    return { status: 201, body };
  }

  #refuseApp(token: string): Answer | undefined {
    const [header = ""] = token.split(".");
    const claims = algorithmOf(header) === "RS256" ? this.#key.verify(token) : undefined;
    if (claims === undefined) return refused(401, "A JSON web token could not be decoded");
    const { exp, iat, iss } = claims;
    const now = this.#now() / 1000;
    if (String(iss) !== String(this.id)) return refused(404, "Integration not found");
    if (typeof iat !== "number" || iat > now) return refused(401, ISSUED);
    if (typeof exp !== "number" || exp <= now) return refused(401, EXPIRED);
    if (exp > now + MOST_JWT_SECONDS)
      return refused(401, "'Expiration time' claim ('exp') is too far in the future");
    return undefined;
  }
}

const ISSUED =
  "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
const EXPIRED =
  "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";

function installationJson(id: number): InstallationJson {
  return { id, node_id: Buffer.from(`Integration Installation${id}`).toString("base64") };
}

function algorithmOf(header: string): unknown {
  try {
    return (JSON.parse(Buffer.from(header, "base64url").toString()) as { readonly alg?: unknown }).alg;
  } catch {
    // No JSON web token.
    return undefined;
  }
}
