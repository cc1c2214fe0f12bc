import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import type { InnerDoor } from "../../../src/core/chat/inner-calls.ts";
import type { ChatTarget, Resolution } from "../../../src/core/chat/chat-target.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { BotCode } from "./bot-code.ts";
import { childFeatures, SimulatedChild } from "./child-bot.ts";
import { codeFeatures } from "./code-bot.ts";
import { extensionFeatures, withExtensions } from "./extension-bot.ts";
import { INTERRUPTED, STALE } from "../oracle/press-watch.ts";
import type { Deps } from "../../../src/core/base/deps.ts";
import type { FetchedFile, IncomingEvent, MessengerDefinition } from "../../../src/core/chat/messenger.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { createLog } from "../../../src/core/base/log.ts";
import type { Log } from "../../../src/core/base/log.ts";
import { countDeaths } from "./count-deaths.ts";
import type { Deaths } from "./count-deaths.ts";
import { CallFaults } from "../platform/call-faults.ts";
import { Life } from "../machine/life.ts";
import type { Mutant } from "../machine/mutant.ts";
import { Oracle } from "../oracle/oracle.ts";
import { Platform } from "../platform/platform.ts";
import { createPlatformSurface } from "./platform-surface.ts";
import type { Place, Plan, Victim } from "../plan/plan.ts";
import { createRandom } from "../../support/random.ts";
import type { Random } from "../../support/random.ts";
import { gateName, objectName, ROOT } from "../plan/route-places.ts";
import { callOver } from "../machine/rpc.ts";
import type { Wire } from "../machine/rpc.ts";
import { ScheduleWatch } from "../oracle/schedule-watch.ts";
import { ScheduleObject, SCHEDULES } from "./schedule-object.ts";
import { createScheduler } from "../machine/scheduler.ts";
import type { Scheduler } from "../machine/scheduler.ts";
import { SimulatedObject } from "./simulated-object.ts";
import { createTrace } from "../machine/trace.ts";
import type { Trace } from "../machine/trace.ts";

/** Names of objects of agents that work for others begin with it. */
const CHILD = "child:";

export const START_AT = Date.UTC(2026, 0, 1);

/** The first bytes of a picture, enough to be recognized as one. */
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export interface WorldOptions {
  readonly plan: Plan;
  readonly mutant?: Mutant | undefined;
  readonly isTraced?: boolean;
}

/** The machine with its objects, the platform, and the faults of both. */
export class World {
  readonly scheduler: Scheduler;
  readonly platform: Platform;
  readonly faults: CallFaults;
  readonly oracle: Oracle;
  readonly bot: BotCode;
  /** Keys of all posts so far. */
  readonly keys = new Set<string>();
  readonly trace: Trace;
  readonly random: Random;
  readonly plan: Plan;
  /** Objects by name. */
  readonly threads: Map<string, SimulatedObject>;
  /** The root's scheduled tasks. Undefined if the plan has none. */
  readonly schedules: ScheduleObject | undefined;
  readonly scheduleWatch = new ScheduleWatch();
  /**
   * Number of boundaries that all processes have passed, that gates of conversations in other objects have passed, that
   * are before or after the effects of actions, and that are before or after changes of what is stored of questions, and
   * of code.
   */
  boundaries = 0;
  gateBoundaries = 0;
  effectBoundaries = 0;
  questionBoundaries = 0;
  codeBoundaries = 0;
  childBoundaries = 0;
  crashes = 0;
  readonly deaths: Deaths = { gates: 0, gatesBusy: 0, speakers: 0 };
  #downUntil = 0;
  #turns = 0;
  #ids = 0;
  readonly #wire: Wire;
  readonly #mutant: Mutant | undefined;
  /** The names of objects, by those that they have among them. */
  readonly #byAddress: ReadonlyMap<string, string>;

  constructor({ plan, mutant, isTraced = false }: WorldOptions) {
    this.plan = plan;
    this.#mutant = mutant;
    this.random = createRandom(`run/${plan.seed}`);
    this.scheduler = createScheduler(this.random.fork("order"), START_AT);
    const now = (): number => this.scheduler.now();
    this.platform = new Platform(plan.platform, now, plan.places, plan.policy.rich, plan.search);
    this.faults = new CallFaults(plan.items, this.random.fork("storms"), START_AT);
    this.oracle = new Oracle({
      now,
      platform: this.platform,
      modes: modesOf(plan),
      plan,
      isQuestionOpen: (question) => this.#hasOpen(question),
    });
    this.bot = new BotCode(plan, this.oracle);
    this.trace = createTrace(isTraced, now, START_AT);
    this.#wire = {
      scheduler: this.scheduler,
      random: this.random.fork("root"),
      isDown: () => this.isDown,
    };
    const gates = plan.places.map(({ chatId }) => gateName(chatId));
    const names = [...new Set([ROOT, ...plan.objects, ...gates])];
    this.threads = new Map(names.map((name) => [name, this.#object(name, mutant)] as const));
    this.#byAddress = new Map(names.map((name) => [objectName(name), name] as const));
    this.schedules = this.#scheduled(mutant);
    this.oracle.children.isOver = ({ operation, threadId }) => {
      const place = plan.places.find((one) => one.threadId === threadId);
      const runs = place === undefined ? [] : this.thread(place).agentRuns();
      return runs.some(({ requestId, state }) => requestId === operation.id && state === "ended");
    };
  }

  #hasOpen(question: string): boolean {
    return [...this.threads.values()].some((thread) => thread.hasOpen(question));
  }

  get isDown(): boolean {
    return this.scheduler.now() < this.#downUntil;
  }

  thread(place: Place): SimulatedObject {
    return this.#named(this.plan.objects[this.plan.places.indexOf(place)] ?? "");
  }

  /** The object to which presses in a place come. */
  gateThread({ chatId }: Place): SimulatedObject {
    return this.#named(gateName(chatId));
  }

  get root(): SimulatedObject {
    return this.#named(ROOT);
  }

  #named(name: string): SimulatedObject {
    const found = this.threads.get(name);
    if (found === undefined) throw new Error(`There is no object ${name}.`);
    return found;
  }

  /** Processes die, now. What was killed comes back when something calls it; a machine after `downMs`. */
  crash(victim: Victim, name: string | undefined, downMs: number): void {
    this.crashes += 1;
    this.oracle.lateness.death();
    this.trace.add(
      "CRASH",
      () => `${victim}${victim === "thread" ? ` ${name ?? ""}` : ""}, back after ${downMs} ms`,
    );
    const back = this.scheduler.now() + downMs;
    this.oracle.presses.death(back);
    if (victim === "machine") this.#downUntil = Math.max(this.#downUntil, back);
    const isHit = (object: string, isGate: boolean): boolean =>
      victim === "machine" ||
      (victim === "gate" && isGate) ||
      (victim === "child" && object.startsWith(CHILD)) ||
      (victim === "root" && object === ROOT) ||
      (victim === "thread" && object === name);
    countDeaths(this.deaths, {
      threads: [...this.threads.values()],
      isHit: (thread) => isHit(thread.name, this.#isGateForOthers(thread)),
    });
    if (victim === "root" || isHit(SCHEDULES, false)) {
      this.schedules?.kill();
      this.scheduler.after(Math.max(back, this.#downUntil) - this.scheduler.now(), () =>
        this.schedules?.wake(),
      );
    }
    for (const [object, thread] of this.threads) {
      if (!isHit(object, this.#isGateForOthers(thread))) continue;
      thread.kill();
      this.#scheduleAlarm(thread, Math.max(back, this.#downUntil));
    }
  }

  #isGateForOthers({ gateOfChat, name }: SimulatedObject): boolean {
    const { objects, places } = this.plan;
    return (
      gateOfChat !== undefined &&
      places.some(({ chatId }, index) => chatId === gateOfChat && objects[index] !== name)
    );
  }

  close(): void {
    this.schedules?.close();
    for (const thread of this.threads.values()) thread.close();
  }

  /** The alarm fires at its time, or when its object can run again. */
  #scheduleAlarm(thread: SimulatedObject, earliest: number): void {
    if (thread.alarmAt === undefined) return;
    const at = Math.max(thread.alarmAt, earliest + this.random.int(1, 50));
    this.scheduler.after(at - this.scheduler.now(), () => {
      if (thread.alarmAt === undefined || thread.alarmAt > this.scheduler.now()) return;
      if (this.isDown) return;
      this.trace.add("alarm", () => thread.alarmAt?.toString() ?? "");
      const chatIds = [...new Set(thread.places.map(({ chatId }) => chatId))];
      this.oracle.onAlarm(thread.name, chatIds, thread.isBusy);
      thread.onAlarm();
    });
  }

  #newLife(name: string): Life {
    this.trace.add(name, () => "starts");
    return new Life(name, this.scheduler.process(), (life, what) => this.#onBoundary(life, what));
  }

  #onBoundary(life: Life, what: string): void {
    const isQuestion = what.endsWith(" question");
    const isChild = /^(?:before|after) child/.test(what);
    const isCode = /^(?:before|after) code/.test(what);
    if (isChild) this.childBoundaries += 1;
    else if (isCode) this.codeBoundaries += 1;
    else if (isQuestion) this.questionBoundaries += 1;
    else this.boundaries += 1;
    const isGate = !isQuestion && !isCode && !isChild && this.#isOfGate(life);
    if (isGate) this.gateBoundaries += 1;
    const isEffect = what.endsWith(" effect");
    if (isEffect) this.effectBoundaries += 1;
    for (const item of this.plan.items) {
      if (item.kind !== "crash") continue;
      const { boundary, within } = item;
      const passed = {
        gate: isGate ? this.gateBoundaries : 0,
        effect: isEffect ? this.effectBoundaries : 0,
        question: isQuestion ? this.questionBoundaries : 0,
        code: isCode ? this.codeBoundaries : 0,
        child: isChild ? this.childBoundaries : 0,
        any: isQuestion || isCode || isChild ? 0 : this.boundaries,
      }[within ?? "any"];
      if (boundary !== passed) continue;
      this.trace.add(
        life.name,
        () => `dies ${what} (boundary ${boundary}${within === undefined ? "" : ` of ${within}s`})`,
      );
      // The process at the boundary always dies.
      const stands = life.name === ROOT ? "root" : "thread";
      const victim = item.victim === "machine" ? "machine" : stands;
      this.crash(victim, stands === "thread" ? life.name : undefined, item.downMs);
      life.kill();
    }
  }

  /** Whether a process is a gate for conversations in other objects. */
  #isOfGate({ name }: Life): boolean {
    const thread = this.threads.get(name);
    return thread !== undefined && this.#isGateForOthers(thread);
  }

  #deps(life: Life): Deps {
    return {
      clock: life.clock,
      random: () => this.random.next(),
      newId: () => `id-${(this.#ids += 1)}`,
      fetch: () => Promise.reject(new Error("Nothing is fetched in a simulation.")),
    };
  }

  #log(name: string): Log {
    const write = (level: string, line: string): void => {
      this.trace.add(name, () => `log ${level} ${line}`);
      this.oracle.questions.secrets.shows(line, "a line of the log");
      if (line.includes("extension.hook-failed")) this.oracle.extensions.hookFailed();
    };
    return createLog(write, { now: () => this.scheduler.now() });
  }

  #scheduled(mutant: Mutant | undefined): ScheduleObject | undefined {
    const plans = this.plan.items.filter((item) => item.kind === "schedule");
    if (plans.length === 0) return undefined;
    return new ScheduleObject({
      plans,
      wire: this.#wire,
      newLife: () => this.#newLife(SCHEDULES),
      deps: (life) => this.#deps(life),
      log: this.#log(SCHEDULES),
      watch: this.scheduleWatch,
      inbox: this.oracle.inbox,
      targetsOf: ({ places }) =>
        places.flatMap((index) => {
          const place = this.plan.places[index];
          return place === undefined
            ? []
            : [{ conversation: this.thread(place).name, address: addressIn(place) }];
        }),
      conversation: (name) => this.#named(name),
      mutant,
    });
  }

  /** Returns another object, as one of them calls it. */
  #stub(to: string, caller: Life, className: string): InnerDoor {
    const { traffic } = this.oracle;
    return {
      inner: async (method, args) => {
        const isChild = className === SimulatedChild.name;
        const target = isChild ? this.#child(to) : this.#named(this.#byAddress.get(to) ?? to);
        traffic.asked(caller.name, method);
        const { schedules } = this;
        // The scheduled tasks of the root are an object of their own here.
        const isDelivery = method === "broadcasts.nudgeBroadcast" && schedules !== undefined;
        const answer = await callOver(this.#wire, caller, method, () =>
          isDelivery
            ? schedules.nudge(...(args as [string, string]))
            : target.answer(method, this.#mutant?.innerCall?.(method, args) ?? args),
        );
        traffic.answered(method, answer);
        return answer;
      },
    };
  }

  /** The object of an agent that works for others. */
  #child(name: string): SimulatedObject {
    const known = this.threads.get(`${CHILD}${name}`);
    if (known !== undefined) return known;
    const made = this.#object(`${CHILD}${name}`, this.#mutant, name);
    this.threads.set(made.name, made);
    return made;
  }

  #resolve(to: ChatTarget): Resolution {
    const place = this.plan.places.find(({ chatId, isDirectMessage, topicId, userId = "7" }) => {
      if (typeof to !== "object") return false;
      if ("userId" in to) return isDirectMessage && to.userId === userId;
      return "chatId" in to && to.chatId === chatId && to.topicId === topicId;
    });
    if (place === undefined)
      return { kind: "refused", code: "chat-unknown", message: "There is no such chat." };
    return { kind: "found", address: addressIn(place) };
  }

  #object(name: string, mutant: Mutant | undefined, agentName?: string): SimulatedObject {
    const { objects, policy } = this.plan;
    const places = this.plan.places.filter((_place, index) => objects[index] === name);
    const isDirect = (threadId: string): boolean =>
      places.some((place) => place.threadId === threadId && place.isDirectMessage);
    const thread: SimulatedObject = new SimulatedObject({
      name,
      places,
      gateOfChat: this.plan.places.find(({ chatId }) => gateName(chatId) === name)?.chatId,
      newLife: () => this.#newLife(name),
      deps: (life) => this.#deps(life),
      log: this.#log(name),
      agentObject:
        agentName === undefined
          ? undefined
          : { className: SimulatedChild.name, name: agentName, watch: this.oracle.children },
      agent: (life, cards, object) => {
        const messenger = this.#messenger(places, life, mutant);
        if (agentName !== undefined) return this.bot.child(messenger, cards, life, mutant);
        const parts = { life, object, watch: this.oracle.extensions };
        return withExtensions(this.bot.agent(messenger, cards, life, mutant), this.plan.items, parts);
      },
      features: [codeFeatures, childFeatures, extensionFeatures].flatMap((of) => of(this.plan.items)),
      stub: (...call) => this.#stub(...call),
      resolveTarget: (to) => this.#resolve(to),
      oracle: this.oracle,
      engine: {
        random: this.random.fork(`model/${name}`),
        oracle: this.oracle,
        trace: this.trace,
        interruptedStep: this.plan.interruptedStep,
        script: (threadId) => ({
          isRich: policy.rich !== undefined,
          hasTools: policy.tools,
          maySayNothing: policy.silence && !isDirect(threadId),
        }),
        nextTurn: () => (this.#turns += 1),
      },
      onDelivery: (delivery, life) => {
        this.oracle.said.watch(name, delivery, life);
        this.oracle.cards.watch(name, delivery, life);
        this.oracle.albums.watch(name, delivery, life);
        this.oracle.approvals.watch(name, delivery, life);
        this.oracle.questions.watch(delivery, life);
        this.oracle.questions.forms.watch(delivery, life);
      },
      mutant,
      scheduleAlarm: () => this.#scheduleAlarm(thread, 0),
    });
    return thread;
  }

  /** Loads the bytes of a message's file, with the planned delay or failure. */
  async #load(token: string, life: Life): Promise<FetchedFile> {
    const file = this.plan.items.find((item) => item.kind === "file" && item.token === token);
    if (file?.kind !== "file") throw new Error("There is no such file.");
    await new Promise<void>((resolve) => void life.clock.setTimeout(resolve, file.loadedAfterMs));
    if (file.fails) throw new Error("The platform does not give it.");
    return { bytes: PNG, mediaType: "image/png" };
  }

  #messenger([place]: readonly Place[], life: Life, mutant: Mutant | undefined): MessengerDefinition {
    const mode = modesOf(this.plan).get(place?.threadId ?? "") ?? "edit";
    const surface = createPlatformSurface(this, life);
    const { policy } = this.plan;
    const { answersPresses, footer, onUnknown, replyTo, rerunOnEdit, silence } = policy;
    const refuse = (): never => {
      throw new Error("The simulation has no use for this.");
    };
    return {
      verifyWebhook: false,
      whenBusy: this.plan.whenBusy,
      rerunOnEdit,
      respondTo: ["direct-message", "mention", ...(answersPresses ? (["action"] as const) : [])],
      delivery: {
        mode: mutant?.mode?.(mode) ?? mode,
        onUnknown,
        replyTo,
        richMessages: policy.rich !== undefined,
        footer,
        silence,
        staleActionResponseText: STALE,
        interruptedActionResponseText: INTERRUPTED,
        ...mutant?.policy,
      },
      platform: {
        provider: "sim",
        chatThreadId: gateName,
        verification: { kind: "none" },
        parse: (incoming: IncomingEvent) => {
          const event = incoming.raw as MessengerEvent;
          return Promise.resolve(mutant?.event?.(event) ?? event);
        },
        surface: () => mutant?.surface?.(surface) ?? surface,
        receive: refuse,
        fetchIdentity: refuse,
        fetchAttachment: (reference) => this.#load(String(reference["fileId"]), life),
      },
    };
  }
}

export function addressIn({ chatId, isDirectMessage, threadId, topicId }: Place): Address {
  const address = { messengerId: "sim", threadId, chatId, isDirectMessage };
  return topicId === undefined ? address : { ...address, topicId };
}

function modesOf({ places, modes }: Plan): ReadonlyMap<string, DeliveryMode> {
  return new Map(places.map(({ threadId }, index) => [threadId, modes[index] ?? "edit"]));
}
