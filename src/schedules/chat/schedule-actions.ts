import { z } from "zod";
import type { ActionContext } from "../../actions/declare/action-context.ts";
import type { ThinkActions } from "../../actions/declare/action.ts";
import { defineAction } from "../../actions/declare/define-action.ts";
import type { Address } from "../../core/chat/surface.ts";
import { timeInWords } from "../../core/text/time-in-words.ts";
import type { ShownSchedule } from "./chat-cards.ts";
import type { ChatSchedules, ScheduleResult } from "./chat-schedules.ts";
import type { RequestPlace } from "./schedule-rights.ts";

const WHEN =
  'When: "in 30 seconds", "in 20 minutes", "today at 18:00", "tomorrow at 09:00", "on friday at 09:00", "at 2026-12-24T18:00", "every 2 hours", "every day at 09:00", "every weekday at 09:00", "every week on monday,thursday at 09:00", "every month on 1,15 at 09:00", "every month on the last friday at 09:00", or "cron 0 9 * * 1-5". Times are those of the person\'s clock.';
const TIMEZONE =
  'The person\'s IANA time zone, such as "Europe/Berlin". Only if the person has named it or a city, or has sent a location. It is remembered.';

const when = z.string().min(1).max(200).describe(WHEN);
const timezone = z.string().max(64).optional().describe(TIMEZONE);
const id = z.string().min(1).max(20).describe('The id of the schedule, such as "#1".');

export interface ScheduleActionsOptions {
  readonly chat: ChatSchedules;
  /** The chat that the turn answers. */
  readonly address: () => Address | undefined;
  readonly now: () => number;
}

/** Returns the actions with which the model makes and changes schedules for the people in a chat. */
export function scheduleActions({ address, chat, now }: ScheduleActionsOptions): ThinkActions {
  const placeOf = ({ person }: ActionContext): RequestPlace | undefined => {
    const to = address();
    if (person === undefined || to === undefined) return undefined;
    const { fullName, isChat, language, userId } = person;
    return { person: { userId, fullName, isChat, language }, address: to };
  };
  const within = async (
    context: ActionContext,
    body: (place: RequestPlace) => Promise<ScheduleResult>,
  ): Promise<unknown> => {
    const place = placeOf(context);
    if (place === undefined) return { refused: "Only a person in a chat can do this." };
    return resultOf(await body(place), now());
  };
  const make =
    (kind: "digest" | "reminder") =>
    async (
      input: { readonly text: string; readonly when: string; readonly timezone?: string | undefined },
      context: ActionContext,
    ): Promise<unknown> =>
      within(context, (place) =>
        chat.make(
          { kind, text: input.text, when: input.when },
          place,
          input.timezone,
          `schedules:${context.requestId}:${context.toolCallId}`,
        ),
      );
  return {
    remind_me: defineAction({
      description: "Reminds the person of something, once or again and again.",
      inputSchema: z.object({
        text: z.string().min(1).max(2000).describe("What to remind of."),
        when,
        timezone,
      }),
      execute: make("reminder"),
    }),
    schedule_digest: defineAction({
      description:
        "Makes a schedule on which you write something to this chat by yourself: a digest, a summary, a check.",
      inputSchema: z.object({
        text: z.string().min(1).max(2000).describe("The task, as a complete instruction to yourself."),
        when,
        timezone,
      }),
      execute: make("digest"),
    }),
    list_schedules: defineAction({
      description: "Lists the reminders and schedules of this chat.",
      inputSchema: z.object({}),
      execute: () => ({ now: timeInWords(now()), schedules: chat.list().map(factsOf) }),
    }),
    change_schedule: defineAction({
      description: "Changes the time or the text of a schedule.",
      inputSchema: z.object({
        id,
        text: z.string().min(1).max(2000).optional(),
        when: when.optional(),
        timezone,
      }),
      execute: ({ id: of, ...change }, context: ActionContext) =>
        within(context, (place) => chat.change(of, change, place)),
    }),
    pause_schedule: defineAction({
      description: "Pauses a schedule, or continues it.",
      inputSchema: z.object({ id, isPaused: z.boolean().describe("false continues it") }),
      execute: ({ id: of, isPaused }, context: ActionContext) =>
        within(context, (place) => chat.manage(of, isPaused ? "pause" : "resume", place)),
    }),
    cancel_schedule: defineAction({
      description: "Deletes a schedule.",
      inputSchema: z.object({ id }),
      execute: ({ id: of }, context: ActionContext) =>
        within(context, (place) => chat.manage(of, "delete", place)),
    }),
    run_schedule_now: defineAction({
      description: "Runs a schedule now, beside its times.",
      inputSchema: z.object({ id }),
      execute: ({ id: of }, context: ActionContext) =>
        within(context, (place) => chat.manage(of, "run", place)),
    }),
  };
}

function resultOf(result: ScheduleResult, now: number): unknown {
  switch (result.kind) {
    case "done":
      return {
        done: true,
        now: timeInWords(now),
        ...(result.shown !== undefined && {
          schedule: factsOf(result.shown),
          note: result.isNew
            ? "It is confirmed to the person with a card. Do not repeat it."
            : "No card tells the person. Say what has changed.",
        }),
      };
    case "zone-asked":
      return {
        done: false,
        note: "The person was asked for a time zone, with buttons. The schedule is made when one is pressed. If the person names a city or sends a location instead, call this again with its timezone.",
      };
    case "refused":
      return { refused: result.why, now: timeInWords(now) };
  }
}

function factsOf({ isPaused, next, schedule }: ShownSchedule): unknown {
  const { id: of, kind, madeBy, schedule: times, text, timezone: zone } = schedule;
  return {
    id: of,
    kind,
    text,
    schedule: times,
    timezone: zone,
    isPaused,
    madeBy: madeBy.fullName ?? madeBy.userId,
    next: next.map((at) => timeInWords(at, zone)),
  };
}
