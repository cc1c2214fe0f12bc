import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { dynamicTool, jsonSchema } from "ai";
import type { JSONSchema7, ToolSet } from "ai";

/** The tools of the warehouse's bot, for this bot's model. */
export async function warehouseTools(url: string, token: string): Promise<ToolSet> {
  const { tools } = await withWarehouse(url, token, (warehouse) => warehouse.listTools());
  return Object.fromEntries(
    tools.map(({ description = "", inputSchema, name }) => {
      const offered = dynamicTool({
        description,
        inputSchema: jsonSchema(inputSchema as JSONSchema7),
        execute: (input, { toolCallId }) =>
          withWarehouse(url, token, async (warehouse) => {
            const call = { name, arguments: input as Record<string, unknown> };
            // The call is known by this key, so that a turn that runs again after a crash has its effect once.
            const result = await warehouse.callTool({ ...call, _meta: { idempotencyKey: toolCallId } });
            return result.structuredContent ?? result.content;
          }),
      });
      return [name, offered];
    }),
  );
}

async function withWarehouse<T>(url: string, token: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: "buyer", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}
