import {
  FLAG,
  FUNCTION,
  isFunction,
  isObject,
  isText,
  listOf,
  oneOf,
  optionProblem,
  POSITIVE,
  TEXT,
  whole,
} from "../../core/json/check-options.ts";
import type { OptionRules, OptionRule } from "../../core/json/check-options.ts";
import type { Address } from "../../core/chat/surface.ts";
import { closestName } from "../../core/text/closest-name.ts";
import { ConfigurationError } from "../../core/base/errors.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import { parseSchedule, type ParsedSchedule } from "./parse-schedule.ts";
import type { Rule, ScheduleKind } from "./rule.ts";
import type { HandlerTask, Lateness, PromptTask, ThinkScheduledTasks } from "./scheduled-task.ts";
import { parseQuietHours, type CheckedQuietHours } from "../../scheduled-runs/quiet-hours.ts";
import { momentOf, parseIsoTime } from "../../core/time/time-zone.ts";

/** A scheduled task with every default filled in. */
export interface CheckedTask {
  readonly id: string;
  readonly schedule: string;
  readonly kind: ScheduleKind;
  readonly rule: Rule;
  readonly zone: string | undefined;
  readonly scope: "root" | "conversation";
  readonly work: Work;
  readonly metadata: PromptTask["metadata"];
  readonly maxAttempts: number;
  readonly ifLate: Lateness;
  readonly jitterMs: number;
  /** Epoch milliseconds. */
  readonly until: number | undefined;
  readonly count: number | undefined;
  readonly owner: PromptTask["owner"];
  /** Whether questions of its actions go to the owner. */
  readonly asksOwner?: boolean;
  /** People who may press the buttons of the owner's card in a group. */
  readonly managers?: readonly string[] | undefined;
  /** The person who made it in a chat. Undefined for declared tasks. */
  readonly requester?: MessengerAuthor | undefined;
}

export type Work =
  /** A card with this text. */
  | { readonly kind: "reminder"; readonly text: string; readonly address: Address }
  | { readonly kind: "handler"; readonly handler: HandlerTask["handler"] }
  | {
      readonly kind: "prompt";
      readonly prompt: string;
      readonly deliverTo: PromptTask["deliverTo"];
      readonly fanOut: "once" | "each";
      readonly source: PromptTask["source"];
      /** @default none */
      readonly quietHours?: CheckedQuietHours | undefined;
      /** Most tokens of all its turns in 24 hours. @default no limit */
      readonly mostTokensPerDay?: number | undefined;
      /** Most money of all its turns in 24 hours. @default no limit */
      readonly mostCostPerDay?: number | undefined;
    };

const SUBSCRIBERS = "subscribers";
const HOUR_MS = 3_600_000;
const ANY_LATENESS: Lateness = { runWithinMs: 0, otherwise: "run" };
const MOST_PROMPT_CHARACTERS = 20_000;

const isTarget = (value: unknown): boolean => (isText(value) && value !== "") || isObject(value);
const isPlain = (value: unknown): boolean =>
  value === null || ["string", "number", "boolean"].includes(typeof value);
const TARGET: OptionRule = ["a chat: the name of a conversation, or an object as for say()", isTarget];
const TASK: OptionRules<PromptTask & HandlerTask> = {
  schedule: TEXT,
  timezone: TEXT,
  scope: oneOf("root", "conversation"),
  prompt: [
    `a text of 1 to ${MOST_PROMPT_CHARACTERS} characters`,
    (value) => isText(value) && value.trim() !== "" && value.trim().length <= MOST_PROMPT_CHARACTERS,
  ],
  handler: FUNCTION,
  metadata: [
    "an object of texts, numbers, true, false and null",
    (value) => isObject(value) && Object.values(value).every(isPlain),
  ],
  retry: { maxAttempts: whole(1, 20) },
  ifLate: [
    "{ runWithinMs, otherwise }",
    (value) => isObject(value) && "runWithinMs" in value && "otherwise" in value,
    { runWithinMs: whole(0), otherwise: oneOf("skip", "run") },
  ],
  jitterMs: whole(0, HOUR_MS),
  until: TEXT,
  count: whole(1),
  owner: TARGET,
  asksOwner: FLAG,
  managers: listOf("a list of user ids", (one) => isText(one) || typeof one === "number"),
  deliverTo: [
    "a chat, a list of chats, or a function",
    (value) =>
      isTarget(value) ||
      isFunction(value) ||
      (Array.isArray(value) && value.length > 0 && value.every(isTarget)),
  ],
  fanOut: oneOf("once", "each"),
  source: FUNCTION,
  mostTokensPerDay: whole(1),
  mostCostPerDay: POSITIVE,
  quietHours: [
    "{ from, to }",
    (value) => isObject(value) && "from" in value && "to" in value,
    { from: TEXT, to: TEXT, timezone: TEXT },
  ],
};

/**
 * Checks the tasks of a bot.
 *
 * @throws {ConfigurationError} `scheduled-task-invalid`, which names the task and the fix. Nothing is stored then.
 */
export function checkTasks(tasks: ThinkScheduledTasks, defaultZone: string | undefined): CheckedTask[] {
  if (!isObject(tasks))
    throw new ConfigurationError(
      "scheduled-task-invalid",
      "getScheduledTasks() must return an object with a task for each id.",
    );
  return Object.entries(tasks).map(([id, task]) => checkTask(id, task, defaultZone));
}

function checkTask(
  id: string,
  task: ThinkScheduledTasks[string],
  defaultZone: string | undefined,
): CheckedTask {
  if (!/^[\w-]{1,64}$/.test(id))
    throw invalid(id.slice(0, 64), 'Its id must have 1 to 64 letters, digits, "_" and "-".');
  const problem = optionProblem(task, TASK, {});
  if (problem !== undefined) throw invalid(id, problem);
  if (task.schedule === undefined)
    throw invalid(id, '"schedule" is missing. Set it, as in "every day at 09:00".');
  const {
    count,
    ifLate,
    jitterMs,
    managers,
    metadata,
    retry,
    schedule,
    scope = "root",
    timezone,
    until,
  } = task;
  const when = parseSchedule(schedule, timezone ?? defaultZone);
  if ("problem" in when) throw invalid(id, when.problem);
  const quietHours = "quietHours" in task ? task.quietHours : undefined;
  const isZoneUsed = when.zone === undefined && isObject(quietHours) && !("timezone" in quietHours);
  const mistake = scheduleMistake(schedule, when, isZoneUsed ? undefined : timezone);
  if (mistake !== undefined) throw invalid(id, mistake);
  if (managers !== undefined && task.owner === undefined && scope === "root")
    throw invalid(id, '"managers" press the buttons of the card in the owner\'s chat: add "owner".');
  const { asksOwner = false } = task;
  if (asksOwner && !(isObject(task.owner) && "userId" in task.owner))
    throw invalid(id, '"asksOwner" needs a person: set "owner" to { messenger, userId }.');
  const work = workOf(id, task, when.zone ?? timezone ?? defaultZone);
  const untilMs = until === undefined ? undefined : endOf(id, until, when.zone ?? defaultZone);
  return {
    id,
    schedule,
    ...when,
    scope,
    work,
    metadata,
    maxAttempts: retry?.maxAttempts ?? 1,
    ifLate: ifLate ?? ANY_LATENESS,
    jitterMs: jitterMs ?? 0,
    until: untilMs,
    count,
    owner: task.owner,
    asksOwner,
    managers: managers?.map(String),
  };
}

function workOf(id: string, task: ThinkScheduledTasks[string], zone: string | undefined): Work {
  const { handler, prompt } = task;
  if ((prompt === undefined) === (handler === undefined)) {
    const has = prompt === undefined ? "neither" : "both";
    throw invalid(id, `It needs exactly one of "prompt" and "handler", and has ${has}.`);
  }
  if (handler !== undefined) {
    for (const name of [
      "deliverTo",
      "fanOut",
      "source",
      "quietHours",
      "mostTokensPerDay",
      "mostCostPerDay",
    ] as const)
      if (name in task)
        throw invalid(
          id,
          `"${name}" is for a "prompt". A handler sends what it wants with say(): remove "${name}".`,
        );
    return { kind: "handler", handler };
  }
  const { deliverTo, fanOut = "once", mostCostPerDay, mostTokensPerDay, quietHours, source } = task;
  if (fanOut === "each" && deliverTo === undefined)
    throw invalid(id, '"fanOut: each" runs in the conversations of its targets: add "deliverTo".');
  if (task.scope === "conversation" && (typeof deliverTo === "function" || deliverTo === "subscribers"))
    throw invalid(id, 'Only the root knows all chats: a task of "scope: conversation" names its targets.');
  if (typeof deliverTo === "string" && deliverTo !== SUBSCRIBERS && closestName(deliverTo, [SUBSCRIBERS]))
    throw invalid(
      id,
      `"deliverTo: ${deliverTo}" is the name of a conversation. Did you mean "${SUBSCRIBERS}"? If not, write { conversation }.`,
    );
  const quiet = quietHours === undefined ? undefined : quietHoursOf(id, quietHours, zone);
  return {
    kind: "prompt",
    prompt: task.prompt,
    deliverTo,
    fanOut,
    source,
    quietHours: quiet,
    mostTokensPerDay,
    mostCostPerDay,
  };
}

function quietHoursOf(
  id: string,
  hours: NonNullable<PromptTask["quietHours"]>,
  otherZone: string | undefined,
): CheckedQuietHours {
  const checked = parseQuietHours(hours, otherZone);
  if ("problem" in checked) throw invalid(id, checked.problem);
  return checked;
}

function endOf(id: string, until: string, zone: string | undefined): number {
  const time = parseIsoTime(until);
  if (time === undefined)
    throw invalid(id, `"until" must be an ISO time such as "2026-12-24T18:00", not "${until}".`);
  if ("moment" in time) return time.moment;
  if (zone === undefined)
    throw invalid(id, `"until" has no offset and the task has no time zone. Write it as in "${until}Z".`);
  return momentOf(time.civil, zone);
}

function invalid(id: string, problem: string): ConfigurationError {
  return new ConfigurationError(
    "scheduled-task-invalid",
    `The scheduled task "${id}" cannot run. ${problem}`,
  );
}

/**
 * Returns what is wrong about a declared schedule that can be read all the same, with the fix. People's own schedules are
 * not held to it.
 *
 * @param timezone the zone of the task, if nothing but its schedule uses it
 */
function scheduleMistake(
  schedule: string,
  when: Exclude<ParsedSchedule, { readonly problem: string }>,
  timezone: string | undefined,
): string | undefined {
  const [, count = "", unit = "", plural = ""] =
    /^every (\d+) (minute|hour)(s?)$/i.exec(schedule.trim()) ?? [];
  if (unit !== "" && (Number(count) === 1) !== (plural === ""))
    return `"${schedule}" is misspelt. Write "every ${count} ${unit}${plural === "" ? "s" : ""}".`;
  const [, list = ""] = /^every (?:week|month) on ([^ ].*?) at /i.exec(schedule.trim()) ?? [];
  const days = list.split(",").map((day) => day.trim().toLowerCase().replace(WEEKDAY_END, ""));
  const twice = days.find((day, index) => days.indexOf(day) !== index);
  if (twice !== undefined) return `"${schedule}" names a day twice: "${twice}". Name it once.`;
  if (timezone === undefined || when.zone === timezone) return undefined;
  return when.zone === undefined
    ? `"${schedule}" is the same everywhere, so the task takes no time zone. Remove "timezone".`
    : `"${schedule}" names the zone "${when.zone}", and the task's timezone is "${timezone}". Remove one of them.`;
}

/** The end of a weekday's long name: a day may be named in both ways. */
const WEEKDAY_END = /(?<=^(?:mon|tue|wed|thu|fri|sat|sun))[a-z]*day$/;
