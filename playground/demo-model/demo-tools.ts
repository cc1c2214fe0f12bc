import type { LanguageModelV4CallOptions, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";
import { SCHEDULE_ACTIONS, scheduleIn, wordSchedule } from "./demo-schedules.ts";

export interface DemoToolCall {
  readonly id: string;
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The requested thing, in the person's words. */
  readonly subject: string;
}

type Tools = NonNullable<LanguageModelV4CallOptions["tools"]>;

/** Most calls for one message, e.g. if someone asks for three orders at once. */
const MOST_CALLS = 3;

/** Words in a tool's name that do not name its subject. */
const VERBS = new Set([
  "get",
  "look",
  "lookup",
  "find",
  "fetch",
  "search",
  "show",
  "check",
  "read",
  "list",
  "send",
  "by",
  "up",
]);

/**
 * Returns the calls that answer a message, from the names and schemas of the offered tools. A tool is called if the
 * message (or the message it quotes) mentions its subject and has a value for each required parameter.
 *
 * @param turn makes the ids of the calls unique in the conversation
 */
export function chooseCalls(
  text: string,
  quoted: string,
  tools: Tools,
  turn: number,
): readonly DemoToolCall[] {
  const schedule = scheduleIn(text, tools);
  if (schedule !== undefined) return [{ ...schedule, id: `demo-${turn}-0`, subject: schedule.input.text }];
  const fact = /\bremember(?: that)? (?<fact>(?:my|i)\b[^.!?\n]+)/i.exec(text)?.groups?.["fact"]?.trim();
  if (fact !== undefined && tools.some(({ name }) => name === KEEP_FACT)) {
    const input = { label: "customer", content: fact, quote: fact };
    return [{ id: `demo-${turn}-0`, toolName: KEEP_FACT, input, subject: fact }];
  }
  const meant = withPlainWords(text);
  const callable = tools
    .filter((tool) => tool.type === "function")
    .filter(({ name }) => !SCHEDULE_ACTIONS.has(name) && !MEMORY_TOOLS.has(name))
    .toSorted(byPrecision);
  for (const tool of callable) {
    const parameters = parametersOf(tool.inputSchema);
    const inputs = inputsFor(tool.name, parameters, meant, quoted);
    if (inputs.length === 0) {
      if (parameters.length > 1 && isAbout(tool.name, meant)) return [];
      continue;
    }
    return inputs.slice(0, MOST_CALLS).map((input, index) => ({
      id: `demo-${turn}-${index}`,
      toolName: tool.name,
      input,
      subject: Object.values(input).join(", ") || `the ${subjectWords(tool.name).join(" ")}`,
    }));
  }
  return [];
}

/** The tool that writes the memory. The block of the support bot's is called "customer". */
const KEEP_FACT = "set_context";
const MEMORY_TOOLS: ReadonlySet<string> = new Set([KEEP_FACT, "load_context", "search_context"]);

type Callable = Extract<Tools[number], { type: "function" }>;

/**
 * Sorts tools so that the one that a sentence means most precisely comes first: one with several parameters, which is only
 * called by its name; one whose name has more words; one that does something, before one that only looks things up.
 */
function byPrecision(left: Callable, right: Callable): number {
  const large = ({ inputSchema }: Callable): number => (parametersOf(inputSchema).length > 1 ? 1 : 0);
  const words = ({ name }: Callable): number => subjectWords(name).length;
  const isLookUp = ({ name }: Callable): number => (looksUp(name) ? 1 : 0);
  return large(right) - large(left) || words(right) - words(left) || isLookUp(left) - isLookUp(right);
}

function looksUp(toolName: string): boolean {
  return /^(?:get|look|fetch|read|check)/i.test(toolName);
}

/** Returns the call with what a person wants instead. Undefined if the person's words name nothing else that fits. */
export function changedCall(
  { input, toolName }: Pick<DemoToolCall, "input" | "toolName">,
  words: string,
  tools: Tools,
  turn: number,
): DemoToolCall | undefined {
  const callable = tools.find((tool) => tool.type === "function" && tool.name === toolName);
  if (callable?.type !== "function") return undefined;
  const wanted = parametersOf(callable.inputSchema).flatMap((parameter) => {
    const value = valueFor(parameter, words);
    return value === undefined || value === input[parameter.name] ? [] : [[parameter.name, value] as const];
  });
  if (wanted.length === 0) return undefined;
  const changed = { ...input, ...Object.fromEntries(wanted) };
  return { id: `demo-${turn}-0`, toolName, input: changed, subject: Object.values(changed).join(", ") };
}

/** Adds the words of tools to sentences that mean the same in other words. */
function withPlainWords(text: string): string {
  const added = OTHER_WORDS.filter(([pattern]) => pattern.test(text)).map(([, words]) => words);
  return [text.replaceAll(/\be-mails?\b/gi, "email"), ...added].join("\n");
}

const OTHER_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bare you (?:still )?open\b|\b(?:do|will) you (?:open|close)\b|\bwhen are you open\b/i, "opening hours"],
  [/\bwhere are you\b(?! from)/i, "shop"],
  [/\bwhat (?:do|can) you (?:sell|offer)\b|\bwhat do you have\b/i, "products"],
  [/\bpictures? of\b/i, "photo"],
];

/** `**A-1001** and **A-1002**` */
export function subjectOf(calls: readonly DemoToolCall[]): string {
  return calls.map((call) => `**${call.subject}**`).join(" and ");
}

interface Parameter {
  readonly name: string;
  readonly type: unknown;
  readonly choices: readonly string[];
}

function parametersOf(schema: unknown): readonly Parameter[] {
  const properties = record(record(schema)["properties"]);
  const required = record(schema)["required"];
  if (!Array.isArray(required)) return [];
  return required.map((name) => {
    const property = record(properties[String(name)]);
    const choices = Array.isArray(property["enum"]) ? property["enum"].map(String) : [];
    return { name: String(name), type: property["type"] ?? "string", choices };
  });
}

function inputsFor(
  toolName: string,
  parameters: readonly Parameter[],
  text: string,
  quoted: string,
): readonly DemoToolCall["input"][] {
  const isNamed = isAbout(toolName, text);
  const [only] = parameters;
  if (only === undefined) return isNamed ? [{}] : [];

  if (parameters.length === 1 && isIdentifier(only)) {
    const named = identifiersIn(text, isNamed);
    const known = named.length === 0 && refersBack(text) ? identifiersIn(quoted, false) : named;
    // A number alone asks about something, and asks nobody to do anything with it.
    const speaksOfIt = isNamed || (looksUp(toolName) && (refersBack(text) || hasClearIdentifier(text)));
    return speaksOfIt ? known.map((identifier) => ({ [only.name]: identifier })) : [];
  }
  if (parameters.length === 1 && only.type === "array" && /ids$/i.test(only.name)) {
    const named = isNamed ? identifiersIn(text, true) : [];
    return named.length > 1 ? [{ [only.name]: named }] : [];
  }
  if (!isNamed) return [];
  const input: Record<string, string | number> = {};
  for (const parameter of parameters) {
    const value = valueFor(parameter, text);
    if (value === undefined) return [];
    input[parameter.name] = value;
  }
  return [input];
}

function isAbout(toolName: string, text: string): boolean {
  const words = subjectWords(toolName);
  return words.length > 0 && words.every((word) => mentions(text, word));
}

function valueFor(parameter: Parameter, text: string): string | number | undefined {
  if (parameter.choices.length > 0) return parameter.choices.find((choice) => mentions(text, choice));
  if (parameter.type === "number" || parameter.type === "integer") {
    if (parameter.name.endsWith("Cents")) return centsIn(text);
    const number = /-?\d+(\.\d+)?/.exec(text)?.[0];
    return number === undefined ? undefined : Number(number);
  }
  if (parameter.type !== "string") return undefined;
  if (isIdentifier(parameter)) return identifiersIn(text.replaceAll(AMOUNT, ""), true)[0];
  // An address has commas and full stops, and comes last: "change the address of order 7 to 5 Main St., Berlin".
  const pattern =
    parameter.name === "address"
      ? /\bto (?<value>[^?!\n]+?)[.?!]?$/im
      : /\b(?:in|for|about|of|to|at) (?<value>[^?!.\n]+)/i;
  return pattern.exec(text)?.groups?.["value"]?.trim();
}

const AMOUNT =
  /(?<cents>\d+) cents?\b|(?<after>\d+(?:[.,]\d{1,2})?) ?(?:€|eur\b|euros?\b)|€ ?(?<before>\d+(?:[.,]\d{1,2})?)/gi;

/** `20 €`, `€ 20`, `20.50 euros` or `2000 cents`, in cents. */
function centsIn(text: string): number | undefined {
  const [match] = text.matchAll(AMOUNT);
  const { after, before, cents } = match?.groups ?? {};
  if (cents !== undefined) return Number(cents);
  const amount = after ?? before;
  return amount === undefined ? undefined : Math.round(Number(amount.replace(",", ".")) * 100);
}

function isIdentifier(parameter: Parameter): boolean {
  return parameter.type === "string" && /(id|number|code|reference)$/i.test(parameter.name);
}

/** Finds `A-1001`, `A1001` and `#1001`, and bare numbers if the text mentions the subject. In order, each once. */
function identifiersIn(text: string, allowsNumbers: boolean): readonly string[] {
  const pattern = allowsNumbers
    ? /(?<![\w-])(?:[a-z]{1,6}[-_]?\d{2,12}|\d{3,12})(?![\w-])/gi
    : /(?<![\w-])(?:[a-z]{1,6}[-_]?\d{2,12})(?![\w-])|(?<=#)\d{2,12}/gi;
  return [...new Set([...text.matchAll(pattern)].map((match) => match[0].toUpperCase()))];
}

/** Tells whether the text has `A-1001` or `#1001`, which are clear without a subject. */
function hasClearIdentifier(text: string): boolean {
  return /(?<![\w-])[a-z]{1,6}[-_]\d{3,12}(?![\w-])|#\d{2,12}\b/i.test(text);
}

/** Tells whether the text refers to something earlier, as in "Where is it?" */
function refersBack(text: string): boolean {
  return /\b(it|this|that|one|status|where|when)\b/i.test(text);
}

/** Returns the subject in a tool's name: `order` for `lookup_order`, `lookupOrder` and `get-order`. */
function subjectWords(toolName: string): readonly string[] {
  const words = toolName
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.filter((word) => word !== "" && !VERBS.has(word));
}

function mentions(text: string, word: string): boolean {
  const literal = word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${literal}(e?s)?(?![\\p{L}\\p{N}])`, "iu").test(text);
}

/** Writes a tool's result in words for a customer. */
export function wordResult(part: LanguageModelV4ToolResultPart): string {
  const { output } = part;
  switch (output.type) {
    case "text":
      return output.value;
    case "json":
      return wordJson(output.value);
    case "content":
      return output.value
        .map((item) => (item.type === "text" ? item.text : ""))
        .join("\n")
        .trim();
    case "error-text":
    case "error-json":
      return "I couldn't look that up just now. Please try again in a moment.";
    case "execution-denied":
      return "I wasn't allowed to do that.";
    default:
      return output satisfies never;
  }
}

/** Writes a value in words for a customer. */
export function wordJson(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return wordValue(value);
  const fields = record(value);
  const { kept, waiting } = fields;
  if (kept === true) return "I'll remember that. /memory shows everything that I remember.";
  if (waiting !== undefined)
    return record(waiting)["questionId"] === undefined
      ? "Somebody has to agree to that first."
      : "I need to know a little more.";
  const aboutSchedule = wordSchedule(fields);
  if (aboutSchedule !== undefined) return aboutSchedule;
  const message = fields["message"] ?? record(fields["error"])["message"] ?? fields["error"];
  if (fields["found"] === false || fields["ok"] === false || fields["error"] !== undefined) {
    return typeof message === "string" ? forPeople(message) : "I couldn't find that.";
  }
  // A result often wraps the actual thing: { found: true, order: {...} }.
  const entries = Object.entries(fields).filter(([name, item]) => !isFlag(name) && item !== null);
  const [single] = entries;
  if (entries.length === 1 && single !== undefined && Object.keys(record(single[1])).length > 0) {
    return wordThing(single[0], record(single[1]));
  }
  return wordThing("Result", Object.fromEntries(entries));
}

/** Leaves out the sentences of a failure that tell a model what to do. */
function forPeople(message: string): string {
  return message
    .replaceAll(/(?<=^|[.!?] )(?:Do not|Say that|Ask whether|Tell the person)[, ][^.]*\.\s?/g, "")
    .trim();
}

/** Writes "Order **A-1001** is **shipped**." and the other fields as a list. */
function wordThing(name: string, fields: Readonly<Record<string, unknown>>): string {
  const { id, status, currency, ...rest } = fields;
  const hasHeading = isScalar(id) && isScalar(status);
  const heading = hasHeading
    ? `${readable(name)} **${id}** is **${readable(String(status)).toLowerCase()}**.`
    : `${readable(name)}:`;
  const listed = Object.entries(hasHeading ? rest : { id, status, ...rest })
    .filter(([, item]) => item !== null && item !== undefined)
    .map(([field, item]) => `- ${wordField(field, item, isScalar(currency) ? ` ${currency}` : "")}`);
  if (listed.length > 0) return [heading, "", ...listed].join("\n");
  return hasHeading ? heading : "There's nothing more to say about that.";
}

/** Writes one field. An amount in cents becomes an amount. */
function wordField(name: string, value: unknown, currency: string): string {
  const amount = /^(?<what>.+)Cents$/.exec(name)?.groups?.["what"];
  if (amount !== undefined && typeof value === "number") {
    return `${readable(amount)}: ${(value / 100).toFixed(2)}${currency}`;
  }
  return `${readable(name)}: ${wordValue(value)}`;
}

function wordValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(wordValue).join("; ");
  const { name, quantity } = record(value);
  if (isScalar(name) && isScalar(quantity)) return `${quantity} × ${name}`;
  if (typeof value === "object" && value !== null) {
    return Object.values(value)
      .filter((item) => item !== null)
      .map(wordValue)
      .join(" ");
  }
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

/** Turns `estimatedDelivery` and `estimated_delivery` into "Estimated delivery". */
function readable(name: string): string {
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[_-]+/g, " ")
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function isFlag(name: string): boolean {
  return name === "found" || name === "ok" || name === "success";
}

function isScalar(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

/** Returns the fields of an object. None of any other value. */
export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
