import { z } from "zod";
import type { Json } from "../core/message/content.ts";
import type { Database } from "../core/store/database.ts";
import { LazyTables } from "../core/store/lazy-tables.ts";
import { addressSchema, personSchema } from "../core/chat/stored-address.ts";
import {
  added,
  checked,
  defineTable,
  encoded,
  flag,
  integer,
  json,
  Table,
  text,
} from "../core/store/table.ts";
import type { Form, FormState } from "../forms/form.ts";
import type { AskedPlace, Question } from "./question.ts";

/** Forms are written and read by the same machine, which takes any state of them. */
const form = encoded<Form>((stored) => JSON.parse(stored) as Form);
const states = encoded<readonly FormState[]>((stored) => JSON.parse(stored) as FormState[]);
const value = encoded<Json>((stored) => JSON.parse(stored) as Json);
const places = z.array(
  z.object({
    userId: z.string().optional(),
    name: z.string().optional(),
    address: addressSchema,
    language: z.string().optional(),
    cardsAbove: z.number().optional(),
  }),
);
const ends = z.enum(["answered", "declined", "expired", "nobody", "unsupported"]);
const calls = z.object({ id: z.string(), ledgerKey: z.string(), position: z.number() });
const causes = z.object({ threadId: z.string(), messageId: z.string() });

/** Questions to people. */
const QUESTIONS = defineTable(
  "question_v1",
  {
    id: text("PRIMARY KEY"),
    seq: integer("NOT NULL"),
    message: text("NOT NULL"),
    form: form("NOT NULL"),
    askedIn: json<readonly AskedPlace[]>(places)("NOT NULL"),
    forms: states("NOT NULL"),
    call: json<NonNullable<Question["call"]>>(calls)(),
    cause: json<NonNullable<Question["cause"]>>(causes)(),
    threadId: text(),
    /** Epoch milliseconds, as all times here. */
    createdAt: integer("NOT NULL"),
    expiresAt: integer("NOT NULL"),
    remindAt: integer(),
    end: checked(ends)(),
    endedAt: integer(),
    answer: value(),
    by: json(personSchema)(),
    isHinted: flag("NOT NULL"),
    isDelivered: flag("NOT NULL"),
    name: added(text()),
    isUnchecked: added(flag("NOT NULL DEFAULT 0")),
  },
  "STRICT, WITHOUT ROWID",
  { question_v1_open: "(seq) WHERE is_delivered = 0" },
);

export class QuestionStore {
  readonly #tables: LazyTables;
  readonly #questions: Table<typeof QUESTIONS>;

  constructor(database: Database) {
    this.#tables = new LazyTables(database, QUESTIONS);
    this.#questions = new Table(this.#tables, QUESTIONS);
  }

  get(id: string): Question | undefined {
    return this.#read("WHERE id = ?", id)[0];
  }

  /** Returns the questions without an end, oldest first. */
  open(): Question[] {
    return this.undelivered().filter(({ end }) => end === undefined);
  }

  /** Returns the questions that are open, or whose answer nobody has got. Oldest first. */
  undelivered(): Question[] {
    return this.#read("WHERE is_delivered = 0 ORDER BY seq");
  }

  /** Returns the questions whose answer has a secret that their schema may still refuse, oldest first. */
  unchecked(): Question[] {
    return this.undelivered().filter(({ isUnchecked }) => isUnchecked);
  }

  /** Returns the questions of a call, oldest first. */
  ofCall(id: string): Question[] {
    return this.#read("WHERE json_extract(call, '$.id') = ? ORDER BY seq", id);
  }

  insert(question: Question): void {
    const [newest] = this.#tables.all<{ seq: number | null }>("SELECT max(seq) AS seq FROM question_v1");
    this.#questions.insert({ ...question, seq: (newest?.seq ?? 0) + 1 });
  }

  change(id: string, changes: Partial<Omit<Question, "id">>): void {
    this.#questions.update(changes, "WHERE id = ?", id);
  }

  /** Makes the table, which most objects never need. Called outside of the transaction of the first row. */
  makeTable(): void {
    this.#tables.make();
  }

  #read(where: string, ...bindings: string[]): Question[] {
    return this.#questions.all(where, ...bindings).map(({ seq: _seq, ...question }) => question);
  }
}
