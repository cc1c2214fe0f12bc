import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { answerSentence, DEMO_NOTICE, SAMPLE_HINT } from "./demo-intents.ts";
import { chooseCalls, subjectOf, wordResult, type DemoToolCall } from "./demo-tools.ts";

export interface DemoReply {
  readonly text: string;
  readonly calls: readonly DemoToolCall[];
}

/** What the demo model says and calls. A pure function of the prompt and the tools on offer. */
export function demoReply(
  prompt: LanguageModelV4Prompt,
  tools: NonNullable<LanguageModelV4CallOptions["tools"]>,
): DemoReply {
  const lastUser = prompt.findLastIndex((message) => message.role === "user");
  const asked = askedIn(prompt[lastUser]);
  const isFirst = !prompt.slice(0, Math.max(lastUser, 0)).some((message) => message.role === "assistant");
  const reply = replyTo(asked, resultsIn(prompt.slice(lastUser + 1)), tools, lastUser);
  if (!isFirst || reply.calls.length > 0) return reply;
  return { ...reply, text: `${reply.text}\n\n${DEMO_NOTICE}` };
}

function replyTo(
  asked: Asked,
  results: readonly LanguageModelV4ToolResultPart[],
  tools: NonNullable<LanguageModelV4CallOptions["tools"]>,
  turn: number,
): DemoReply {
  // Tools are called once for a message; with their results at hand it only answers.
  if (results.length > 0) {
    return { text: results.map((result) => wordResult(result)).join("\n\n"), calls: [] };
  }
  const calls = chooseCalls(asked.text, asked.quoted, tools, turn);
  if (calls.length > 0) return { text: `One moment, I am looking up ${subjectOf(calls)}.`, calls };
  const answer = answerSentence(asked);
  if (answer !== undefined) return { text: answer, calls: [] };
  return {
    text: `I did not understand that: the demo knows only a few sentences. ${SAMPLE_HINT}`,
    calls: [],
  };
}

export interface Asked {
  /** What the person wrote, without quoted lines and without the speaker's name. */
  readonly text: string;
  readonly quoted: string;
  /** The speaker's name, where a group's text has one. */
  readonly speaker?: string;
  readonly hasFiles: boolean;
}

function askedIn(message: LanguageModelV4Prompt[number] | undefined): Asked {
  if (message?.role !== "user") return { text: "", quoted: "", hasFiles: false };
  const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const written: string[] = [];
  const quoted: string[] = [];
  let speaker: string | undefined;
  for (const line of texts.join("\n").split("\n")) {
    const labelled = SPEAKER.exec(line);
    if (labelled?.groups?.["name"] !== undefined) speaker = labelled.groups["name"];
    const rest = labelled === null ? line : line.slice(labelled[0].length);
    if (/^\s*(>|\[)/.test(rest)) quoted.push(rest);
    else written.push(rest);
  }
  return {
    text: written.join("\n").trim(),
    quoted: quoted.join("\n"),
    speaker,
    hasFiles: message.content.some((part) => part.type === "file"),
  };
}

/** `Ann Smith: hello`. A name has no digits or dots at its end, so that "Order A-1: hello" and times are no names. */
const SPEAKER = /^(?<name>\p{L}[\p{L}\p{M}'’_-]*(?: [\p{L}\p{M}.'’_-]+){0,3}): (?=\S)/u;

function resultsIn(messages: LanguageModelV4Prompt): readonly LanguageModelV4ToolResultPart[] {
  return messages.flatMap((message) => {
    if (message.role !== "tool" && message.role !== "assistant") return [];
    return message.content.flatMap((part) => (part.type === "tool-result" ? [part] : []));
  });
}
