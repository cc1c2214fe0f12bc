import { canonicalJson } from "../../core/json/canonical-json.ts";
import { checkValue } from "../../core/json/check-value.ts";
import type { Json } from "../../core/message/content.ts";
import { ConfigurationError } from "../../core/base/errors.ts";
import { jsonSchemaOf } from "../../core/json/json-schema-of.ts";
import type { Answer, AskedQuestion } from "../../core/chat/question.ts";
import { ReplayError } from "../../core/action/run-record.ts";
import type { RunEntry } from "../../core/action/run-record.ts";
import { sha256Now } from "../../core/bytes/sha256.ts";
import type { ActionContext } from "../declare/action-context.ts";
import type { WaitingResult } from "../declare/action-errors.ts";
import type { CallQuestions } from "./action-host.ts";
import { checkOptions, checkQuestion } from "./check-question.ts";
import { toJson } from "../declare/normalize-output.ts";

/** The members of a context with which a run asks and records. */
export type RecordedMembers = Pick<ActionContext, "confirm" | "choose" | "elicit" | "step">;

/**
 * How a run ended otherwise than with `execute`.
 *
 * - `asks`: it waits for a person, and was dropped
 * - `broken`: it asks two questions at once, or something else than an earlier run
 */
export type RunStop =
  | { readonly kind: "asks"; readonly output: WaitingResult }
  | { readonly kind: "broken"; readonly error: unknown };

/** Longest result of a step as JSON. A row of the database has 2 MB. */
const LONGEST_RESULT = 1_000_000;

/**
 * One run of an action, as far as it asks people and records steps.
 *
 * 1. A question whose answer is recorded returns it. Any other one is stored, and the run is dropped: its promise never
 *    settles, and nothing that the run does later counts.
 * 2. A question or a step has the next place of the run, in the order of the calls.
 * 3. A run has one open question at most.
 */
export class RecordedRun {
  /** Resolves if the run ends otherwise than with `execute`. */
  readonly stopped: Promise<RunStop>;
  readonly #questions: CallQuestions;
  readonly #stop: (stop: RunStop) => void;
  /** Stores that the run asks, in the transaction that stores the question. */
  readonly #onAsk: () => void;
  #asking: string | undefined;
  /** The place of the newest question. */
  #answered = 0;
  #isOver = false;

  constructor(questions: CallQuestions, onAsk: () => void) {
    const { promise, resolve } = Promise.withResolvers<RunStop>();
    this.stopped = promise;
    this.#questions = questions;
    this.#onAsk = onAsk;
    this.#stop = (stop) => {
      this.#isOver = true;
      resolve(stop);
    };
  }

  /** Ends the run: nothing that it asks or does from now on counts. */
  close(): void {
    this.#isOver = true;
  }

  members(): RecordedMembers {
    const members: RecordedMembers = {
      confirm: async ({ no, yes, ...asked }) => {
        const labels = { ...(yes !== undefined && { true: yes }), ...(no !== undefined && { false: no }) };
        const schema = { type: "boolean" };
        const answer = await this.#ask(asked.message, () => ({ ...asked, kind: "confirm", schema, labels }));
        return answer.value === true;
      },
      choose: async ({ options, ...asked }) => {
        const answer = await this.#ask(asked.message, () => {
          const all = options.map((one) => (typeof one === "string" ? { value: one, label: one } : one));
          checkOptions(all);
          const labels = Object.fromEntries(all.map(({ label, value }) => [JSON.stringify(value), label]));
          const schema = { type: "string", enum: all.map(({ value }) => value) };
          return { ...asked, kind: "choose", schema, labels };
        });
        return answer as never;
      },
      elicit: async ({ schema, ...asked }) => {
        for (let more: Pick<AskedQuestion, "problem" | "earlier"> = {}; ;) {
          const answer = await this.#ask(asked.message, async () => ({
            ...asked,
            kind: "elicit",
            schema: await jsonSchemaOf(schema),
            ...more,
          }));
          const position = this.#answered;
          if (answer.why !== undefined) return answer;
          const checked = await checkValue(schema, answer.value);
          if (checked.isValid) {
            this.#questions.accept(position);
            return { value: checked.value as never };
          }
          // The schema has rules that its JSON Schema does not say. The person is asked again.
          more = { problem: checked.problem, earlier: answer.value };
        }
      },
      step: (name, work) => this.#step(name, work) as never,
    };
    return members;
  }

  async #ask(message: string, describe: () => AskedQuestion | Promise<AskedQuestion>): Promise<Answer<Json>> {
    if (this.#isOver) return never();
    if (this.#asking !== undefined) {
      const both = { before: `the question "${this.#asking}"`, now: `the question "${message}"` };
      return this.#break(
        new ReplayError(
          "question-open",
          "The action asks a question while another one is open. Ask one after the other: await each question.",
          both,
        ),
      );
    }
    this.#asking = message;
    try {
      return await this.#answerTo(message, describe);
    } finally {
      this.#asking = undefined;
    }
  }

  async #answerTo(
    message: string,
    describe: () => AskedQuestion | Promise<AskedQuestion>,
  ): Promise<Answer<Json>> {
    const { record } = this.#questions;
    const position = record.next();
    this.#answered = position;
    const question = await describe();
    checkQuestion(question);
    const { kind, labels = {}, schema } = question;
    const hash = sha256Now(canonicalJson([kind, message, schema, labels]));
    const entry: RunEntry = { kind: "question", label: message, hash };
    let known: { readonly result: Json } | undefined;
    try {
      known = record.read(position, entry);
    } catch (error) {
      return this.#break(error);
    }
    if (known === undefined) {
      const prepared = await this.#questions.prepare(question);
      if (this.#isOver) return never();
      if (typeof prepared === "object") {
        this.#stop({ kind: "asks", output: prepared.store({ position, entry }, this.#onAsk) });
        return never();
      }
      known = { result: { why: prepared } };
      record.record(position, entry, known.result);
    }
    return known.result as unknown as Answer<Json>;
  }

  async #step(name: string, work: () => unknown): Promise<Json> {
    if (this.#isOver) return never();
    const { record } = this.#questions;
    const position = record.next();
    const entry: RunEntry = { kind: "step", label: name, hash: sha256Now(name) };
    try {
      const known = record.read(position, entry);
      if (known !== undefined) return known.result;
    } catch (error) {
      return this.#break(error);
    }
    const result = toJson(await work());
    if (this.#isOver) return never();
    if (JSON.stringify(result).length > LONGEST_RESULT)
      throw new ConfigurationError(
        "step-too-large",
        `The result of a step has at most ${LONGEST_RESULT} characters as JSON. Return an id, and read the rest later.`,
      );
    record.record(position, entry, result);
    return result;
  }

  #break(error: unknown): Promise<never> {
    this.#stop({ kind: "broken", error });
    return never();
  }
}

/** The members of a context outside of `execute`. */
export const UNASKING: RecordedMembers = {
  confirm: outside,
  choose: outside,
  elicit: outside,
  step: outside,
};

function outside(): Promise<never> {
  return Promise.reject(
    new ConfigurationError(
      "question-outside-execute",
      "confirm(), choose(), elicit() and step() are for `execute` of an action, not for its other functions.",
    ),
  );
}

/** The promise of a dropped run. */
function never(): Promise<never> {
  return new Promise(() => {});
}
