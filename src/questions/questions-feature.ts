import type { FeaturePress, PressAnswer } from "../core/chat/card-press.ts";
import { checkDescribed } from "../core/json/json-schema-of.ts";
import type { GonePlace } from "../core/chat/delivery.ts";
import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import type { Feature } from "../feature/feature.ts";
import type { StopEffect } from "../messengers/turns/turn-consent.ts";
import { fromPeople } from "../messengers/turns/own-marks.ts";
import { answeredOwner } from "../messengers/turns/turn-attachments.ts";
import type { QuestionsHost } from "./bot-methods.ts";
import { contextOf } from "./call-context.ts";
import type { ParkedCall } from "../replay/parked-call-store.ts";
import { ParkedCalls } from "../replay/parked-calls.ts";
import { ParkedRuns } from "./parked-runs.ts";
import { QuestionAnswers } from "./question-answers.ts";
import { QuestionCalls } from "./question-calls.ts";
import { BotQuestions } from "./bot-questions.ts";
import { QUESTIONS, QuestionCards } from "./question-cards.ts";
import { QuestionStore } from "./question-store.ts";
import { Questions } from "./questions.ts";
import type { RunQuestion, RunQuestions } from "../scheduled-runs/run-questions.ts";

/** Most questions that the system prompt names. */
const MOST_LISTED = 10;

/**
 * Questions to people from inside actions (I14). `QuestionCalls` parks the calls and runs them again, `Questions` has the
 * questions from their cards to their ends, `QuestionAnswers` takes presses and messages.
 */
export class QuestionsFeature implements Feature {
  readonly name = QUESTIONS;
  readonly asking: QuestionCalls;
  readonly parked: ParkedCalls;
  readonly questions: QuestionAnswers;
  /** Questions of the bot's own code. */
  readonly ofBot: BotQuestions;
  readonly #host: QuestionsHost;
  readonly #all: Questions;

  constructor(host: QuestionsHost) {
    this.#host = host;
    const cards = new QuestionCards(host);
    const store = new QuestionStore(host.database);
    const parked = new ParkedCalls(new ParkedRuns(host, store));
    this.parked = parked;
    this.#all = new Questions({
      host,
      cards,
      store,
      onEnded: ({ call, createdAt: beganAt }, answer, outcome) => {
        if (call === undefined) return;
        const asking = parked.store.get(call.id);
        if (asking !== undefined)
          host.engine.events.emit(asking.requestId, {
            kind: "question-ended",
            callId: asking.toolCallId,
            beganAt,
            outcome,
          });
        host.actions.runLog.answer(call.ledgerKey, call.position, answer);
        parked.resume(call.id);
      },
    });
    this.ofBot = new BotQuestions(host, this.#all);
    const parts = { host, questions: this.#all, parked, cards };
    this.asking = new QuestionCalls(parts);
    this.questions = new QuestionAnswers(parts);
  }

  async work(): Promise<void> {
    this.#all.run();
    this.ofBot.run();
    await this.parked.run();
    // A call that has ended refuses no more answers.
    this.#all.accept(({ call }) => call !== undefined && this.parked.store.get(call.id)?.isTold === true);
  }

  isBusy(): boolean {
    return this.parked.isBusy() || this.ofBot.isBusy();
  }

  nextWakeAt(): number | undefined {
    const times = [this.#all, this.parked, this.ofBot].map((part) => part.nextWakeAt() ?? Infinity);
    const at = Math.min(...times);
    return at === Infinity ? undefined : at;
  }

  /** A schema that a form cannot read is found before somebody is asked. */
  get check(): NonNullable<Feature["check"]> {
    const run = (): void => {
      for (const [name, schema] of Object.entries(this.#host.agent.getQuestions()))
        checkDescribed(schema, `the question "${name}"`);
    };
    return { method: "getQuestions", run };
  }

  /** Approvals tell of calls with consent. */
  get runQuestions(): RunQuestions {
    const calls = this.parked.store;
    return {
      ofTurn: (turnId) => calls.ofTurn(turnId).filter(isOfTurn).map(runQuestionOf),
      waitingIn: (turnId) => {
        const call = calls.ofTurn(turnId).find(({ state }) => state === "asking");
        return call && { parkedId: call.id };
      },
      askedBy: ({ parkedCall }) =>
        typeof parkedCall === "string" ? calls.get(parkedCall)?.requestId : undefined,
      dropRun: (turnId) => this.#dropRun(turnId),
    };
  }

  /** The calls go on without an answer, as after `/stop`. */
  #dropRun(turnId: string): void {
    const { database, runs } = this.#host;
    for (const question of this.#all.store.open()) {
      const asked = question.call && this.parked.store.get(question.call.id);
      if (asked === undefined || runs.rootOf(asked.requestId) !== turnId) continue;
      database.transaction(() => this.#all.close(question, "declined"));
    }
  }

  stopped(by: MessengerEvent): StopEffect {
    return this.questions.stopped(by) ? "seen" : "nothing";
  }

  /** An addition to the system prompt while calls wait for answers. */
  prompt(): string | undefined {
    const lines = this.#all.store.open().flatMap(({ call, message }) => {
      const action = call && this.parked.store.get(call.id)?.action;
      return action === undefined ? [] : [`- ${action}: ${JSON.stringify(fromPeople(message))}`];
    });
    if (lines.length === 0) return undefined;
    return [
      "⟦Actions have asked people something, and wait for the answers.⟧",
      ...lines.slice(-MOST_LISTED),
      "They have not finished. Do not call them again, and do not ask the same. An answer goes to the action, and you will be told the outcome. A message that you get is no answer.",
    ].join("\n");
  }

  pressed(press: FeaturePress): Promise<PressAnswer> | undefined {
    return this.questions.pressed(press);
  }

  chatGone({ chatId, messengerId, threadId }: GonePlace): void {
    for (const question of this.#all.store.open()) {
      const isThere = question.askedIn.every(
        ({ address }) =>
          address.messengerId === messengerId &&
          address.chatId === chatId &&
          (threadId === undefined || address.threadId === threadId),
      );
      if (isThere && question.askedIn.length > 0)
        this.#host.database.transaction(() => this.#all.close(question, "nobody"));
    }
  }
}

function isOfTurn(call: ParkedCall): boolean {
  return contextOf(call).owner === undefined;
}

function runQuestionOf({ id, isTold, state }: ParkedCall): RunQuestion {
  const known = { ending: undefined, outcomeKey: answeredOwner(id) };
  if (state === "asking") return { ...known, state: "waiting" };
  return { ...known, state: isTold ? "over" : "open" };
}
