import { code, table } from "./markdown.ts";
import { readHealth } from "./read-health.ts";
import type { HealthEntry } from "./read-health.ts";
import type { Sources } from "./read-source.ts";

const STORAGE = "src/messengers/root/health/storage-health.ts";
/** The files that build warnings. */
const WARNINGS = ["src/messengers/root/health/health-warnings.ts", "src/schedules/chat/task-warnings.ts"];
/** The files that build problems. */
const PROBLEMS = [
  "src/messengers/root/health/bot-health.ts",
  "src/messengers/root/platform-access.ts",
  STORAGE,
  "src/create-worker.ts",
];

/** Words for a code that is chosen at run time, by the expression that chooses it. */
const CHOSEN: Readonly<Record<string, { readonly codes: string; readonly message?: string }>> = {
  "refusal.code": {
    codes:
      "`token-refused`, `credentials-refused`, `app-refused`, `scope-missing`, `method-missing`, `not-a-bot-api`",
  },
  "error.code": {
    codes: "every [code](error-codes.md) of a `ConfigurationError`",
    message: "A variable or an option is wrong; the message is that of the error.",
  },
  'errorCode(error) ?? "bot-code-failed"': {
    codes: "`bot-code-failed`",
    message:
      "getMessengers() or getModel() of the bot threw. `npx switchboard doctor` checks the variables, and with DEBUG=1 the bot's log has the words of the error.",
  },
  'message === undefined ? "not-stored" : code': {
    codes: "`not-stored`",
    message: "Messages cannot be stored (…); the log says more. They wait at the platform until they can.",
  },
  "failed.code": { codes: "`model-…`" },
};

/** Returns the parts of the page about `/health`. */
export function healthParts(sources: Sources): readonly string[] {
  const problems = [
    ...PROBLEMS.flatMap((file) => readHealth(sources.file(file))),
    ...[...sources.texts(STORAGE, "MESSAGES")].map(([name, message]) => ({
      status: "unavailable",
      code: name.replaceAll('"', ""),
      message,
    })),
  ].filter(({ status }) => status === "misconfigured" || status === "unavailable");
  const warnings = WARNINGS.flatMap((file) => readHealth(sources.file(file)));
  return [
    "`GET /health` and `GET /health/live` answer with JSON, without credentials. [Configuration](../configuration.md#health) says what each is for.",
    table(
      ["Path", "HTTP status", "Answer"],
      [
        ["`/health`", "200", '`{"status":"ok","agent":"MyBot"}`: the bot can answer messages'],
        ["`/health`", "503", '`{"status","agent","problem":{"code","message"}}`: it cannot'],
        ["`/health/live`", "200", '`{"status":"live"}`: requests are served'],
      ],
    ),
    "Both answers of `/health` may have `warnings`: a list of `{code, message}`. `…` stands for a value.",
    "## Problems",
    sources
      .members("src/messengers/root/health/health-problem.ts", "HealthProblem")
      .find(({ name }) => name === "status")?.text ?? "",
    table(
      ["Status", "Code", "Message"],
      problems.map((entry) => [code(entry.status ?? ""), ...words(entry)]),
    ),
    "## Warnings",
    "They never make `/health` fail.",
    table(["Code", "Message"], warnings.map(words)),
  ];
}

/** @throws {Error} for a code that is chosen in a way that this page does not know */
function words({ code: name, message }: HealthEntry): readonly [codes: string, message: string] {
  if (/^[a-z]+(?:-[a-z]+)+$/.test(name)) return [code(name), plain(message)];
  const chosen = CHOSEN[name];
  if (chosen === undefined) throw new Error(`The reference has no words for a code of /health: ${name}.`);
  return [chosen.codes, plain(chosen.message ?? message)];
}

/** Keeps a reader of Markdown from taking `<address>` for a tag. */
function plain(message = ""): string {
  return message.replaceAll("<", "\\<");
}
