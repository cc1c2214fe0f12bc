import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import path from "node:path";

const folder = path.join(import.meta.dirname, "../page");

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Forbids the page to load anything from elsewhere, or to run text as a script. */
const securityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the page's own files, which are in one flat folder. */
export async function servePage(response: ServerResponse, address: string): Promise<void> {
  const name = address === "/" ? "index.html" : address.slice(1);
  const type = contentTypes[path.extname(name)];
  const content =
    type !== undefined && /^[a-z0-9-]+\.[a-z]+$/.test(name) ? await readPageFile(name) : undefined;
  if (content === undefined) {
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
    response.end("Not found\n");
    return;
  }
  response.writeHead(200, {
    "content-type": type ?? "",
    "content-security-policy": securityPolicy,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  });
  response.end(content);
}

async function readPageFile(name: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path.join(folder, name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
