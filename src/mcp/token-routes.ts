import { z } from "zod";
import { DAY_MS } from "../core/time/civil-time.ts";
import { systemDeps } from "../core/base/deps.ts";
import { errorCode } from "../core/base/errors.ts";
import { onlyBy, problem } from "../core/web/problem.ts";
import { readChecked } from "../core/json/read-json.ts";
import { isAdmin, unauthorized } from "../feature/admin.ts";
import type { RoutedBot } from "../feature/feature-routes.ts";
import { conversationOfToken, MCP } from "./mcp-calls.ts";

const PATH = /^\/switchboard\/tokens(?:\/([A-Za-z0-9]{1,64}))?$/;

const bodySchema = z.strictObject({
  name: z.string().trim().min(1).max(64),
  scopes: z
    .array(z.string().regex(/^(?:\*|[\w.:-]{1,64})$/))
    .max(50)
    .default([]),
  person: z
    .strictObject({ messenger: z.string().min(1).max(64), userId: z.string().min(1).max(128) })
    .optional(),
  days: z.number().min(1).max(366).default(90),
  perMinute: z.int().min(1).max(6000).default(60),
  atOnce: z.int().min(1).max(32).default(4),
});

/** Whether a path is one at which the operator manages tokens. */
export function isTokenPath(pathname: string): boolean {
  return PATH.test(pathname);
}

/** Answers the operator: only `ADMIN_TOKEN` opens these paths, whatever `authorize` says. */
export async function serveTokens(request: Request, bot: RoutedBot): Promise<Response> {
  if (!isAdmin(request, bot.env)) return unauthorized();
  const [, id] = PATH.exec(new URL(request.url).pathname) ?? [];
  const root = await bot.root(MCP);
  if (id !== undefined) {
    if (request.method !== "DELETE") return onlyBy("DELETE");
    const revoked = await root.revokeToken(id);
    if (revoked === undefined) return problem(404, "token-unknown", "The bot has no token with this id.");
    const conversation = await bot.conversation(MCP, conversationOfToken(id));
    await conversation.endCalls(revoked.name);
    return new Response(null, { status: 204 });
  }
  if (request.method === "GET") return Response.json({ tokens: await root.listTokens() });
  if (request.method !== "POST") return onlyBy("GET, POST");
  const read = await readChecked(request, systemDeps.clock, bodySchema, {
    code: "token-invalid",
    message:
      'Send { "name": "...", "scopes": ["orders:read"] }, and if you like "person": { "messenger", "userId" }, "days" (366 at most), "perMinute" and "atOnce".',
  });
  if (read instanceof Response) return read;
  const { days, person, ...rest } = read.body;
  try {
    const made = await root.createToken({ ...rest, person, validMs: days * DAY_MS });
    return Response.json(made, { status: 201, headers: { "cache-control": "no-store" } });
  } catch (error) {
    const code = errorCode(error);
    if (!(error instanceof Error) || (code !== "tokens-too-many" && code !== "token-messenger-unknown"))
      throw error;
    return problem(422, code, error.message);
  }
}
