import type { Attachment } from "chat";

/**
 * Where the bytes of a file are. The platform's own servers get a token, and any other public server none: a redirect
 * must not carry it away.
 */
export interface FileSource {
  readonly url: string;
  /** Sent to `ownHosts`, and to the server of `apiUrl`. */
  readonly token?: string;
  /** The platform's servers: names, or `*.example.com` for all names below one. */
  readonly ownHosts?: readonly string[];
  /** The address of the platform's API, which may be on this machine. */
  readonly apiUrl?: string;
  /** The platform answers a request that it refuses with a web page. */
  readonly refusesByPage?: true;
}

/** Makes a GET request to the platform's API with a token. Resolves with the JSON of the answer. */
export type GetJson = (url: string, token: string) => Promise<unknown>;

/** Returns the address under which an attachment was stored. */
export function storedUrl({ fetchMetadata, url }: Attachment): string | undefined {
  return fetchMetadata?.["url"] ?? url;
}
