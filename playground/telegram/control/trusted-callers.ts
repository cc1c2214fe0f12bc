import type { IncomingMessage } from "node:http";

/** The names of this machine. No website can get them. */
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];
const NAME = String.raw`\[[0-9a-f:.]+\]|[a-z0-9._-]+`;
const NAME_ALONE = new RegExp(`^(?:${NAME})$`, "i");
const NAME_WITH_PORT = new RegExp(`^(${NAME})(?::\\d+)?$`, "i");

/** Undefined, or why a request is refused, for the person who reads the answer. */
export type CheckCaller = (request: Pick<IncomingMessage, "headers">, path: string) => string | undefined;

/** True for a name as it stands in an address: without a scheme, a port and a path. */
export function isHostName(text: string): boolean {
  return NAME_ALONE.test(text);
}

/**
 * Returns a check of the programs and pages that ask. A website whose name leads to this machine would otherwise be the
 * page itself for a browser, and could read and press everything.
 *
 * @param host address that the server listens on
 * @param allowed further names, for which `--allow-host` stands
 */
export function checkCallers(host: string, allowed: readonly string[]): CheckCaller {
  const own = isEveryAddress(host) ? [] : [inAddress(host)];
  const names = new Set([...LOOPBACK, ...own, ...allowed].map((name) => name.toLowerCase()));
  return ({ headers }, path) => {
    const name = NAME_WITH_PORT.exec(headers.host ?? "")?.[1]?.toLowerCase();
    if (name === undefined) return "The request names no host.\n";
    if (!names.has(name)) {
      return `This playground does not answer as ${name}. To allow that name, start it with --allow-host ${name}\n`;
    }
    if (isOtherPage(headers, path)) {
      return `This request comes from another page. Open http://${headers.host ?? ""}/ itself.\n`;
    }
    return undefined;
  };
}

/** Returns the address under which this machine reaches a server that listens on `host`. */
export function reachableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return inAddress(host === "::" ? "::1" : host);
}

function isEveryAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function inAddress(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Programs send neither header. A browser sends no `Origin` for pictures, but says that they are for another site. */
function isOtherPage(headers: IncomingMessage["headers"], path: string): boolean {
  const { host = "", origin } = headers;
  if (origin !== undefined) return !["http", "https"].some((scheme) => origin === `${scheme}://${host}`);
  const site = headers["sec-fetch-site"] ?? "none";
  const isLink = path === "/" && headers["sec-fetch-mode"] === "navigate";
  return site !== "none" && site !== "same-origin" && !isLink;
}
