import type { ServerResponse } from "node:http";
import path from "node:path";
import { pageFile } from "./page-files.ts";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Forbids the page to load anything from elsewhere, or to run text as a script. */
const securityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the page's own files. */
export async function servePage(response: ServerResponse, address: string): Promise<void> {
  const name = address === "/" ? "index.html" : address.slice(1);
  let content: Uint8Array | undefined;
  try {
    content = await pageFile(name);
  } catch (error) {
    // Somebody is changing the page's sources.
    response.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
    response.end(`The page cannot be built. ${error instanceof Error ? error.message : String(error)}\n`);
    return;
  }
  if (content === undefined) {
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
    response.end("Not found\n");
    return;
  }
  response.writeHead(200, {
    "content-type": contentTypes[path.extname(name)] ?? "application/octet-stream",
    "content-security-policy": securityPolicy,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  });
  response.end(content);
}
