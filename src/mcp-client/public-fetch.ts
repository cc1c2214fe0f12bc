import { SwitchboardError } from "../core/base/errors.ts";
import { bytesUpTo } from "../core/bytes/bytes-up-to.ts";
import { parsePublicUrl } from "../core/web/public-url.ts";

const MOST_BYTES = 256 * 1024;
const MOST_REDIRECTS = 3;
const REFUSED = { code: "mcp-address", owner: "An MCP server's sign-in" };

/**
 * Returns the network of a sign-in, whose addresses a server names. It reaches the origin that the bot's author has named,
 * and public addresses. Each redirect is checked again, one of a request with a body is not followed, and
 * another origin gets no headers.
 *
 * @param strangers the network of all other origins. One that reaches public addresses only refuses a public name that
 *   resolves to a private address, which cannot be seen here
 */
export function publicFetch(
  base: typeof fetch,
  ownOrigin: string,
  strangers: typeof fetch = base,
): typeof fetch {
  const check = (url: URL): URL =>
    url.origin === ownOrigin ? url : parsePublicUrl(url.href, undefined, REFUSED);
  return async (input, init) => {
    let headers = init?.headers;
    let url = check(new URL(input instanceof Request ? input.url : input));
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
      const network = url.origin === ownOrigin ? base : strangers;
      const response = await network(url.href, { ...init, headers: headers ?? {}, redirect: "manual" });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status >= 400 || location === null) return limited(response);
      if ((init?.method ?? "GET") !== "GET") break;
      const next = check(new URL(location, url));
      if (next.origin !== url.origin) headers = undefined;
      url = next;
    }
    throw new SwitchboardError("mcp-address", "A sign-in of an MCP server redirects where it must not.");
  };
}

async function limited(response: Response): Promise<Response> {
  const { body, headers, status, statusText } = response;
  if (body === null) return response;
  const bytes = await bytesUpTo(MOST_BYTES, body);
  if (bytes === undefined)
    throw new SwitchboardError("mcp-address", "An answer of an MCP server's sign-in is too large.");
  return new Response(bytes, { status, statusText, headers });
}
