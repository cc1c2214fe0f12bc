import type { Invariant } from "./contract.ts";
import type { FormWatch } from "./form-watch.ts";

export interface SecretWatchOptions {
  readonly fail: (invariant: Invariant, message: string) => void;
  /** Whether a question is open, as its conversation has stored it. */
  readonly isOpen: (question: string) => boolean;
  readonly forms: Pick<FormWatch, "typed">;
}

/** The secrets that people write: each number once in a run. */
export const PIN = /\bpin(21\d\d)\b/g;

/**
 * A secret reaches the action that asks for it, and nothing else (I14). No call to the platform and no line of the log
 * has one, whoever has written it and when. No request of a model has one that has answered, or whose question is still
 * open: a person may also write it when nobody asks any more.
 */
export class SecretWatch {
  readonly #options: SecretWatchOptions;
  /** The question that a person saw who wrote a secret, by its number. */
  readonly #written = new Map<number, string | undefined>();
  readonly #inModel = new Set<number>();

  constructor(options: SecretWatchOptions) {
    this.#options = options;
  }

  /** @param question undefined if only an answer is judged */
  wrote(number: number, question: string | undefined): void {
    this.#written.set(number, question);
  }

  /** A text that people, or the bot's owner, can read. */
  shows(text: string, where: string): void {
    if (this.#written.size === 0) return;
    for (const [pin] of text.matchAll(PIN)) this.#fail(`${where} has the secret ${pin}`);
  }

  /** A request of the model. */
  asksModel(message: unknown, turnId: string): void {
    if (this.#written.size === 0) return;
    for (const [pin, number] of JSON.stringify(message).matchAll(PIN)) {
      this.#inModel.add(Number(number));
      const question = this.#written.get(Number(number));
      if (question !== undefined && this.#options.isOpen(question))
        this.#fail(`the model gets ${pin} in ${turnId}, and ${question} is open`);
    }
  }

  /**
   * Judges the end of a run.
   *
   * @param tables everything that is stored, by the names of the tables
   */
  check(tables: () => ReadonlyMap<string, string>): void {
    const reached = [...this.#written.keys()].filter(
      (number) => this.#options.forms.typed.get(number)?.reached !== undefined,
    );
    for (const [name, rows] of reached.length === 0 ? [] : tables())
      for (const number of reached)
        if (rows.includes(`pin${number}`)) this.#fail(`${name} still has pin${number}, which has answered`);
    for (const number of this.#inModel) {
      const reached = this.#options.forms.typed.get(number)?.reached;
      if (reached !== undefined) this.#fail(`the model gets pin${number}, which has answered ${reached}`);
    }
  }

  #fail(message: string): void {
    this.#options.fail("I14", message);
  }
}
