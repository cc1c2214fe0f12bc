import type { JSONSchema7 } from "ai";
import { isRecord } from "../core/json/is-record.ts";
import { shortLine } from "../core/text/short-line.ts";
import type { ConnectorDescription, ConnectorTool } from "./connector-tool.ts";

/** Nesting below this is `unknown`. */
const MOST_NESTED = 6;
/** Schemas of one type beyond this number are `unknown`. */
const MOST_SCHEMAS = 150;
/** Longest words about one property. */
const LONGEST_WORDS = 160;

/** Returns TypeScript's declaration of a connector, for the model. */
export function typesOf({ instructions, name, tools }: ConnectorDescription): string {
  const methods = Object.entries(tools).map(([method, tool]) => methodOf(method, tool));
  return [...commentOf(instructions, ""), `declare const ${name}: {`, ...methods, "};"].join("\n");
}

function methodOf(name: string, tool: ConnectorTool): string {
  const { description, inputSchema, outputSchema, requiresApproval } = tool;
  const notes = [description, requiresApproval === true ? "A person must agree first." : undefined];
  const words = notes.filter((one) => one !== undefined).join(" ");
  const input = inputSchema === undefined ? "object" : new TypeWords(inputSchema).words;
  const isOptional = (inputSchema?.required ?? []).length === 0;
  const output = outputSchema === undefined ? "unknown" : new TypeWords(outputSchema).words;
  const line = `  ${keyOf(name)}(input${isOptional ? "?" : ""}: ${input}): Promise<${output}>;`;
  return [...commentOf(words, "  "), line].join("\n");
}

/** One schema as a type. The types of a service with large schemas stay short: what is too much is `unknown`. */
class TypeWords {
  readonly words: string;
  readonly #definitions: NonNullable<JSONSchema7["$defs"]>;
  #left = MOST_SCHEMAS;

  constructor(schema: JSONSchema7) {
    this.#definitions = { ...schema.definitions, ...schema.$defs };
    this.words = this.#typeOf(schema, 0);
  }

  #typeOf(schema: JSONSchema7 | boolean, depth: number): string {
    if (typeof schema === "boolean" || depth > MOST_NESTED || this.#left <= 0) return "unknown";
    this.#left -= 1;
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
    if (schema.$ref !== undefined) return this.#typeOf(this.#named(schema.$ref), depth + 1);
    const any = schema.anyOf ?? schema.oneOf;
    if (any !== undefined) return any.map((one) => this.#typeOf(one, depth + 1)).join(" | ");
    if (schema.allOf !== undefined) return this.#allOf(schema, schema.allOf, depth);
    const { type } = schema;
    if (Array.isArray(type))
      return type.map((one) => this.#typeOf({ ...schema, type: one }, depth + 1)).join(" | ");
    switch (type) {
      case "string":
      case "boolean":
      case "null":
        return type;
      case "integer":
      case "number":
        return "number";
      case "array":
        return this.#listOf(schema, depth);
      default:
        return type === "object" || schema.properties !== undefined
          ? this.#objectOf(schema, depth)
          : "unknown";
    }
  }

  #named(reference: string): JSONSchema7 | boolean {
    const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(reference)?.[1] ?? "";
    return Object.hasOwn(this.#definitions, name) ? (this.#definitions[name] ?? true) : true;
  }

  #allOf(
    { properties, ...rest }: JSONSchema7,
    all: readonly (JSONSchema7 | boolean)[],
    depth: number,
  ): string {
    const own = properties === undefined ? [] : [{ ...rest, allOf: undefined, properties } as JSONSchema7];
    return [...all, ...own].map((one) => `(${this.#typeOf(one, depth + 1)})`).join(" & ");
  }

  #listOf({ items }: JSONSchema7, depth: number): string {
    if (items === undefined) return "unknown[]";
    const inside = Array.isArray(items) ? items : [items];
    const types = inside.map((one) => this.#typeOf(one, depth + 1));
    return Array.isArray(items) ? `[${types.join(", ")}]` : `(${types.join()})[]`.replace(/^\((\w+)\)/, "$1");
  }

  #objectOf({ properties = {}, required = [], additionalProperties }: JSONSchema7, depth: number): string {
    const fields = Object.entries(properties).map(([name, schema]) => {
      const words = isRecord(schema) && typeof schema.description === "string" ? schema.description : "";
      const comment = words === "" ? "" : `/** ${oneLine(shortLine(words, LONGEST_WORDS))} */ `;
      return `${comment}${keyOf(name)}${required.includes(name) ? "" : "?"}: ${this.#typeOf(schema, depth + 1)}`;
    });
    if (fields.length > 0) return `{ ${fields.join("; ")} }`;
    return isRecord(additionalProperties)
      ? `Record<string, ${this.#typeOf(additionalProperties, depth + 1)}>`
      : "Record<string, unknown>";
  }
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
