import { z } from "zod";
import { canonicalJson } from "../core/json/canonical-json.ts";
import { sha256Now } from "../core/bytes/sha256.ts";
import { mendSchema } from "../core/json/mend-schema.ts";
import type { McpServer } from "./mcp-client-options.ts";
import { modelNameOf } from "./model-name.ts";

/** A tool as its server listed it, and as the owner agreed to it. */
export const toolPinSchema = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  /** What the server says about it. */
  isReadOnly: z.boolean(),
  isDestructive: z.boolean(),
  /** SHA-256 of all that, as hexadecimal digits: a tool that changes has another one. */
  hash: z.string(),
});

export type ToolPin = Readonly<z.infer<typeof toolPinSchema>>;

/** A tool that cannot be offered. */
export const leftOutSchema = z.object({
  name: z.string(),
  why: z.enum(["schema", "too-many", "name"]),
});

export type LeftOutTool = Readonly<z.infer<typeof leftOutSchema>>;

/** A tool in the answer of a server, whose shape the protocol's package has checked. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  readonly annotations?:
    | { readonly readOnlyHint?: boolean | undefined; readonly destructiveHint?: boolean | undefined }
    | undefined;
}

const LONGEST_NAME = 128;
const LONGEST_DESCRIPTION = 4_000;
export const DEFAULT_MAX_TOOLS = 40;

/** Sorts a server's tools into those that can be offered and all others. */
export function pinTools(
  server: string,
  listed: readonly ListedTool[],
  { only }: Pick<McpServer, "only">,
  maxTools = DEFAULT_MAX_TOOLS,
): { readonly tools: readonly ToolPin[]; readonly leftOut: readonly LeftOutTool[] } {
  const tools: ToolPin[] = [];
  const leftOut: LeftOutTool[] = [];
  const names = new Set<string>();
  for (const tool of listed) {
    const { name } = tool;
    if (only?.includes(name) === false) continue;
    const modelName = modelNameOf(server, name);
    const why = whyNot(tool, names.has(modelName), tools.length >= maxTools);
    if (why !== undefined) leftOut.push({ name: name.slice(0, LONGEST_NAME), why });
    else {
      names.add(modelName);
      tools.push(pinOf(tool));
    }
  }
  return { tools, leftOut };
}

function whyNot(
  { inputSchema, name }: ListedTool,
  isTaken: boolean,
  isFull: boolean,
): LeftOutTool["why"] | undefined {
  if (name === "" || name.length > LONGEST_NAME || isTaken) return "name";
  if (mendSchema(inputSchema) === undefined) return "schema";
  return isFull ? "too-many" : undefined;
}

function pinOf({ annotations, description = "", inputSchema, name }: ListedTool): ToolPin {
  const pin = {
    name,
    description: description.slice(0, LONGEST_DESCRIPTION),
    inputSchema: (inputSchema ?? { type: "object" }) as Record<string, unknown>,
    isReadOnly: annotations?.readOnlyHint === true,
    isDestructive: annotations?.destructiveHint === true,
  };
  return { ...pin, hash: sha256Now(canonicalJson(pin)) };
}
