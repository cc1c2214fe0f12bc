import { checkQuestion } from "../actions/runs/check-question.ts";
import { logBotFailure, runBotCode } from "../core/time/bot-code.ts";
import type { ChatTarget } from "../core/chat/chat-target.ts";
import { ConfigurationError, SwitchboardError } from "../core/base/errors.ts";
import type { Json } from "../core/message/content.ts";
import type { Answer, BotAnswer, BotQuestion } from "../core/chat/question.ts";
import { jsonSchemaOf } from "../core/json/json-schema-of.ts";
import { checkValue } from "../core/json/check-value.ts";
import type { SchemaIssue } from "../core/json/check-value.ts";
import type { QuestionsHost } from "./bot-methods.ts";
import { formOfQuestion } from "./form-of-question.ts";
import { newQuestion } from "./new-question.ts";
import { isSensitive } from "./question.ts";
import type { Question } from "./question.ts";
import type { Questions } from "./questions.ts";

/** Time after which an answer is offered again that a crash has kept from the bot's code. */
const AGAIN_AFTER_MS = 2500;

/** Questions of the bot's own code. Their answers go to `onAnswer`. */
export class BotQuestions {
  readonly #host: QuestionsHost;
  readonly #questions: Questions;
  /** Questions whose answer the bot's code is getting. */
  readonly #telling = new Set<string>();

  constructor(host: QuestionsHost, questions: Questions) {
    this.#host = host;
    this.#questions = questions;
  }

  /**
   * Asks somebody for a value, in a chat: with a form, as `ctx.elicit` does. Returns an id when the question is durable.
   * The answer goes to `onAnswer` of this object. It is a press, or a message that quotes the question. In a private chat
   * of a person only that person can answer, elsewhere everybody.
   *
   * @throws {ConfigurationError} `question-unknown`, `question-invalid`, `question-unsupported`, `question-not-private`
   * @throws {SwitchboardError} with the code of a refused target
   * @example
   * await this.questions.ask({ messenger: "telegram", userId: "4711" }, { name: "size", message: "Your size?" });
   */
  async ask(to: ChatTarget, { name, ...asked }: BotQuestion): Promise<string> {
    checkQuestion(asked);
    const { agent, database, deps, objects } = this.#host;
    const schemas = agent.getQuestions();
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (schema === undefined)
      throw new ConfigurationError(
        "question-unknown",
        `getQuestions() of this bot has no schema "${name}". It has: ${Object.keys(schemas).join(", ") || "none"}.`,
      );
    const form = formOfQuestion({ ...asked, kind: "elicit", schema: await jsonSchemaOf(schema) });
    if (form === undefined)
      throw new ConfigurationError(
        "question-unsupported",
        "No form in a chat can ask for the schema of this question. It must be a string, number, boolean or enum, a date, e-mail address, file, photo or place, or a flat object of them.",
      );
    const found = await objects.link.resolveTarget(to);
    if (found.kind !== "found") throw new SwitchboardError(found.code, found.message);
    const { address } = found;
    if (isSensitive(form) && !address.isDirectMessage)
      throw new ConfigurationError(
        "question-not-private",
        "A question with sensitive fields is for a private chat. Name the person: { messenger, userId }.",
      );
    const userId = typeof to === "object" && "userId" in to ? to.userId : undefined;
    const question = newQuestion(
      { ...asked, kind: "elicit", schema: null },
      {
        id: deps.newId(),
        form,
        askedIn: [{ userId, address }],
        call: undefined,
        cause: undefined,
        threadId: undefined,
        name,
        now: deps.clock.now(),
      },
    );
    this.#questions.store.makeTable();
    database.transaction(() => this.#questions.ask(question));
    this.#host.wakeSoon();
    await this.#host.durable();
    return question.id;
  }

  /** Gives answers to the bot's code. */
  run(): void {
    for (const question of this.#untold()) {
      if (this.#telling.has(question.id)) continue;
      this.#telling.add(question.id);
      void this.#tell(question).finally(() => {
        this.#telling.delete(question.id);
        this.#host.wakeSoon();
      });
    }
  }

  isBusy(): boolean {
    return this.#telling.size > 0;
  }

  nextWakeAt(): number | undefined {
    return this.#untold().length > 0 ? this.#host.deps.clock.now() + AGAIN_AFTER_MS : undefined;
  }

  #untold(): Question[] {
    return this.#questions.store
      .undelivered()
      .filter(({ call, end }) => call === undefined && end !== undefined);
  }

  async #tell(question: Question): Promise<void> {
    const { by, id, name = "" } = question;
    const { agent, deps, log } = this.#host;
    const checked = await this.#stored(question);
    if (checked === undefined) return;
    try {
      const given: BotAnswer = { ...checked, id, name, person: by };
      await runBotCode({ clock: deps.clock, log }, "onAnswer", () => agent.onAnswer?.(given));
    } catch {
      // The log has the reason. The bot's code has got the answer.
    }
    try {
      this.#questions.store.change(id, { isDelivered: true, answer: undefined });
    } catch (error) {
      // The process ends, or the database fails. The answer is offered again.
      logBotFailure(log, "question", error);
    }
  }

  /** Returns the answer for the bot's code. Undefined if the person is asked again, or the answer is offered again. */
  async #stored(question: Question): Promise<Answer<unknown> | undefined> {
    const { database, log } = this.#host;
    const answer = question.answer as unknown as Answer<Json>;
    const checked = answer.why === undefined ? await this.#checked(question, answer.value) : answer;
    try {
      if ("issues" in checked) {
        database.transaction(() => this.#questions.reopen(question, checked.value, checked.issues));
        return undefined;
      }
      this.#questions.accept(({ id }) => id === question.id);
      return checked;
    } catch (error) {
      // The process ends, or the database fails.
      logBotFailure(log, "question", error);
      return undefined;
    }
  }

  async #checked(
    { name = "" }: Question,
    value: Json,
  ): Promise<Answer<unknown> | { readonly value: Json; readonly issues: readonly SchemaIssue[] }> {
    const { agent, deps, log } = this.#host;
    try {
      const checked = await runBotCode({ clock: deps.clock, log }, "getQuestions", () => {
        const schema = agent.getQuestions()[name];
        return schema === undefined ? undefined : checkValue(schema, value);
      });
      // A newer version of the bot asks for something else.
      if (checked === undefined) return { why: "unsupported" };
      return checked.isValid ? { value: checked.value } : { value, issues: checked.issues };
    } catch {
      // The log has the reason. No schema has accepted the value.
      return { why: "unsupported" };
    }
  }
}
