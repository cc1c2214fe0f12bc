import type { DeliveryMode } from "../../src/core/delivery.ts";
import type { Deps } from "../../src/core/deps.ts";
import type { FetchedFile, IncomingEvent } from "../../src/core/messenger.ts";
import type { MessengerEvent } from "../../src/core/messenger-event.ts";
import { createLog } from "../../src/core/log.ts";
import { normalizeMessengers } from "../../src/messengers/declare/define-messengers.ts";
import type { NormalizedMessengerDefinition } from "../../src/messengers/declare/define-messengers.ts";
import type { ChatGate } from "../../src/core/gate.ts";
import { GateObject, linkGate } from "./gate-object.ts";
import { CallFaults } from "./call-faults.ts";
import { Life } from "./life.ts";
import type { Mutant } from "./mutant.ts";
import { Oracle } from "./oracle.ts";
import { Platform } from "./platform.ts";
import { createPlatformSurface } from "./platform-surface.ts";
import type { Place, Plan, Victim } from "./plan.ts";
import { createRandom } from "./random.ts";
import type { Random } from "./random.ts";
import { RootObject } from "./root-object.ts";
import type { Wire } from "./rpc.ts";
import { createScheduler } from "./scheduler.ts";
import type { Scheduler } from "./scheduler.ts";
import { ThreadObject } from "./thread-object.ts";
import { createTrace } from "./trace.ts";
import type { Trace } from "./trace.ts";

export const START_AT = Date.UTC(2026, 0, 1);

/** Enough of a picture to be known as one. */
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export interface WorldOptions {
  readonly plan: Plan;
  readonly mutant?: Mutant | undefined;
  readonly isTraced?: boolean;
}

/** The machine with its objects, the platform, and what goes wrong with both. */
export class World {
  readonly scheduler: Scheduler;
  readonly platform: Platform;
  readonly faults: CallFaults;
  readonly oracle: Oracle;
  readonly trace: Trace;
  readonly random: Random;
  readonly plan: Plan;
  readonly threads: ReadonlyMap<string, ThreadObject>;
  readonly root: RootObject;
  /** The gates of chats in which no thread without a topic speaks, by chat. */
  readonly gates: ReadonlyMap<string, GateObject>;
  /** Boundaries passed by all processes together. */
  boundaries = 0;
  crashes = 0;
  #downUntil = 0;
  #turns = 0;
  #ids = 0;
  readonly #wire: Wire;

  constructor({ plan, mutant, isTraced = false }: WorldOptions) {
    this.plan = plan;
    this.random = createRandom(`run/${plan.seed}`);
    this.scheduler = createScheduler(this.random.fork("order"), START_AT);
    const now = (): number => this.scheduler.now();
    this.platform = new Platform(plan.platform, now, plan.places, plan.policy.rich);
    this.faults = new CallFaults(plan.items, this.random.fork("storms"), START_AT);
    this.oracle = new Oracle({ now, platform: this.platform, modes: modesOf(plan), plan });
    this.trace = createTrace(isTraced, now, START_AT);
    this.#wire = {
      scheduler: this.scheduler,
      random: this.random.fork("root"),
      isDown: () => this.isDown,
    };
    this.root = new RootObject({
      wire: this.#wire,
      newLife: () => this.#newLife("root"),
      deps: (life) => this.#deps(life),
      mutant,
    });
    this.gates = this.#gates(mutant);
    this.threads = new Map(
      plan.places.map((place) => [place.threadId, this.#thread(place, mutant)] as const),
    );
  }

  get isDown(): boolean {
    return this.scheduler.now() < this.#downUntil;
  }

  thread(place: Place): ThreadObject {
    const found = this.threads.get(place.threadId);
    if (found === undefined) throw new Error(`There is no thread ${place.threadId}.`);
    return found;
  }

  /** Processes die, now. What was killed comes back when something calls it; a machine after `downMs`. */
  crash(victim: Victim, threadId: string | undefined, downMs: number): void {
    this.crashes += 1;
    this.trace.add(
      "CRASH",
      () => `${victim}${victim === "thread" ? ` ${threadId ?? ""}` : ""}, back after ${downMs} ms`,
    );
    const back = this.scheduler.now() + downMs;
    if (victim === "machine") this.#downUntil = Math.max(this.#downUntil, back);
    if (victim === "root" || victim === "machine") this.root.kill();
    if (victim === "gate" || victim === "machine") for (const gate of this.gates.values()) gate.kill();
    if (victim === "root" || victim === "gate") return;
    for (const [id, thread] of this.threads) {
      if (victim === "thread" && id !== threadId) continue;
      thread.kill();
      this.#scheduleAlarm(thread, Math.max(back, this.#downUntil));
    }
  }

  close(): void {
    for (const thread of this.threads.values()) thread.close();
    for (const gate of this.gates.values()) gate.close();
    this.root.close();
  }

  /** The alarm fires at its time, or when its object can run again. */
  #scheduleAlarm(thread: ThreadObject, earliest: number): void {
    if (thread.alarmAt === undefined) return;
    const at = Math.max(thread.alarmAt, earliest + this.random.int(1, 50));
    this.scheduler.after(at - this.scheduler.now(), () => {
      if (thread.alarmAt === undefined || thread.alarmAt > this.scheduler.now()) return;
      if (this.isDown) return;
      this.trace.add("alarm", () => thread.alarmAt?.toString() ?? "");
      this.oracle.onAlarm(thread.place.chatId, thread.isBusy);
      thread.onAlarm();
    });
  }

  #newLife(name: string): Life {
    this.trace.add(name, () => "starts");
    return new Life(name, this.scheduler.process(), (life, what) => this.#onBoundary(life, what));
  }

  #onBoundary(life: Life, what: string): void {
    this.boundaries += 1;
    for (const item of this.plan.items) {
      if (item.kind !== "crash" || item.boundary !== this.boundaries) continue;
      this.trace.add(life.name, () => `dies ${what} (boundary ${item.boundary})`);
      // Whoever stands at the boundary dies, whatever else does.
      const stands = life.name === "root" ? "root" : life.name.startsWith("gate ") ? "gate" : "thread";
      const victim = item.victim === "machine" ? "machine" : stands;
      this.crash(victim, stands === "thread" ? life.name : undefined, item.downMs);
      life.kill();
    }
  }

  #deps(life: Life): Deps {
    return {
      clock: life.clock,
      random: () => this.random.next(),
      newId: () => `id-${(this.#ids += 1)}`,
      fetch: () => Promise.reject(new Error("Nothing is fetched in a simulation.")),
    };
  }

  #gates(mutant: Mutant | undefined): ReadonlyMap<string, GateObject> {
    const { places } = this.plan;
    const chats = new Set(places.filter(({ topicId }) => topicId !== undefined).map(({ chatId }) => chatId));
    for (const { chatId, topicId } of places) if (topicId === undefined) chats.delete(chatId);
    return new Map(
      [...chats].map((chatId) => [
        chatId,
        new GateObject({
          name: `sim:${chatId}`,
          chatId,
          newLife: () => this.#newLife(`gate ${chatId}`),
          deps: (life) => this.#deps(life),
          root: (life) => this.root.link(life),
          oracle: this.oracle,
          mutant,
        }),
      ]),
    );
  }

  /** The gate of a chat, as another object than its own reaches it. */
  #gateOf(chatId: string, caller: Life): ChatGate {
    const live = (): ChatGate => {
      const gate = this.gates.get(chatId)?.gate() ?? this.threads.get(`sim:${chatId}`)?.gate();
      if (gate === undefined) throw new Error(`There is no chat ${chatId}.`);
      return gate;
    };
    return linkGate(this.#wire, caller, live);
  }

  #thread(place: Place, mutant: Mutant | undefined): ThreadObject {
    const { threadId } = place;
    const thread: ThreadObject = new ThreadObject({
      place,
      newLife: () => this.#newLife(threadId),
      deps: (life) => this.#deps(life),
      log: createLog((level, line) => this.trace.add(threadId, () => `log ${level} ${line}`), {
        now: () => this.scheduler.now(),
      }),
      root: (life) => this.root.link(life),
      gateOf: (chatId, life) => this.#gateOf(chatId, life),
      oracle: this.oracle,
      definition: (life) => this.#definition(place, life, mutant),
      engine: {
        random: this.random.fork(`model/${threadId}`),
        oracle: this.oracle,
        trace: this.trace,
        interruptedStep: this.plan.interruptedStep,
        script: {
          isRich: this.plan.policy.rich !== undefined,
          hasTools: this.plan.policy.tools,
          maySayNothing: this.plan.policy.silence && !place.isDirectMessage,
        },
        nextTurn: () => (this.#turns += 1),
      },
      onDelivery: (delivery, life) => this.oracle.watch(threadId, delivery, life),
      mutant,
      scheduleAlarm: () => this.#scheduleAlarm(thread, 0),
    });
    return thread;
  }

  /** The bytes of the file of a message, when they come. */
  async #load(token: string, life: Life): Promise<FetchedFile> {
    const file = this.plan.items.find((item) => item.kind === "file" && item.token === token);
    if (file?.kind !== "file") throw new Error("There is no such file.");
    await new Promise<void>((resolve) => void life.clock.setTimeout(resolve, file.loadedAfterMs));
    if (file.fails) throw new Error("The platform does not give it.");
    return { bytes: PNG, mediaType: "image/png" };
  }

  #definition(place: Place, life: Life, mutant: Mutant | undefined): NormalizedMessengerDefinition {
    const mode = modesOf(this.plan).get(place.threadId) ?? "edit";
    const surface = createPlatformSurface(this, life);
    const { policy } = this.plan;
    const { answersPresses, footer, onUnknown, replyTo, rerunOnEdit, silence } = policy;
    const refuse = (): never => {
      throw new Error("The simulation has no use for this.");
    };
    const [definition] = normalizeMessengers({
      sim: {
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
          ...mutant?.policy,
        },
        platform: {
          provider: "sim",
          chatThreadId: (chatId: string) => `sim:${chatId}`,
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
      },
    });
    if (definition === undefined) throw new Error("The definition is missing.");
    return definition;
  }
}

function modesOf({ places, modes }: Plan): ReadonlyMap<string, DeliveryMode> {
  return new Map(places.map(({ threadId }, index) => [threadId, modes[index] ?? "edit"]));
}
