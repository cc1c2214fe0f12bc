import { childRows, NO_CHILDREN } from "./oracle/child-watch.ts";
import { codeRows, NO_CODE } from "./oracle/code-watch.ts";
import { extensionRows, NO_EXTENSIONS } from "./oracle/extension-watch.ts";
import type { Happened } from "./oracle/oracle.ts";
import type { SimulationResult } from "./simulate.ts";
import { addTraffic, describeTraffic, noTrafficByKind } from "./plan/traffic.ts";
import type { TrafficByKind, TrafficKind } from "./plan/traffic.ts";

/** Sums over many runs. */
export interface Totals extends Counts {
  readonly traffic: TrafficByKind;
}

interface Counts extends Happened {
  seeds: number;
  failed: number;
  seedsPerSecond: number;
  messages: number;
  replies: number;
  parts: number;
  crashes: number;
  faults: number;
  penaltyBreaches: number;
  marked: number;
  leftovers: number;
  givenUp: number;
  gone: number;
  deleted: number;
  /** Gates that died while a conversation in another object lived, and how many of these died during a turn. */
  gatesDied: number;
  gatesDiedBusy: number;
  /** Conversations that died during a turn while their gate lived in another object. */
  speakersDied: number;
  /** Occurrences of scheduled tasks: all, those that were delivered, and those that came too late. */
  occurrences: number;
  digests: number;
  missed: number;
  /** Replies of people to digests. */
  quotes: number;
  /** Runs in which a conversation follows a person, or the root answers. */
  byPerson: number;
  bySelf: number;
}

export function noFigures(): Totals {
  return { ...noCounts(), traffic: noTrafficByKind() };
}

function noCounts(): Counts {
  return {
    seeds: 0,
    failed: 0,
    seedsPerSecond: 0,
    messages: 0,
    replies: 0,
    parts: 0,
    crashes: 0,
    faults: 0,
    penaltyBreaches: 0,
    marked: 0,
    leftovers: 0,
    givenUp: 0,
    gone: 0,
    drafts: 0,
    appends: 0,
    takeovers: 0,
    held: 0,
    stopped: 0,
    beside: 0,
    deleted: 0,
    presses: 0,
    pressesInPenalty: 0,
    handled: 0,
    stale: 0,
    interrupted: 0,
    typed: 0,
    cards: 0,
    revised: 0,
    removed: 0,
    pictures: 0,
    albums: 0,
    byFileId: 0,
    fileIdsRefused: 0,
    effects: 0,
    steered: 0,
    asked: 0,
    approved: 0,
    refused: 0,
    bystanders: 0,
    late: 0,
    agreed: 0,
    edited: 0,
    granted: 0,
    acted: 0,
    actedAgain: 0,
    questions: 0,
    questionsAnswered: 0,
    questionsDeclined: 0,
    questionsExpired: 0,
    questionBystanders: 0,
    questionsWritten: 0,
    writtenBeside: 0,
    questionHints: 0,
    questionReminders: 0,
    questionRefusals: 0,
    ...NO_CODE,
    ...NO_CHILDREN,
    ...NO_EXTENSIONS,
    questionsElsewhere: 0,
    questionSecrets: 0,
    botAnswers: 0,
    files: 0,
    lostFiles: 0,
    takenBack: 0,
    reruns: 0,
    prompts: 0,
    occurrences: 0,
    digests: 0,
    missed: 0,
    quotes: 0,
    rich: 0,
    richRefused: 0,
    resent: 0,
    found: 0,
    repeated: 0,
    gatesDied: 0,
    gatesDiedBusy: 0,
    speakersDied: 0,
    byPerson: 0,
    bySelf: 0,
  };
}

export function addFigures(totals: Totals, result: SimulationResult): void {
  const { deaths, figures, traffic } = result;
  totals.seeds += 1;
  if (result.violation !== undefined) totals.failed += 1;
  totals.messages += result.written;
  totals.crashes += result.crashes;
  totals.faults += result.faults;
  totals.penaltyBreaches += result.penaltyBreaches;
  const { happened } = result;
  for (const key of Object.keys(happened) as (keyof Happened)[]) totals[key] += happened[key];
  totals.deleted += result.deleted;
  totals.occurrences += result.occurrences;
  totals.digests += result.digests;
  totals.missed += result.missed;
  totals.quotes += result.quotes;
  totals.gatesDied += deaths.gates;
  totals.gatesDiedBusy += deaths.gatesBusy;
  totals.speakersDied += deaths.speakers;
  if (traffic?.kind === "person") totals.byPerson += 1;
  if (traffic?.kind === "self") totals.bySelf += 1;
  if (traffic !== undefined) addTraffic(totals.traffic[traffic.kind], traffic.counted);
  if (figures === undefined) return;
  totals.replies += figures.delivered;
  totals.parts += figures.parts;
  totals.marked += figures.marked;
  totals.leftovers += figures.leftovers;
  totals.givenUp += figures.failed;
  totals.gone += figures.gone;
}

/** Adds the sums of other runs. */
export function addTotals(totals: Totals, more: Totals): void {
  for (const key of Object.keys(noCounts()) as (keyof Counts)[]) totals[key] += more[key];
  for (const kind of Object.keys(totals.traffic) as TrafficKind[]) {
    addTraffic(totals.traffic[kind], more.traffic[kind]);
  }
}

export function describeTotals(totals: Totals): string {
  const rows: readonly (readonly [string, number])[] = [
    ["seeds", totals.seeds],
    ["seeds a second", totals.seedsPerSecond],
    ["seeds that broke an invariant", totals.failed],
    ["messages written", totals.messages],
    ["replies delivered", totals.replies],
    ["messages of these", totals.parts],
    ["crashes", totals.crashes],
    ["faults of calls", totals.faults],
    ["calls that met a penalty", totals.penaltyBreaches],
    ["messages marked as sent again", totals.marked],
    ["drafts left beside them", totals.leftovers],
    ["replies given up by policy", totals.givenUp],
    ["replies to a person who had gone", totals.gone],
    ["drafts shown", totals.drafts],
    ["additions to streamed messages", totals.appends],
    ["lost posts found by key or list", totals.found],
    ["posts repeated with their key", totals.repeated],
    ["takeovers of visible messages", totals.takeovers],
    ["visible answers that were cut short", totals.held],
    ["replies stopped in the middle", totals.stopped],
    ["notices beside a streaming reply", totals.beside],
    ["messages deleted by a person", totals.deleted],
    ["presses of buttons answered", totals.presses],
    ["of these in a penalty", totals.pressesInPenalty],
    ["cards", totals.cards],
    ["revisions of cards", totals.revised],
    ["cards taken away", totals.removed],
    ["calls with a card's picture", totals.pictures],
    ["files, albums and places", totals.albums],
    ["messages with files by their id", totals.byFileId],
    ["of these refused", totals.fileIdsRefused],
    ["presses of cards handled", totals.handled],
    ["presses of buttons that were gone", totals.stale],
    ["presses whose process died", totals.interrupted],
    ["numbers taken as options of cards", totals.typed],
    ["calls with blocks", totals.rich],
    ["blocks that were refused", totals.richRefused],
    ["posts repeated without a mark", totals.resent],
    ["tools with an effect", totals.effects],
    ["turns that made way (steer)", totals.steered],
    ["actions about which people decide", totals.asked],
    ["presses that said yes", totals.approved],
    ["presses that decided otherwise", totals.refused],
    ["presses of bystanders", totals.bystanders],
    ["presses that were late", totals.late],
    ["presses that counted while others were missing", totals.agreed],
    ["inputs that people changed", totals.edited],
    ["actions that ran by an earlier consent", totals.granted],
    ["actions that ran", totals.acted],
    ["runs of actions after a crash", totals.actedAgain],
    ["questions from inside actions", totals.questions],
    ["questions with an answer", totals.questionsAnswered],
    ["questions that somebody did not want to answer", totals.questionsDeclined],
    ["questions without an answer in time", totals.questionsExpired],
    ["presses of people who were not asked", totals.questionBystanders],
    ["messages that answered a question", totals.questionsWritten],
    ["messages that answered none", totals.writtenBeside],
    ["people told that a question stays open", totals.questionHints],
    ["people reminded of a question", totals.questionReminders],
    ["answers that a schema refused", totals.questionRefusals],
    ...codeRows(totals),
    ...childRows(totals),
    ...extensionRows(totals),
    ["questions that were asked in other chats", totals.questionsElsewhere],
    ["secrets that reached an action", totals.questionSecrets],
    ["answers to the bot's own code", totals.botAnswers],
    ["answers restarted after an edit", totals.reruns],
    ["prompts of the bot's own code", totals.prompts],
    ["occurrences of scheduled tasks", totals.occurrences],
    ["of these delivered", totals.digests],
    ["of these missed", totals.missed],
    ["messages taken back in time", totals.takenBack],
    ["files loaded", totals.files],
    ["files that could not be loaded", totals.lostFiles],
    ["conversations that follow a person", totals.byPerson],
    ["conversations of the root itself", totals.bySelf],
    ["gates that died", totals.gatesDied],
    ["of these while a turn was running", totals.gatesDiedBusy],
    ["turns cut while their gate lived", totals.speakersDied],
  ];
  const lines = rows.map(([name, value]) => `${name.padEnd(34)} ${value}`);
  return [...lines, "", describeTraffic(totals.traffic)].join("\n");
}
