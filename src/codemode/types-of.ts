import type { JSONSchema7 } from "ai";
import { isRecord } from "../core/is-record.ts";
import type { ConnectorDescription, ConnectorTool } from "./connector-tool.ts";

/** Nesting below this is `unknown`. */
const MOST_NESTED = 6;

/** Returns TypeScript's declaration of a connector, for the model. */
export function typesOf({ instructions, name, tools }: ConnectorDescription): string {
  const methods = Object.entries(tools).map(([method, tool]) => methodOf(method, tool));
  return [...commentOf(instructions, ""), `declare const ${name}: {`, ...methods, "};"].join("\n");
}

function methodOf(name: string, tool: ConnectorTool): string {
  const { description, inputSchema, outputSchema, requiresApproval } = tool;
  const notes = [description, requiresApproval === true ? "A person must agree first." : undefined];
  const words = notes.filter((one) => one !== undefined).join(" ");
  const input = inputSchema === undefined ? "object" : typeOf(inputSchema, 0);
  const isOptional = (inputSchema?.required ?? []).length === 0;
  const output = outputSchema === undefined ? "unknown" : typeOf(outputSchema, 0);
  const line = `  ${keyOf(name)}(input${isOptional ? "?" : ""}: ${input}): Promise<${output}>;`;
  return [...commentOf(words, "  "), line].join("\n");
}

function typeOf(schema: JSONSchema7 | boolean, depth: number): string {
  if (typeof schema === "boolean" || depth > MOST_NESTED) return "unknown";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const any = schema.anyOf ?? schema.oneOf;
  if (any !== undefined) return any.map((one) => typeOf(one, depth + 1)).join(" | ");
  const { type } = schema;
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, depth + 1)).join(" | ");
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return listOf(schema, depth);
    default:
      return type === "object" || schema.properties !== undefined ? objectOf(schema, depth) : "unknown";
  }
}

function listOf({ items }: JSONSchema7, depth: number): string {
  if (items === undefined) return "unknown[]";
  const inside = Array.isArray(items) ? items : [items];
  const types = inside.map((one) => typeOf(one, depth + 1));
  return Array.isArray(items) ? `[${types.join(", ")}]` : `(${types.join()})[]`.replace(/^\((\w+)\)/, "$1");
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: JSONSchema7,
  depth: number,
): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const words = isRecord(schema) && typeof schema.description === "string" ? schema.description : "";
    const comment = words === "" ? "" : `/** ${oneLine(words)} */ `;
    return `${comment}${keyOf(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema, depth + 1)}`;
  });
  if (fields.length > 0) return `{ ${fields.join("; ")} }`;
  return isRecord(additionalProperties)
    ? `Record<string, ${typeOf(additionalProperties, depth + 1)}>`
    : "Record<string, unknown>";
}

function keyOf(name: string): string {
  return /^[a-zA-Z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function commentOf(words: string | undefined, indent: string): string[] {
  return words === undefined || words === "" ? [] : [`${indent}/** ${oneLine(words)} */`];
}

/** Words of a server must not end a comment. */
function oneLine(words: string): string {
  return words.replaceAll(/\s+/g, " ").replaceAll("*/", "* /").trim();
}
