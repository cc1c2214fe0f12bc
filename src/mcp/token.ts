import { sha256 } from "../core/bytes/sha256.ts";

/** A person of a messenger, for whom a token calls. */
export interface TokenPerson {
  /** The key of the messenger in `getMessengers()`. */
  readonly messenger: string;
  readonly userId: string;
}

/** A new token, as its creator asks for it. */
export interface NewToken {
  /** Tells people whose token it is. */
  readonly name: string;
  /** Permissions that its calls may use at most. `*`: all that the person has. */
  readonly scopes: readonly string[];
  /** Undefined: calls are nobody's, as those of the bot's own code. */
  readonly person: TokenPerson | undefined;
  /** Time for which it is valid, in milliseconds. */
  readonly validMs: number;
  /** Most requests in a minute. */
  readonly perMinute: number;
  /** Most calls at the same time. */
  readonly atOnce: number;
}

/** A token without its secret. Times are epoch milliseconds. */
export interface TokenRecord extends Omit<NewToken, "validMs" | "person"> {
  readonly id: string;
  readonly person?: TokenPerson | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** To the minute. Undefined: never used. */
  readonly lastUsedAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

/** The caller of a request, as its token says. */
export interface McpCaller {
  readonly tokenId: string;
  readonly name: string;
  /** Undefined: all permissions of the person. */
  readonly scopes: readonly string[] | undefined;
  readonly person: TokenPerson | undefined;
  readonly atOnce: number;
}

/** The parts of a token that are compared: never the secret itself. */
export interface SentToken {
  readonly id: string;
  readonly secretHash: string;
}

const TOKEN = /^swb_([A-Za-z0-9]{12})_([A-Za-z0-9]{40,128})$/;

/** Returns a token's text. Nothing else than this text has the secret. */
export function tokenText(id: string, secret: string): string {
  return `swb_${id}_${secret}`;
}

/** Reads the token of a request. Undefined if it has none that could be one. */
export async function sentToken(request: Request): Promise<SentToken | undefined> {
  const [scheme, text = "", ...more] = (request.headers.get("authorization") ?? "").split(" ");
  const [, id, secret] = TOKEN.exec(text) ?? [];
  if (scheme?.toLowerCase() !== "bearer" || more.length > 0 || id === undefined || secret === undefined)
    return undefined;
  return { id, secretHash: await sha256(secret) };
}
