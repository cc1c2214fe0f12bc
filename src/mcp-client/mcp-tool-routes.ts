import { z } from "zod";
import { systemDeps } from "../core/deps.ts";
import { onlyBy } from "../core/problem.ts";
import { readChecked } from "../core/read-json.ts";
import { isAdmin, unauthorized } from "../feature/admin.ts";
import type { FeatureRoutes } from "../feature/feature-routes.ts";
import { MCP_CLIENT } from "./mcp-client-calls.ts";

const PATH = "/switchboard/mcp-tools";

const bodySchema = z.strictObject({
  server: z.string(),
  hashes: z.array(z.string()).min(1).max(1_000),
  allow: z.boolean(),
});

/** The path at which the operator sees the servers' tools and decides about them. Only `ADMIN_TOKEN` opens it. */
export const mcpToolRoutes: FeatureRoutes = {
  isFor: (pathname) => pathname === PATH,
  async serve(request, bot) {
    if (!isAdmin(request, bot.env)) return unauthorized();
    const root = await bot.root(MCP_CLIENT);
    if (request.method === "GET") return Response.json({ tools: await root.listTools() });
    if (request.method !== "POST") return onlyBy("GET, POST");
    const read = await readChecked(request, systemDeps.clock, bodySchema, {
      code: "mcp-decision-invalid",
      message: 'Send { "server": "docs", "hashes": ["..."], "allow": true }, with hashes of GET.',
    });
    if (read instanceof Response) return read;
    const { allow, hashes, server } = read.body;
    return Response.json({ decided: await root.decideTools(server, hashes, allow) });
  },
};
