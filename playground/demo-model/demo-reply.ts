import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { listTools, replyToCall, wordCall } from "./demo-calls.ts";
import { answerSentence, asksForHelp, DEMO_NOTICE, SAMPLE_HINT, WHICH_ORDER } from "./demo-intents.ts";
import { replyToOutcome } from "./demo-outcome.ts";
import { digestOf } from "./demo-schedules.ts";
import { chooseCalls, subjectOf, wordResult, type DemoToolCall } from "./demo-tools.ts";

export interface DemoReply {
  readonly text: string;
  readonly calls: readonly DemoToolCall[];
}

/**
 * Returns the demo model's text and tool calls. Pure: it depends on the prompt and the offered tools.
 *
 * @param canCall whether people may run the tools by hand (`/call`)
 */
export function demoReply(
  prompt: LanguageModelV4Prompt,
  tools: NonNullable<LanguageModelV4CallOptions["tools"]>,
  canCall = false,
): DemoReply {
  const lastUser = prompt.findLastIndex((message) => message.role === "user");
  // Consecutive unanswered messages are one question.
  const answered = prompt.slice(0, lastUser + 1).findLastIndex((message) => message.role !== "user");
  const results = resultsIn(prompt.slice(lastUser + 1));
  const asking = textOf(prompt.slice(answered + 1, lastUser + 1));
  const outcome = replyToOutcome(asking, tools, lastUser);
  if (outcome !== undefined)
    return results.length === 0 ? outcome : { text: wordResults(results), calls: [] };
  const digest = digestOf(asking);
  if (digest !== undefined) return { text: digest, calls: [] };
  const asked = completed(askedIn(prompt.slice(answered + 1, lastUser + 1)), prompt.slice(0, answered + 1));
  const isFirst = !prompt.slice(0, answered + 1).some((message) => message.role === "assistant");
  const reply =
    (canCall ? replyByHand(asked, results, tools, lastUser) : undefined) ??
    replyTo(asked, results, tools, lastUser);
  if (!isFirst || reply.calls.length > 0) return reply;
  return { ...reply, text: `${reply.text}\n\n${DEMO_NOTICE}` };
}

function replyTo(
  asked: Asked,
  results: readonly LanguageModelV4ToolResultPart[],
  tools: NonNullable<LanguageModelV4CallOptions["tools"]>,
  turn: number,
): DemoReply {
  // Tools are called once for a message. Once their results are there, it only answers.
  if (results.length > 0) return { text: wordResults(results), calls: [] };
  const calls = chooseCalls(asked.text, asked.quoted, tools, turn);
  if (calls.some(changesSomething)) return { text: "One moment.", calls };
  if (calls.length > 0) return { text: `One moment, I'm looking up ${subjectOf(calls)}.`, calls };
  const answers = asked.text.split("\n").flatMap((text) => answerSentence({ ...asked, text }) ?? []);
  if (answers.length > 0) return { text: [...new Set(answers)].join("\n\n"), calls: [] };
  return {
    text: `I didn't understand that: the demo knows only a few sentences. ${SAMPLE_HINT}`,
    calls: [],
  };
}

/** A tool of the bot that `npm start` runs, about whose orders the demo knows sentences. */
const SHOP_TOOL = "lookup_order";

/**
 * Returns the reply to a `/call`. A bot other than the shop's also gets a list of its tools, where the shop would be
 * spoken of. Undefined for all other messages.
 */
function replyByHand(
  asked: Asked,
  results: readonly LanguageModelV4ToolResultPart[],
  tools: NonNullable<LanguageModelV4CallOptions["tools"]>,
  turn: number,
): DemoReply | undefined {
  const called = replyToCall(asked.text, tools, turn);
  if (called !== undefined && results.length > 0) {
    return { text: results.map((result) => wordCall(result, tools)).join("\n\n"), calls: [] };
  }
  const isShop = tools.some(({ name }) => name === SHOP_TOOL);
  if (called !== undefined || isShop || results.length > 0) return called;
  const calls = chooseCalls(asked.text, asked.quoted, tools, turn);
  if (calls.length > 0) return undefined;
  const answer = answerSentence(asked, "any bot");
  if (answer !== undefined) return { text: answer, calls: [] };
  const intro = asksForHelp(asked.text) ? "" : "I can't answer that. ";
  return { text: `${intro}${listTools(tools)}`, calls: [] };
}

function wordResults(results: readonly LanguageModelV4ToolResultPart[]): string {
  return [...new Set(results.map((result) => wordResult(result)))].join("\n\n");
}

function changesSomething({ input, toolName }: DemoToolCall): boolean {
  return Object.keys(input).length > 1 || /^(?:cancel|change|delete|draft|send)/i.test(toolName);
}

/** A bare number answers the demo's question: the message before it says what the number is for. */
function completed(asked: Asked, before: LanguageModelV4Prompt): Asked {
  const last = before.at(-1);
  if (last?.role !== "assistant" || !/^#?[a-z]{0,4}-?\d{3,12}[.!]?$/i.test(asked.text)) return asked;
  const said = last.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  if (!said.includes(WHICH_ORDER)) return asked;
  const lastUser = before.findLast(({ role }) => role === "user");
  const earlier = lastUser === undefined ? "" : askedIn([lastUser]).text;
  return { ...asked, text: `${earlier} order ${asked.text}` };
}

export interface Asked {
  /** The person's text, without quoted lines and the speaker's name. */
  readonly text: string;
  readonly quoted: string;
  /** The speaker's name, if a group's text has one. */
  readonly speaker?: string;
  readonly hasFiles: boolean;
  /** A sent thing that is neither text nor a file, such as "sticker". */
  readonly thing?: string;
}

function textOf(messages: LanguageModelV4Prompt): string {
  const content = messages.flatMap((message) => (message.role === "user" ? message.content : []));
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function askedIn(messages: LanguageModelV4Prompt): Asked {
  const content = messages.flatMap((message) => (message.role === "user" ? message.content : []));
  const quoted: string[] = [];
  const withoutQuotes = textOf(messages)
    .replaceAll(POST, "")
    .replace(QUOTE, (_all, quote: string) => {
      quoted.push(quote);
      return "";
    });
  const notes: string[] = [];
  let speaker: string | undefined;
  const written = withoutQuotes.split("\n").flatMap((line) => {
    const label = SPEAKER.exec(line);
    const name = label?.groups?.["name"];
    speaker = name ?? speaker;
    const rest = label === null ? line : line.slice(label[0].length);
    const pressed = BUTTON.exec(rest)?.groups?.["data"];
    if (pressed !== undefined) return [pressed];
    if (rest.startsWith(">")) quoted.push(rest);
    if (rest.startsWith("[")) notes.push(rest);
    return /^[>[]/.test(rest) ? [] : [rest];
  });
  const things = notes.flatMap((note) => THING.exec(note)?.groups?.["thing"]?.toLowerCase() ?? []);
  return {
    text: written.join("\n").trim(),
    quoted: quoted.join("\n"),
    speaker,
    hasFiles: content.some((part) => part.type === "file") || notes.length > things.length,
    thing: things[0],
  };
}

/** Texts that the bot's own code has posted, such as a broadcast. No person has asked for them. */
const POST = /⟦You posted this[\s\S]*?⟦End of your post\.⟧(?:\n|$)/g;

/**
 * The notes in brackets that chat messages contain: a quoted message, a pressed button, a thing that is not a file
 * (with a capital letter), or (anything else) a file.
 */
const QUOTE = /\[In reply to [^\n:]*: "([\s\S]*?)"\](?:\n|$)/g;
const THING = /^\[(?<thing>[A-Z][a-z ]+)[:\]]/;
const BUTTON = /^\[Button pressed: (?<data>.*)\]$/;

/** `Ann Smith: hello` in a group. An order number before a colon is not a name. */
const SPEAKER =
  /^(?![A-Za-z]{1,4}-?\d+:)(?<name>[\p{L}\p{N}][\p{L}\p{M}\p{N}.'’_-]*(?: [\p{L}\p{M}\p{N}.'’_-]+){0,3}): ?(?=\S|$)/u;

function resultsIn(messages: LanguageModelV4Prompt): readonly LanguageModelV4ToolResultPart[] {
  return messages.flatMap((message) => {
    if (message.role !== "tool" && message.role !== "assistant") return [];
    return message.content.flatMap((part) => (part.type === "tool-result" ? [part] : []));
  });
}
