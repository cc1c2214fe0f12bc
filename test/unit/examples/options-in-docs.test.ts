import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { DeliveryPolicy } from "../../../src/core/chat/delivery.ts";
import type { MessengerOptions } from "../../../src/core/chat/messenger.ts";
import { safeText } from "../../../src/messengers/declare/texts.ts";
import type { SafeText } from "../../../src/core/chat/messenger-options.ts";

const page = (name: string): string =>
  readFileSync(path.resolve(import.meta.dirname, "../../../docs", name), "utf8");

/** The rows of a page's tables whose first cell names something in backticks. */
function rowsOf(text: string): Map<string, readonly string[]> {
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  return new Map(
    rows.flatMap((row) => {
      const [, first = "", ...cells] = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
      return [...first.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => [name, cells] as const);
    }),
  );
}

const think = rowsOf(page("reference/think.md"));
const messenger = rowsOf(page("reference/messenger-options.md"));
const delivery = rowsOf(page("reference/delivery.md"));
const replies = rowsOf(page("replies.md"));

const TEXTS: Record<SafeText, true> = {
  emptyResponseText: true,
  errorResponseText: true,
  overloadedResponseText: true,
  waitingResponseText: true,
  interruptedResponseText: true,
  stepLimitResponseText: true,
  stoppedResponseText: true,
  busyResponseText: true,
  refusedResponseText: true,
  limitResponseText: true,
  staleActionResponseText: true,
  interruptedActionResponseText: true,
  fileTooLargeText: true,
  fileUnreachableText: true,
  fileForbiddenText: true,
  fileRefusedText: true,
};
const DELIVERY: Record<Exclude<keyof DeliveryPolicy, SafeText>, unknown> = {
  mode: '"edit", on GitHub and Linear "final-only"',
  linkPreviews: "`false`",
  richMessages: "`false`",
  typing:
    "true, except for messages that are not addressed to the bot and that the model may leave unanswered",
  resentMark: '`"(sent again after a connection problem)"`',
  callTimeoutMs: "15000, on Telegram 6000",
  editEveryMs: "700, on Slack 1200, on Teams 2000",
  onUnknown: '`"resend-marked"`',
  replyTo: '`"groups"`',
  silence: 'only where `respondTo` has `"subscribed-thread"`',
  removeArtefacts: "`true`",
  transform: "none",
  footer: "none",
};
const MESSENGER: Record<keyof MessengerOptions, true> = {
  path: true,
  respondTo: true,
  subscribeOnMention: true,
  conversation: true,
  verifyWebhook: true,
  delivery: true,
  toEvent: true,
  channelSpeakerLabel: true,
  adapterName: true,
  acceptsMedia: true,
  maxMediaBytes: true,
  allow: true,
  refusal: true,
  limits: true,
  burstMs: true,
  whenBusy: true,
  rerunOnEdit: true,
  staleAfterMs: true,
  inboxLimit: true,
};

const THINK = readFileSync(path.resolve(import.meta.dirname, "../../../src/think-members.ts"), "utf8");
const LIMITS = ["modelPatienceMs", "chatStreamFirstChunkTimeoutMs", "chatStreamStallTimeoutMs"];

describe("the documentation of options", () => {
  it.each(LIMITS)("has the default of the property %s", (name) => {
    const [, value = "none"] = new RegExp(`^  ${name} = ([\\d_]+);$`, "m").exec(THINK) ?? [];
    expect(think.get(name)?.[0]).toBe(`\`${value.replaceAll("_", "")}\``);
  });

  it.each(Object.keys(TEXTS) as SafeText[])("has the default of the text %s", (name) => {
    expect(delivery.get(name)?.[0]).toBe(safeText(undefined, name, undefined, undefined));
  });

  it.each(Object.entries(DELIVERY))("has the default of the option delivery.%s", (name, value) => {
    expect((replies.get(name) ?? delivery.get(name))?.[0]).toBe(value);
  });

  it.each(Object.keys(MESSENGER))("has the option %s of every messenger", (name) => {
    expect(messenger.has(name)).toBe(true);
  });
});
