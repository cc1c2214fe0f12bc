import { healthParts } from "./health-page.ts";
import { logEventParts, loggedEvents } from "./log-pages.ts";
import { OPTION_PAGES, optionParts, optionTable } from "./option-pages.ts";
import { readErrorCodes } from "./read-error-codes.ts";
import type { ThrownError } from "./read-error-codes.ts";
import { openSources } from "./read-source.ts";
import type { Member, Sources } from "./read-source.ts";
import { code, defaultText, paragraph, table } from "./markdown.ts";

export interface ReferenceOptions {
  /** The project's folder. */
  readonly root: string;
  /** All source files of the product, from the root. */
  readonly files: readonly string[];
}

/** Returns the pages of `docs/reference/` that are made from the product's types, by file name. */
export function referencePages({ root, files }: ReferenceOptions): ReadonlyMap<string, string> {
  const sources = openSources(root, files);
  try {
    return new Map([
      ["think.md", thinkPage(sources)],
      ["messenger-options.md", messengerPage(sources)],
      ["delivery.md", deliveryPage(sources)],
      ["environment.md", environmentPage(sources)],
      ["error-codes.md", errorPage(sources)],
      ["health.md", page("Health", ...healthParts(sources))],
      ["log-events.md", page("Events of the log", ...logEventParts(loggedEvents(root)))],
      ...Object.entries(OPTION_PAGES).map(
        ([name, about]) => [name, page(about.title, ...optionParts(sources, about))] as const,
      ),
    ]);
  } finally {
    sources.close();
  }
}

const NOTICE = "<!-- Made by `npm run reference` from the types. Change the comments there. -->";

function page(title: string, ...parts: readonly string[]): string {
  return `# ${title}\n\n${NOTICE}\n\n${parts.join("\n\n")}\n`;
}

const MEMBERS = "src/think-members.ts";
/** What belongs together in a bot's class: the name, the file and the class of each part. */
const PARTS = [
  ["approvals", "src/approvals/bot-approvals.ts", "BotApprovals"],
  ["schedules", "src/schedules/bot-schedules.ts", "BotSchedules"],
  ["broadcasts", "src/broadcasts/bot-broadcasts.ts", "BotBroadcasts"],
  ["deliveries", "src/messengers/thread/bot-deliveries.ts", "BotDeliveries"],
] as const;
const isHook = ({ name }: Member): boolean => /^(?:before|after|on)[A-Z]/.test(name);

function thinkPage(sources: Sources): string {
  const members = sources.members(MEMBERS, "ThinkMembers");
  const settings = members.filter(({ initial }) => initial !== undefined);
  const methods = members.filter((member) => member.initial === undefined && !isHook(member));
  const calls = [
    ...sources.members("src/think.ts", "Think"),
    ...sources.members("src/think-agents.ts", "ThinkAgents"),
  ].filter(
    (member) => !isHook(member) && member.text !== "" && PARTS.every(([name]) => name !== member.name),
  );
  return page(
    "Think",
    "The class that a bot extends. It inherits from `Agent` of the `agents` package: `this.env`, `this.name`, `this.sql`,",
    "`this.state` and `this.setState` are its ([memory and state](../learn/memory-and-state.md)).",
    "## Settings",
    "Properties of the class. Override them with another value.",
    table(
      ["Property", "Default", "Meaning"],
      settings.map((member) => [code(member.name), code(valueOf(member)), paragraph(member)]),
    ),
    "## Methods that you override",
    ...methods.map(section),
    "## Hooks",
    "All hooks are optional. [Hooks](../hooks.md) and [Telegram](../guides/telegram.md) show them in use.",
    ...members.filter(isHook).map(section),
    "## Methods that you call",
    ...calls.map(section),
    ...PARTS.flatMap(([name, file, of]) => [
      `## \`this.${name}\``,
      sources.comment(file, of).text,
      ...sources.members(file, of).map((member) => section({ ...member, name: `${name}.${member.name}` })),
    ]),
  )
    .replace("are its\n\n", "are its\n")
    .replace("`this.sql`,\n\n", "`this.sql`,\n");
}

function section(member: Member): string {
  const facts = [
    member.fallback === undefined ? "" : `Default: ${member.fallback}.`,
    ...member.throws.map((thrown) => `Throws ${thrown.replace(/^\{(\w+)\}/, "`$1`")}.`),
  ].filter(Boolean);
  return [`### ${member.name}`, `\`\`\`ts no-check\n${member.signature}\n\`\`\``, member.text, ...facts]
    .filter(Boolean)
    .join("\n\n");
}

/** The value of a property, calculated where it is a product of numbers. */
function valueOf({ initial = "" }: Member): string {
  const factors = initial.replaceAll("_", "").split(" * ");
  if (!factors.every((factor) => /^\d+$/.test(factor))) return initial;
  return String(factors.map(Number).reduce((product, factor) => product * factor, 1));
}

function messengerPage(sources: Sources): string {
  const core = "src/core/chat/messenger.ts";
  return page(
    "Options of messengers",
    "## Every messenger",
    "Options of `telegramMessenger`, `telegramFromEnv` and `chatSdkMessenger`. An unknown name is an error: `/health` names it.",
    optionTable(sources.members(core, "MessengerOptions")),
    "`delivery` has [a page of its own](delivery.md).",
    "## `limits`",
    sources.comment(core, "MessengerLimits").text,
    optionTable(sources.members(core, "MessengerLimits")),
    "## `conversation`",
    sources.comment(core, "MessengerConversation").text,
    "## Telegram",
    sources.comment("providers/telegram/options.ts", "TelegramMessengerOptions").text,
    optionTable(sources.members("providers/telegram/options.ts", "TelegramMessengerOptions")),
  );
}

function deliveryPage(sources: Sources): string {
  const texts = sources.texts("src/core/text/english-texts.ts", "ENGLISH_TEXTS");
  const file = "src/core/chat/delivery.ts";
  const members = [...sources.members(file, "ReplyPolicy"), ...sources.members(file, "DeliveryPolicy")];
  const written = members.filter(({ name }) => texts.has(name));
  return page(
    "Delivery",
    "Options of a messenger's `delivery`. [How replies look](../replies.md) and [Telegram](../guides/telegram.md) show them in use.",
    "## How a reply appears",
    optionTable(members.filter(({ name }) => !texts.has(name))),
    "## `mode`",
    sources.comment("src/core/chat/delivery-mode.ts", "DeliveryMode").text,
    "## Texts that no model writes",
    "Each is a text, or a function of `{ locale, event }` ([another language](../guides/languages.md)). An empty text shows nothing.",
    table(
      ["Text", "Default", "When it is shown"],
      written.map((member) => [code(member.name), texts.get(member.name) ?? "", paragraph(member)]),
    ),
  );
}

function environmentPage(sources: Sources): string {
  const rows = (file: string, name: string): string =>
    table(
      ["Variable", "Default", "Meaning"],
      sources
        .members(file, name)
        .map((member) => [
          code(member.name),
          member.isOptional ? defaultText(member.fallback) : "required",
          paragraph(member),
        ]),
    );
  return page(
    "Environment of a bot",
    "The type `BotEnvironment`. [Configuration](../configuration.md) has examples, and the variables of the process that serves the bot.",
    "## Telegram",
    rows("providers/telegram/telegram-from-env.ts", "TelegramEnvironment"),
    "## Model",
    rows("src/models/model-from-env.ts", "ModelEnvironment"),
    "## Voice messages",
    "Read by `transcriberFromEnv`. Extend `BotEnvironment` with `TranscriptionEnvironment`.",
    rows("src/models/transcriber-from-env.ts", "TranscriptionEnvironment"),
  );
}

function errorPage(sources: Sources): string {
  const byCode = new Map<string, ThrownError>();
  for (const thrown of sources.files().flatMap(readErrorCodes)) {
    const known = byCode.get(thrown.code);
    if (known?.message === undefined) byCode.set(thrown.code, thrown);
  }
  const rows = [...byCode.values()]
    .toSorted((left, right) => (left.code < right.code ? -1 : 1))
    .map((thrown) => [code(thrown.code), code(thrown.errorClass), thrown.message ?? ""]);
  return page(
    "Error codes",
    "Errors have a `code` that does not change. Over RPC the class of an error is lost, so compare the code:",
    '```ts\nimport { errorCode, type SwitchboardError } from "switchboard";\n\nexport function isGone(error: SwitchboardError): boolean {\n  return errorCode(error) === "chat-gone";\n}\n```',
    "`…` stands for a value. Codes of failed calls to Telegram are in [Telegram](telegram.md#what-a-failed-call-means).",
    table(["Code", "Class", "Message"], rows),
    "## Failed model calls",
    sources.comment("src/models/model-call-error.ts", "ModelCallErrorCode").text,
    "## Targets of `say`",
    sources.comment("src/core/chat/chat-target.ts", "TargetProblem").text,
  );
}
