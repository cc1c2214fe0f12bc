import { decodedPart, onlyBy } from "../core/web/problem.ts";
import { sha256Now } from "../core/bytes/sha256.ts";
import type { FeatureRoutes, RoutedBot } from "../feature/feature-routes.ts";
import { MCP_CLIENT } from "./mcp-client-calls.ts";

const PATH = /^\/oauth\/([a-z0-9-]{1,24})$/;
const LONGEST_STATE = 128;
const LONGEST_CODE = 4_000;
const COOKIE = "mcp-sign-in";
const COOKIE_SECONDS = 15 * 60;

/** The path of links to sign in, and of their way back. The state in the address is the only key to it. */
export const signInRoutes: FeatureRoutes = {
  isFor: PATH.test.bind(PATH),
  async serve(request, bot) {
    if (request.method !== "GET") return onlyBy("GET");
    const url = new URL(request.url);
    const server = PATH.exec(url.pathname)?.[1] ?? "";
    const begun = parameter(url, "begin", LONGEST_STATE);
    return begun === undefined ? comeBack(request, url, server, bot) : begin(server, begun, bot);
  },
};

/** Shows whose chat the link connects. A person who did not ask for it stops here. */
async function begin(server: string, state: string, bot: RoutedBot): Promise<Response> {
  const root = await bot.root(MCP_CLIENT);
  let found;
  try {
    found = await root.signInPage(server, state);
  } catch {
    // The log has the reason. Words of the server are not for this page.
    return page(502, "The server cannot be reached now. Open the link again in a moment.");
  }
  if (found === undefined) return over();
  const words = `This connects <b>${escapeHtml(server)}</b> with the chat of <b>${escapeHtml(found.name)}</b>. The bot can then use it for this person. Go on only if you are this person, and have asked for it.`;
  const response = page(200, `${words}</p><p><a href="${escapeHtml(found.address)}">Sign in</a>`);
  response.headers.append(
    "set-cookie",
    `${COOKIE}-${server}=${sha256Now(state)}; Path=/oauth/${server}; Max-Age=${COOKIE_SECONDS}; HttpOnly; Secure; SameSite=Lax`,
  );
  return response;
}

async function comeBack(request: Request, url: URL, server: string, bot: RoutedBot): Promise<Response> {
  const state = parameter(url, "state", LONGEST_STATE);
  const code = parameter(url, "code", LONGEST_CODE);
  if (state === undefined) return over();
  // Somebody else's answer, opened by a link: this browser has not begun it.
  if (cookieOf(request, `${COOKIE}-${server}`) !== sha256Now(state))
    return page(400, "Open the link in this browser first, and sign in from there.");
  if (code === undefined) return page(200, "Nothing was connected. You can close this page.");
  const root = await bot.root(MCP_CLIENT);
  const iss = parameter(url, "iss", LONGEST_CODE);
  const answer = await root.finishSignIn(server, state, code, iss);
  switch (answer.kind) {
    case "connected":
      return page(200, "You are connected. You can close this page and go back to the chat.");
    case "failed":
      return page(502, "That did not work. Open the link in the chat again.");
    case "over":
      return over();
    default:
      return answer satisfies never;
  }
}

function over(): Response {
  return page(410, "This link is too old, or has been used. Ask the bot again, and it sends a new one.");
}

function parameter(url: URL, name: string, longest: number): string | undefined {
  const value = url.searchParams.get(name);
  return value === null || value === "" || value.length > longest ? undefined : value;
}

function cookieOf(request: Request, name: string): string | undefined {
  const cookies = (request.headers.get("cookie") ?? "").split(/;\s*/);
  const found = cookies.find((cookie) => cookie.startsWith(`${name}=`));
  return found === undefined ? undefined : decodedPart(found.slice(name.length + 1));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** @param html a paragraph */
function page(status: number, html: string): Response {
  return new Response(
    `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Sign in</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:26rem;padding:0 1rem;text-align:center}</style>
<p>${html}</p>
`,
    {
      status,
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy":
          "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
      },
    },
  );
}
