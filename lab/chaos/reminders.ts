import type { SimChat, Simulator } from "../../playground/telegram/simulator.ts";
import { callTool, say } from "../support/model-script.ts";
import type { ModelStep } from "../support/model-script.ts";
import type { ModelRequest } from "../support/model-request.ts";
import { lastUserText } from "../support/scripted-model.ts";

/** A person who asks for reminders and gets a digest every minute. */
export interface Reminded {
  readonly name: string;
  readonly chat: SimChat;
  readonly userId: number;
  /** Words of the reminders that were asked for. Each names the milliseconds until it is due. */
  readonly cues: string[];
}

const CUE = /\br(\d+)n\d+[A-Z]\w*/g;
/** The first line of a scheduled task's question. */
const DUE = /Scheduled task "minute", due (\w{3} [\d-]+ [\d:]+)/;

/** Number of people who ask for nothing, and only get the digest. */
const READERS = 31;

export function createReminded(simulator: Simulator): readonly Reminded[] {
  return subscribe(simulator, ["Rita", "Sami"]);
}

/** Subscribes so many people that a kill can meet each digest in the middle of its posts. */
export function createReaders(simulator: Simulator): readonly Reminded[] {
  return subscribe(
    simulator,
    Array.from({ length: READERS }, (_, index) => `Reader ${index + 1}`),
  );
}

function subscribe(simulator: Simulator, names: readonly string[]): readonly Reminded[] {
  return names.map((name) => {
    const user = simulator.addUser({ first_name: name });
    const chat = simulator.privateChat(user);
    simulator.sendText(chat, user, "/subscribe");
    return { name, chat, userId: user.id, cues: [] };
  });
}

/** Asks for a reminder that is due after `ms`. */
export function askToRemind(simulator: Simulator, { chat, cues, name, userId }: Reminded, ms: number): void {
  const cue = `r${ms}n${cues.length}${name}`;
  cues.push(cue);
  simulator.sendText(chat, userId, cue);
}

/** Returns the model's answer about reminders and digests. Undefined if a request is about something else. */
export function remindingAnswer(request: ModelRequest, now: number): readonly ModelStep[] | undefined {
  const text = lastUserText(request);
  const [, due] = DUE.exec(text) ?? [];
  if (due !== undefined) return [say(digestOf(due))];
  const cues = [...text.matchAll(CUE)];
  if (cues.length === 0) return undefined;
  if (request.messages.at(-1)?.role === "tool") return [say("Noted.")];
  return cues.map(([cue, ms]) => {
    const when = `at ${new Date(now + Number(ms)).toISOString()}`;
    return callTool("remind_me", { text: cue, when, timezone: "UTC" });
  });
}

/** The whole text of a digest, by the time that its schedule names. */
export function digestOf(due: string): string {
  return `digest of ${due}, whole`;
}
