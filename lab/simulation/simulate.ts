import type { Violation } from "./oracle/contract.ts";
import type { Deaths } from "./world/count-deaths.ts";
import { checkEnd } from "./oracle/final-checks.ts";
import type { EndFigures } from "./oracle/end-state.ts";
import type { Mutant } from "./machine/mutant.ts";
import type { Happened } from "./oracle/oracle.ts";
import { People } from "./world/people.ts";
import { createPlan } from "./plan/create-plan.ts";
import type { Plan } from "./plan/plan.ts";
import type { Traffic, TrafficKind } from "./plan/traffic.ts";
import { World } from "./world/world.ts";

export interface SimulationOptions {
  readonly plan: Plan;
  readonly mutant?: Mutant | undefined;
  readonly isTraced?: boolean;
}

export interface SimulationResult {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly trace: readonly string[];
  readonly figures: EndFigures | undefined;
  readonly crashes: number;
  readonly boundaries: number;
  readonly faults: number;
  readonly penaltyBreaches: number;
  readonly written: number;
  readonly happened: Happened;
  readonly deaths: Deaths;
  /** Calls between objects, for conversations whose gate is in another object. */
  readonly traffic: { readonly kind: TrafficKind; readonly counted: Traffic } | undefined;
  /** Messages of the bot that people deleted. */
  readonly deleted: number;
  /** Occurrences of scheduled tasks: all, those that were delivered, and those that came too late. */
  readonly occurrences: number;
  readonly digests: number;
  readonly missed: number;
  /** Replies of people to digests. */
  readonly quotes: number;
}

/** Everything must be over long before this, in virtual time. */
const LIMIT_MS = 6 * 60 * 60 * 1_000;
/** Other agents ask for a week. */
const WITH_CHILDREN_MS = 8 * 24 * 60 * 60 * 1_000;

/** Runs one plan until nothing is left to do. The same plan gives the same run, in every process. */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const world = new World(options);
  const { oracle, scheduler, trace, plan } = world;
  const people = new People(world, options.mutant);
  let figures: EndFigures | undefined;
  try {
    people.start();
    world.schedules?.wake();
    const isOver = (): boolean => oracle.violation !== undefined;
    const limitMs = plan.items.some(({ kind }) => kind === "child") ? WITH_CHILDREN_MS : LIMIT_MS;
    let end = await scheduler.run(limitMs, isOver);
    if (end === "empty") {
      // After another start the machine must have nothing to do.
      const calls = world.faults.calls;
      world.crash("machine", undefined, 100);
      trace.add("end", () => "all is quiet; the machine starts once more");
      scheduler.after(5_000, () => {
        for (const thread of world.threads.values()) void thread.receive([]).catch(() => undefined);
      });
      end = await scheduler.run(2 * limitMs, isOver);
      if (world.faults.calls > calls) oracle.fail("I5", "a restart after the end sends something");
    }
    if (end === "timeout") oracle.fail("I5", "it never gets quiet");
    if (oracle.extensions.isPlanned)
      for (const name of new Set(plan.objects)) await world.threads.get(name)?.showEffects();
    if (oracle.violation === undefined) {
      figures = checkEnd({
        oracle,
        plan,
        platform: world.platform,
        written: people.written,
        childTurns: [...world.threads.values()].flatMap((thread) => thread.childTurns()),
        counted: world.root.countedTurns(),
        ...(world.schedules !== undefined && {
          schedules: {
            plans: plan.items.filter((item) => item.kind === "schedule"),
            occurrences: world.schedules.list(),
            watch: world.scheduleWatch,
          },
        }),
        threads: plan.places.map((place) => {
          const thread = world.thread(place);
          return {
            threadId: place.threadId,
            conversation: thread.name,
            siblings: thread.places.map(({ threadId }) => threadId),
            delivery: thread.delivery(),
            operations: thread.operations,
            hasActed: (turnId) => thread.hasActed(turnId),
            codeRuns: () => thread.codeRuns(),
            agentRuns: () => thread.agentRuns(),
            tables: () => thread.tables(),
            outcomeOf: (token) => people.outcomeOf(token),
            wasBlocked: people.blockedChats.has(place.chatId),
            isBack: people.backIn.has(place.threadId),
            lostFormatting: world.faults.met.has("bad-entities"),
          };
        }),
      });
    }
    const occurrences = world.schedules?.list() ?? [];
    return {
      seed: plan.seed,
      violation: oracle.violation,
      trace: trace.lines,
      figures,
      crashes: world.crashes,
      boundaries: world.boundaries,
      faults: [...world.faults.met.values()].reduce((sum, count) => sum + count, 0),
      penaltyBreaches: world.platform.penaltyBreaches,
      written: people.written.filter(({ name }) => name !== "stop-button").length,
      happened: oracle.happened,
      deaths: world.deaths,
      traffic: trafficOf(world),
      occurrences: occurrences.length,
      digests: occurrences.filter(({ state }) => state === "delivered").length,
      missed: occurrences.filter(({ code }) => code === "missed" || code === "too-late").length,
      quotes: world.scheduleWatch.quotes.length,
      deleted: world.platform.messages.filter(({ deletedBy }) => deletedBy === "person").length,
    };
  } finally {
    world.close();
  }
}

function trafficOf({ oracle, plan: { places, routing } }: World): SimulationResult["traffic"] {
  const counted = oracle.traffic.traffic;
  if (routing !== "thread") return { kind: routing, counted };
  return places.some(({ topicId }) => topicId !== undefined) ? { kind: "forum", counted } : undefined;
}

export function simulateSeed(seed: number, mutant?: Mutant, isTraced = false): Promise<SimulationResult> {
  return simulate({ plan: createPlan(seed), mutant, isTraced });
}
