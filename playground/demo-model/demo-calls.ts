import type { LanguageModelV4CallOptions, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";
import { closestName } from "../../src/core/text/closest-name.ts";
import { record, wordResult, type DemoToolCall } from "./demo-tools.ts";

type Tools = NonNullable<LanguageModelV4CallOptions["tools"]>;
type Callable = Extract<Tools[number], { type: "function" }>;

const CALL = /^\/call(?:@\w+)?(?:\s+(?<name>[^\s{]+))?\s*(?<json>[\s\S]*)$/i;
/** Begins every refusal of an input, also that of an action. */
const INPUT_REFUSED = "The input is not valid: ";
const SAMPLES: Readonly<Record<string, string>> = {
  date: "2030-12-24",
  time: "19:00:00",
  "date-time": "2030-12-24T19:00:00Z",
  email: "ann@example.com",
  uri: "https://example.com/",
};
const MOST_LISTED = 20;
const LONGEST_DESCRIPTION = 120;
const DEEPEST_SAMPLE = 4;
const LONGEST_RESULT = 3000;

/** Returns a list of everything that a person can run with `/call`, each with an example. */
export function listTools(tools: Tools): string {
  const callable = callableOf(tools);
  if (callable.length === 0)
    return "This bot has no tools or actions yet: see `getTools()` and `getActions()`.";
  const shown = callable.slice(0, MOST_LISTED).map((tool) => {
    const about = firstSentence(tool.description ?? "");
    return `- **${tool.name}**${about === "" ? "" : `: ${about}`}\n  ${example(tool)}`;
  });
  const left = callable.length - shown.length;
  return [
    "Without a model you can run this bot's tools and actions yourself:",
    "",
    ...shown,
    ...(left > 0 ? ["", `And ${left} more.`] : []),
  ].join("\n");
}

interface CallReply {
  readonly text: string;
  readonly calls: readonly DemoToolCall[];
}

/**
 * Returns the reply to `/call <name> <JSON>`: a call of the tool, or what is wrong with the message. Several messages
 * may follow each other. Undefined for any other text.
 */
export function replyToCall(text: string, tools: Tools, turn: number): CallReply | undefined {
  const replies = text
    .split(/\n(?=\/call\b)/i)
    .flatMap((message, index) => replyToOne(message, tools, `demo-${turn}-${index}`) ?? []);
  if (replies.length === 0) return undefined;
  return {
    text: replies.map((reply) => reply.text).join("\n\n"),
    calls: replies.flatMap(({ calls }) => calls),
  };
}

function replyToOne(text: string, tools: Tools, id: string): CallReply | undefined {
  const match = CALL.exec(text);
  if (match === null) return undefined;
  const { json = "", name } = match.groups ?? {};
  if (name === undefined) return { text: listTools(tools), calls: [] };
  const callable = callableOf(tools);
  const tool = callable.find((one) => one.name === name);
  if (tool === undefined) {
    const names = callable.map((one) => one.name);
    const meant = closestName(name, names);
    const advice = meant === undefined ? listTools(tools) : `Did you mean \`${meant}\`?`;
    return { text: `This bot has no tool or action \`${name}\`. ${advice}`, calls: [] };
  }
  const input = readInput(json);
  if (typeof input === "string") return { text: `${input} ${howTo(tool)}`, calls: [] };
  const call = { id, toolName: name, input, subject: name };
  return { text: `Calling \`${name}\`.`, calls: [call] };
}

/** Writes the result of a `/call` for the person who develops the bot. */
export function wordCall(result: LanguageModelV4ToolResultPart, tools: Tools): string {
  const { output, toolName } = result;
  const tool = callableOf(tools).find((one) => one.name === toolName);
  const refusal = refusalIn(output);
  if (refusal !== undefined) {
    const isInput = tool !== undefined && refusal.startsWith(INPUT_REFUSED);
    return isInput ? `${refusal}\n\n${howTo(tool)}` : refusal;
  }
  if (output.type !== "json" || record(output.value)["waiting"] !== undefined) return wordResult(result);
  const written = JSON.stringify(output.value, undefined, 2);
  const shown = written.length > LONGEST_RESULT ? `${written.slice(0, LONGEST_RESULT)} …` : written;
  return `\`\`\`json\n${shown}\n\`\`\``;
}

/** Returns why a call did not succeed, in the words that a model would read. Undefined if it did. */
function refusalIn(output: LanguageModelV4ToolResultPart["output"]): string | undefined {
  const words = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  if (output.type === "error-text") return inputProblem(output.value) ?? output.value;
  if (output.type === "error-json") return words(output.value);
  const error = output.type === "json" ? record(output.value)["error"] : undefined;
  return error === undefined ? undefined : words(record(error)["message"] ?? error);
}

/** Returns the fields that a tool's schema refuses, from the AI SDK's error. Undefined for any other error. */
function inputProblem(error: string): string | undefined {
  if (!error.includes("Invalid input for tool")) return undefined;
  const [, list] = /Error message: (\[[\s\S]*\])/.exec(error) ?? [];
  const issues = list === undefined ? [] : issuesIn(list);
  return `${INPUT_REFUSED}${issues.length === 0 ? "it does not fit the schema" : issues.join("; ")}`;
}

function issuesIn(json: string): readonly string[] {
  try {
    return (JSON.parse(json) as readonly unknown[]).map((issue) => {
      const { message, path } = record(issue);
      const field = Array.isArray(path) && path.length > 0 ? path.join(".") : "input";
      return `${field}: ${typeof message === "string" ? message : "not valid"}`;
    });
  } catch {
    // Written by another library than Zod.
    return [];
  }
}

function callableOf(tools: Tools): readonly Callable[] {
  return tools.filter((tool) => tool.type === "function");
}

function firstSentence(description: string): string {
  const [sentence = ""] = /^.*?(?:[.!?](?=\s|$)|$)/s.exec(description.trim()) ?? [];
  const line = sentence.replaceAll(/\s+/g, " ");
  return line.length > LONGEST_DESCRIPTION ? `${line.slice(0, LONGEST_DESCRIPTION)} …` : line;
}

/** Reads the JSON of an input. Returns a sentence if it cannot be read. */
function readInput(json: string): Readonly<Record<string, unknown>> | string {
  // Keyboards of phones write typographic quotation marks.
  const written = json.trim().replaceAll(/[“”„]/g, '"');
  if (written === "") return {};
  try {
    const input: unknown = JSON.parse(written);
    if (typeof input === "object" && input !== null && !Array.isArray(input)) return record(input);
    return "The input must be a JSON object, in braces.";
  } catch (error) {
    return `This is not valid JSON: ${error instanceof Error ? error.message : "it cannot be read"}.`;
  }
}

function howTo(tool: Callable): string {
  return `Write it like this: ${example(tool)}`;
}

function example({ inputSchema, name }: Callable): string {
  return `\`/call ${name} ${JSON.stringify(sampleOf(inputSchema, 0))}\``;
}

/** Returns a value that looks like what a JSON schema wants. Of an object, only what is required. */
function sampleOf(schema: unknown, depth: number): unknown {
  const {
    anyOf,
    const: fixed,
    default: initial,
    enum: choices,
    examples,
    format,
    items,
    minimum,
    oneOf,
    ...rest
  } = record(schema);
  const value = fixed ?? initial ?? firstOf(examples) ?? firstOf(choices);
  if (value !== undefined) return value;
  const variant = firstOf(anyOf) ?? firstOf(oneOf);
  if (variant !== undefined && depth < DEEPEST_SAMPLE) return sampleOf(variant, depth + 1);
  switch (rest["type"]) {
    case "number":
    case "integer":
      return Math.max(1, Number(minimum ?? 1));
    case "boolean":
      return true;
    case "array":
      return depth < DEEPEST_SAMPLE ? [sampleOf(items, depth + 1)] : [];
    case "object": {
      const { properties, required } = rest;
      const names = Array.isArray(required) && depth < DEEPEST_SAMPLE ? required.map(String) : [];
      return Object.fromEntries(names.map((name) => [name, sampleOf(record(properties)[name], depth + 1)]));
    }
    default:
      return SAMPLES[String(format)] ?? "…";
  }
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}
