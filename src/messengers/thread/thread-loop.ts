import type { Delivery } from "../../core/chat/delivery.ts";
import type { Timer } from "../../core/base/deps.ts";
import { failureCode } from "../../core/base/errors.ts";
import { restAfter } from "../../core/base/rest-after.ts";
import { withinTime } from "../../core/time/within-time.ts";
import { HEARTBEAT_MS } from "../declare/wake.ts";
import type { Intake } from "../intake/intake.ts";
import type { Loop } from "../intake/loop.ts";
import type { RootNews } from "../replies/root-news.ts";
import type { TurnResponses } from "../turns/turn-responses.ts";
import type { TurnRunner } from "../turns/turn-runner.ts";
import type { Sweep } from "../../core/store/sweep-store.ts";
import type { ThreadRuntimeOptions } from "./thread-runtime-options.ts";

/** The parts whose work the loop does. */
export interface LoopWork {
  readonly intake: Pick<Intake, "run" | "hasOpen" | "hasUnread">;
  readonly runner: Pick<TurnRunner, "resume" | "advance" | "isBusy">;
  readonly delivery: Pick<Delivery, "run" | "nextWakeAt">;
  readonly rootNews: Pick<RootNews, "tell" | "tellAgainAt">;
  readonly responses: Pick<TurnResponses, "run" | "runAgainAt">;
  readonly sweep: Pick<Sweep, "run">;
}

/** Longest rest after a failure of the loop. Each rest is longer than the one before. */
const LONGEST_REST_MS = 60_000;
/** While the object lives, its wake-up is moved before it fires. A move is one write, a wake-up several. */
const MOVE_WAKE_AFTER_MS = 2000;
/** A running turn waits at most this long for events to be read, because reading may run the bot's own code. */
const LONGEST_READING_MS = 5000;

/**
 * Does the stored work of one conversation, and keeps its durable wake-up at the next time with work to do. It makes no
 * decision itself: each part knows what is due.
 *
 * 1. The loop can stop at any point and start again, because its work follows from stored rows. A failure of the loop
 *    is tried again later, also after a restart.
 * 2. Running turns of an earlier process are resumed before anything can change them.
 * 3. Deliveries run beside the loop, so a slow platform never holds up the inbox.
 */
export class ThreadLoop implements Loop {
  readonly #options: ThreadRuntimeOptions;
  #started: LoopWork | undefined;
  #driving: Promise<void> | undefined;
  #isDirty = false;
  /** Number of consecutive failures of the loop. `#retryAt` is the time of its next try. */
  #failures = 0;
  #retryAt: number | undefined;
  /** Time at which the loop must look at unreadable events again. `#advanceAt` is the time for waiting messages. */
  #readAgainAt: number | undefined;
  #advanceAt: number | undefined;
  #heartbeat: Timer | undefined;
  #hasResumed = false;
  #takingUp: Promise<void> | undefined;
  #isFree = false;
  /** Whether there is stored work that no loop has seen. */
  #isExpected = false;

  constructor(options: ThreadRuntimeOptions) {
    this.#options = options;
  }

  /** Takes the parts, some of which poke the loop. Called once, before the loop runs. */
  start(parts: LoopWork): void {
    this.#started = parts;
  }

  get #parts(): LoopWork {
    if (this.#started !== undefined) return this.#started;
    throw new Error("The loop runs before its conversation is put together");
  }

  /** Starts the loop, or makes a running loop go around once more. */
  poke(): void {
    void this.drive();
  }

  /** Does all work that is due. Never rejects: failed work is tried again later, even if the object dies before. */
  drive(): Promise<void> {
    this.#isDirty = true;
    this.#driving ??= this.#loop();
    return this.#driving;
  }

  /** Whether no turn of an earlier process is waiting to be resumed. */
  isFree(): boolean {
    this.#isFree ||= this.#hasResumed || !this.#parts.runner.isBusy();
    return this.#isFree;
  }

  /**
   * Reads the stored events for a running turn, so that the turn knows them (I3). The process may have died right after
   * it stored one, and the turn engine may resume its operations before the loop runs. Never rejects.
   */
  async readInbox(): Promise<void> {
    const { clock } = this.#options.deps;
    const { intake } = this.#parts;
    const reading = this.#takeUp().then(async () => {
      if (!intake.hasOpen()) return;
      await intake.run();
      // The loop acts on the events that were read.
      this.poke();
    });
    try {
      await withinTime(clock, LONGEST_READING_MS, reading, "reading the inbox");
    } catch {
      // Reading takes too long, or failed. The loop continues it, and logs the reason.
    }
  }

  /** Sets a wake-up for work that has just been stored. The caller runs the loop later, unless the process dies before. */
  expect(): void {
    this.#isExpected = true;
    this.#options.wake.at(this.#options.deps.clock.now() + HEARTBEAT_MS);
  }

  /**
   * Called when a part needs its wake-up no longer. A running loop moves the wake-up at its end. New work keeps its own
   * until a loop has seen it, because nothing else tells that it is there.
   */
  needsLess(): void {
    if (this.#driving === undefined && !this.#isExpected) this.#putOffWake();
  }

  /** Loads the stored text of running turns, which an event that ends one of them needs. */
  #takeUp(): Promise<void> {
    this.#takingUp ??= this.#parts.runner.resume().catch((error: unknown) => {
      this.#takingUp = undefined;
      throw error;
    });
    return this.#takingUp;
  }

  async #loop(): Promise<void> {
    const { deps, engine, features, log, wake } = this.#options;
    const { intake, responses, rootNews, runner, sweep } = this.#parts;
    try {
      if (!this.#hasResumed) {
        await this.#takeUp();
        await engine.resumeAll();
        this.#hasResumed = true;
      }
      while (this.#isDirty) {
        this.#isDirty = false;
        this.#isExpected = false;
        features?.work();
        this.#readAgainAt = await intake.run();
        this.#advanceAt = await runner.advance(intake);
      }
      this.#deliver();
      rootNews.tell();
      responses.run();
      sweep.run();
      this.#failures = 0;
      this.#retryAt = undefined;
      if (!this.#isExpected) this.#putOffWake();
    } catch (error) {
      log.error("thread.failed", { code: failureCode(error) });
      this.#failures += 1;
      const restMs = restAfter(this.#failures, HEARTBEAT_MS, LONGEST_REST_MS);
      this.#retryAt = deps.clock.now() + restMs;
      wake.at(this.#retryAt);
    } finally {
      // Cleared at once, because this loop does not see requests from now on.
      this.#driving = undefined;
    }
  }

  /** Moves the durable wake-up to the next time with work to do, or removes it. */
  #putOffWake(): void {
    const { deps, features, wake } = this.#options;
    const { delivery, intake, responses, rootNews, runner } = this.#parts;
    const { clock } = deps;
    const now = clock.now();
    const isBusy = runner.isBusy() || features?.isBusy() === true;
    const needs = [
      this.#readAgainAt,
      this.#advanceAt,
      this.#retryAt,
      rootNews.tellAgainAt,
      responses.runAgainAt,
      features?.nextWakeAt(),
      delivery.nextWakeAt(),
    ].filter((at) => at !== undefined);
    if (isBusy || (intake.hasOpen() && this.#readAgainAt === undefined)) needs.push(now + HEARTBEAT_MS);
    const at = needs.length === 0 ? undefined : Math.min(...needs);
    if (at !== undefined) wake.at(at);
    wake.putOff(at);
    clock.clearTimeout(this.#heartbeat);
    this.#heartbeat = isBusy ? clock.setTimeout(() => this.poke(), MOVE_WAKE_AFTER_MS) : undefined;
  }

  /** Sends the due replies beside the loop. */
  #deliver(): void {
    const { deps, log, wake } = this.#options;
    this.#parts.delivery.run().catch((error: unknown) => {
      log.error("delivery.failed", { code: failureCode(error) });
      wake.at(deps.clock.now() + HEARTBEAT_MS);
    });
  }
}
