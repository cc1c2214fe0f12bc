/**
 * The OneDrive of people, as a bot of Teams reaches it: "Send and receive files using bot", and "Upload bytes to the
 * upload session" of OneDrive. A session takes the bytes once, with their range and without a token, and is gone then.
 */
import type { SentFile } from "../platform-emulator.ts";
import type { Consent } from "./conversations.ts";

export const FILES = "https://contoso-my.sharepoint.com";
const CARD = "application/vnd.microsoft.teams.card.file";
const SESSIONS = "/personal/ada/_api/v2.0/drive/uploadSessions/";

/** The attachment of a file, as a bot may send it. */
export interface FileCard {
  readonly contentType?: string;
  readonly contentUrl?: string;
  readonly name?: string;
  readonly content?: {
    readonly description?: string;
    readonly sizeInBytes?: number;
    readonly acceptContext?: unknown;
    readonly declineContext?: unknown;
    readonly uniqueId?: string;
    readonly fileType?: string;
  };
}

interface Session {
  readonly name: string;
  readonly contentUrl: string;
}

export class Drive {
  readonly #sessions = new Map<string, Session>();
  readonly #files = new Map<string, SentFile>();
  #last = 0;
  /** How many times bytes came whole. */
  readonly uploads: string[] = [];

  /** Returns the `uploadInfo` of an accepted file. */
  begin(name: string): Record<string, unknown> {
    this.#last += 1;
    const contentUrl = `${FILES}/personal/ada/Documents/Applications/${this.#last}/${encodeURIComponent(name)}`;
    const path = `${SESSIONS}${this.#last}`;
    this.#sessions.set(path, { name, contentUrl });
    return {
      contentUrl,
      name,
      uploadUrl: `${FILES}${path}?tempauth=t`,
      uniqueId: `unique-${this.#last}`,
      fileType: name.split(".").at(-1),
    };
  }

  /** Ends the session that an answer of a person tells of. */
  async expire(answer: Request): Promise<void> {
    const { value } = (await answer.json()) as {
      readonly value: { readonly uploadInfo: { readonly uploadUrl: string } };
    };
    this.#sessions.delete(new URL(value.uploadInfo.uploadUrl).pathname);
  }

  /** Whether a request is about a session, also one that is gone. */
  isSession(request: Request): boolean {
    return new URL(request.url).pathname.startsWith(SESSIONS);
  }

  async upload(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const session = this.#sessions.get(pathname);
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (request.method !== "PUT" || request.headers.has("authorization"))
      return refused(401, "unauthenticated");
    if (session === undefined) return refused(404, "itemNotFound");
    if (request.headers.get("content-range") !== `bytes 0-${bytes.length - 1}/${bytes.length}`)
      return refused(416, "invalidRange");
    this.#sessions.delete(pathname);
    this.uploads.push(session.name);
    const mediaType = "application/octet-stream";
    this.#files.set(session.contentUrl, { name: session.name, mediaType, bytes });
    return Response.json({ name: session.name, size: bytes.length }, { status: 201 });
  }

  /** Returns the files that cards show. Undefined if one of them is not there. */
  filesOf(cards: readonly FileCard[]): readonly SentFile[] | undefined {
    const infos = cards.filter(({ contentType }) => contentType === `${CARD}.info`);
    const files = infos.map(({ content, contentUrl = "" }) =>
      content?.uniqueId === undefined || content.fileType === undefined
        ? undefined
        : this.#files.get(contentUrl),
    );
    const found = files.filter((file) => file !== undefined);
    return found.length === infos.length ? found : undefined;
  }
}

/** Returns the files that a person is asked about. Undefined if a card lacks something. */
export function consentsOf(cards: readonly FileCard[]): readonly Consent[] | undefined {
  const asked = cards.filter(({ contentType }) => contentType === `${CARD}.consent`);
  const consents = asked.flatMap(({ content = {}, name }): Consent[] => {
    const { acceptContext, declineContext, description, sizeInBytes } = content;
    if (name === undefined || description === undefined || sizeInBytes === undefined) return [];
    return [{ name, sizeInBytes, acceptContext, declineContext }];
  });
  return consents.length === asked.length ? consents : undefined;
}

function refused(status: number, code: string): Response {
  return Response.json({ error: { code, message: code } }, { status });
}
