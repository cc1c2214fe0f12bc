import type { SimChat, Simulator, VisibleMessage } from "../../playground/telegram/simulator.ts";
import { callTool, say } from "../support/model-script.ts";
import type { ModelRequest } from "../support/model-request.ts";
import type { ModelStep } from "../support/model-script.ts";
import { lastUserText } from "../support/scripted-model.ts";
import type { Effects } from "./effects.ts";

/** A person for whom the model writes code, one of whose calls needs consent. */
export interface Coder {
  readonly name: string;
  readonly chat: SimChat;
  readonly userId: number;
  /** Another member of the group, who has no say. */
  readonly bystanderId: number | undefined;
  /** Written before each message, in groups. */
  readonly mention: string;
  readonly jobs: Job[];
}

/** One run of code that a person has asked for. */
export interface Job {
  /** Unique in the campaign. */
  readonly cue: string;
  readonly presses: { readonly label: string; readonly userId: number; readonly queryId: string }[];
}

const CUE = /\bcode\d+[A-Z]\w*z\b/;
/** The places of the calls in each code. The middle one needs consent. */
export const CALLS = [0, 1, 2];

export function createCoders(simulator: Simulator): readonly Coder[] {
  const [cora, carl, cleo] = ["Cora", "Carl", "Clea"].map((name) => simulator.addUser({ first_name: name }));
  if (cora === undefined || carl === undefined || cleo === undefined) throw new Error("Nobody has code.");
  const group = simulator.addGroup({ title: "Group of code", type: "group", members: [carl, cleo] });
  const mention = `@${simulator.bot.username ?? ""} `;
  return [
    {
      name: "Cora",
      chat: simulator.privateChat(cora),
      userId: cora.id,
      bystanderId: undefined,
      mention: "",
      jobs: [],
    },
    { name: "Carl", chat: group, userId: carl.id, bystanderId: cleo.id, mention, jobs: [] },
  ];
}

/** Asks for a run of code. */
export function askToRun(simulator: Simulator, { chat, jobs, mention, name, userId }: Coder): Job {
  const job: Job = { cue: `code${jobs.length}${name}z`, presses: [] };
  jobs.push(job);
  simulator.sendText(chat, userId, `${mention}${job.cue}`);
  return job;
}

export function effectOf({ cue }: Pick<Job, "cue">, place: number): string {
  return `${cue}.${place}`;
}

/** Returns the model's answer about code. Undefined if a request is about something else. */
export function codingAnswer(request: ModelRequest, effects: Effects): readonly ModelStep[] | undefined {
  const [cue] = CUE.exec(lastUserText(request)) ?? [];
  if (cue === undefined) return undefined;
  if (lastUserText(request).includes("Outcome of an action")) return [say(`told ${cue}, whole.`)];
  if (request.messages.at(-1)?.role === "tool") return [say("It has begun.")];
  const calls = CALLS.map((place) => {
    const input = JSON.stringify({
      name: effectOf({ cue }, place),
      url: effects.urlOf(effectOf({ cue }, place)),
    });
    return `await actions.${place === 1 ? "pay" : "note"}(${input});`;
  });
  return [callTool("codemode", { code: `async () => { ${calls.join(" ")} return { ended: "${cue}" }; }` })];
}

/** Presses a button of the newest card of a job. Returns `false` if no card has it. */
export function pressAbout(
  simulator: Simulator,
  { chat }: Coder,
  job: Job,
  { label, userId }: { readonly label: string; readonly userId: number },
): boolean {
  const card = messagesOf(simulator, chat).findLast(
    ({ buttons, text }) => text.includes(`${job.cue}.`) && buttons.flat().some((one) => one.text === label),
  );
  if (card === undefined) return false;
  const { id: queryId } = simulator.pressButton(chat, userId, card.id, label);
  job.presses.push({ label, userId, queryId });
  return true;
}

/** The messages that tell the end of a job. */
export function endsOf(simulator: Simulator, { chat }: Coder, { cue }: Job): VisibleMessage[] {
  return messagesOf(simulator, chat).filter(({ text }) => text.includes(`told ${cue}, whole.`));
}

function messagesOf(simulator: Simulator, chat: SimChat): VisibleMessage[] {
  return simulator.messages(chat).filter(({ from }) => from.isBot);
}
