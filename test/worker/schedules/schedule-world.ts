import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import { createRandom } from "../../../lab/support/random.ts";
import { Platform } from "../../../lab/simulation/platform/platform.ts";
import type { Place } from "../../../lab/simulation/plan/plan.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import type { FakeUpdate } from "../support/fake-platform.ts";
import { holdAt, say, textOf } from "../support/scripted-model.ts";
import type { ModelRequest, ModelStep } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import type { ScriptedBot } from "../worker.ts";
import { createFaultySurface } from "./faulty-surface.ts";
import type { FaultyLine, ScheduleDefect } from "./faulty-surface.ts";
import { ALARMS_AFTER_MS } from "./schedule.ts";
import type { Schedule, Step } from "./schedule.ts";

/** One answer of the model, as far as it is known outside. */
export interface Answer {
  readonly chat: string;
  readonly questions: readonly string[];
  readonly text: string;
  readonly pieces: number;
  /** How many pieces of it the model may say. */
  allowed: number;
}

export interface Written {
  readonly token: string;
  readonly chat: string;
}

/** Macrotasks after which an object has nothing more to do, if nothing holds it. */
const ROUNDS = 12;
/** The schedule is over by then, whatever is left. */
const MOST_ROUNDS = 80;
const MOST_TRIES = 2_000;

/** A bot in workerd with a faked clock, and one schedule of what happens to it. */
export class ScheduleWorld {
  readonly answers: Answer[] = [];
  readonly written: Written[] = [];
  readonly line: FaultyLine;
  kills = 0;
  readonly #schedule: Schedule;
  readonly #world: World;
  readonly #random;
  readonly #places: ReadonlyMap<string, Place>;
  readonly #updates: FakeUpdate[] = [];
  /** Of every answer; without it some are short and some are long. */
  readonly #words: number | undefined;
  #isHeld = true;

  constructor(schedule: Schedule, defect?: ScheduleDefect, words?: number) {
    this.#schedule = schedule;
    this.#words = words;
    this.#random = createRandom(`answers/${schedule.seed}`);
    const places = schedule.chats.map((chatId) => ({
      threadId: `fake:${chatId}`,
      chatId,
      isDirectMessage: true,
      box: "own",
    }));
    this.#places = new Map(places.map((place) => [place.chatId, place]));
    this.line = {
      platform: new Platform(schedule.mode === "native" ? "streams" : "telegram", () => Date.now(), places),
      faults: [],
      doomed: undefined,
      calls: [],
      defect,
    };
    this.#world = createWorld({
      settings: { interruptedStep: schedule.interruptedStep },
      script: (request) => this.#script(request),
      messengers: ({ chats }) => {
        const base = fakePlatform(chats);
        const surface = createFaultySurface(this.line);
        return {
          fake: { platform: { ...base, surface: () => surface }, delivery: { mode: schedule.mode } },
        };
      },
    });
  }

  run(): Promise<void> {
    return this.play(this.#schedule.steps);
  }

  /** What objects do takes the machine's own time: waits for it, in a test that needs it done. */
  async until(isDone: () => boolean | Promise<boolean>): Promise<void> {
    for (let round = 0; round < MOST_TRIES; round += 1) {
      if (await isDone()) return;
      await scheduler.wait(1);
    }
    throw new Error("It is never done.");
  }

  /** The model says all that it has to say, and its turn is over. */
  async speakOut(chat: string): Promise<void> {
    await this.until(() => this.answers.length > 0);
    this.#isHeld = false;
    await this.until(async () => !(await this.#openRows()).includes(`${chat}: turn open`));
  }

  /** When the object of a chat is woken next by itself, in epoch milliseconds. */
  wakesAt(chat: string): Promise<number | null> {
    return runInDurableObject(this.#world.thread(chat), (_bot, { storage }) => storage.getAlarm());
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      await this.#do(step);
      await this.#settle();
    }
  }

  /** No faults any more, and nobody holds the model: everything comes to its end. Returns what does not. */
  async finish(): Promise<readonly string[]> {
    this.line.faults.length = 0;
    this.#isHeld = false;
    let open: readonly string[] = [];
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      await this.#settle();
      await this.#pass(3_000);
      await this.#settle();
      open = await this.#openRows();
      if (open.length === 0) return open;
    }
    return open;
  }

  /** Everything dies once more, when nothing is left to do. Returns how many calls that leads to. */
  async restart(): Promise<number> {
    const calls = this.line.calls.length;
    for (const chat of this.#schedule.chats) await this.#kill(this.#world.thread(chat));
    await this.#kill(this.#world.stub);
    await this.#pass(5_000);
    await this.#settle();
    return this.line.calls.length - calls;
  }

  async #do(step: Step): Promise<void> {
    switch (step.kind) {
      case "write":
        return this.#write(step.chat, step.isQuick);
      case "again": {
        const update = this.#updates.at(-1);
        return update === undefined ? undefined : this.#tell(update);
      }
      case "speak":
        for (const answer of this.answers) answer.allowed += 1;
        return undefined;
      case "pass":
        return this.#pass(step.ms);
      case "kill":
        return this.#kill(step.victim === "root" ? this.#world.stub : this.#world.thread(step.chat));
      case "fault":
        this.line.faults.push(step.fault);
        return undefined;
      default:
        return step satisfies never;
    }
  }

  async #write(chat: string, isQuick: boolean): Promise<void> {
    const place = this.#places.get(chat);
    if (place === undefined) return;
    vi.setSystemTime(Date.now() + (isQuick ? 200 : 4_000));
    const token = `q${this.written.length}`;
    this.written.push({ token, chat });
    const id = String(this.line.platform.write(place));
    const update = { id, chat, user: "ada", text: token, sentAt: Date.now() };
    this.#updates.push(update);
    await this.#tell(update);
  }

  /** As a platform does: again and again, until the answer is 200. */
  async #tell(update: FakeUpdate): Promise<void> {
    for (;;) {
      const status = await this.#world.post(update).catch(() => 0);
      if (status === 200) return;
    }
  }

  async #pass(ms: number): Promise<void> {
    vi.setSystemTime(Date.now() + ms);
    if (ms < ALARMS_AFTER_MS) return;
    for (const chat of this.#schedule.chats) {
      // An alarm lasts as long as what it takes up, and dies with it.
      void runDurableObjectAlarm(this.#world.thread(chat)).catch(() => undefined);
    }
    void runDurableObjectAlarm(this.#world.stub).catch(() => undefined);
  }

  /** Objects do what they can do now; one that a fault says must die over its call does. */
  async #settle(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      await scheduler.wait(1);
      const { doomed } = this.line;
      if (doomed === undefined) continue;
      this.line.doomed = undefined;
      await this.#kill(this.#world.thread(doomed.chatId));
    }
  }

  async #kill(stub: DurableObjectStub<ScriptedBot>): Promise<void> {
    this.kills += 1;
    await runInDurableObject(stub, (_bot, state) => {
      state.abort("killed by a test");
    }).catch(() => undefined);
  }

  /** Rows of what has not ended, with their state. */
  async #openRows(): Promise<readonly string[]> {
    const open: string[] = [];
    for (const chat of new Set(this.written.map((message) => message.chat))) {
      const rows = await runInDurableObject(this.#world.thread(chat), (_bot, { storage }) =>
        [
          "SELECT 'message ' || state AS what FROM inbox_v1 WHERE state <> 'done'",
          "SELECT 'turn ' || state AS what FROM turn_v1 WHERE state NOT IN ('ended', 'withdrawn')",
          "SELECT 'reply ' || state AS what FROM reply_v1 WHERE state IN ('streaming', 'final')",
        ].flatMap((query) => storage.sql.exec<{ what: string }>(query).toArray()),
      );
      open.push(...rows.map(({ what }) => `${chat}: ${what}`));
    }
    return open;
  }

  /** Every word of every answer is unique, so that what is visible tells whose it is. */
  #script({ asker, prompt }: ModelRequest): readonly ModelStep[] {
    const last = prompt.at(-1);
    const chat = this.#schedule.chats.find((id) => asker.includes(encodeURIComponent(`fake:${id}`))) ?? "";
    const said = last?.role === "assistant" ? textOf(last) : "";
    const known = said === "" ? undefined : this.answers.findLast(({ text }) => text.startsWith(said));
    const questions =
      known?.questions ?? textOf(prompt.findLast(({ role }) => role === "user")).match(/q\d+/g) ?? [];
    const text = known?.text ?? this.#text(questions);
    const pieces = text.slice(said.length).match(/[\s\S]{1,60}/g) ?? [];
    const answer = { chat, questions, text, pieces: pieces.length, allowed: 0 };
    this.answers.push(answer);
    return pieces.flatMap((piece, index) => [
      holdAt({ pass: () => this.#untilAllowed(answer, index) }),
      say(piece),
    ]);
  }

  /**
   * Asked again and again in the object's own time: what awaits a promise that the test resolves would go on in the
   * test's time, where an object cannot use its storage. A loop of an object that has died ends with it.
   */
  async #untilAllowed(answer: Answer, index: number): Promise<void> {
    while (this.#isHeld && answer.allowed <= index) await scheduler.wait(1);
  }

  #text(questions: readonly string[]): string {
    const length = this.#words ?? this.#random.pick([2, 8, 20, 40]);
    const words = Array.from({ length }, (_, word) => {
      const name = `a${this.answers.length}w${word}z`;
      return this.#random.chance(0.2) ? `**${name}**\n\n` : `${name} `;
    });
    return `re ${questions.join(" ")}\n\n${words.join("")}`.trim();
  }
}
