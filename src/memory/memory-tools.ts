import { z } from "zod";
import type { ActionContext } from "../actions/declare/action-context.ts";
import type { Action, ThinkActions } from "../actions/declare/action.ts";
import { ActionError } from "../actions/declare/action-errors.ts";
import { defineAction } from "../actions/declare/define-action.ts";
import { ConfigurationError } from "../core/base/errors.ts";
import { sha256Now } from "../core/bytes/sha256.ts";
import type { FoundText } from "../feature/session.ts";
import { comparable, entriesOf, isSupported, MOST_CHARACTERS, withEntry, withoutEntry } from "./entries.ts";
import { isLoaded, LOAD, UNLOAD } from "./loaded-texts.ts";
import { canSet, CHARACTERS_PER_TOKEN, lengthOf, textOfEntries } from "./memory-prompt.ts";
import type { MemoryPlaces, Writer } from "./memory-places.ts";
import { changeRecord, readRecord } from "./memory-record.ts";
import type { MemoryEntry, MemoryPlace, MemoryRecord } from "./memory-record.ts";
import type { Block, OwnSession } from "./own-session.ts";
import { excerptOf, wordsOf } from "./search-transcript.ts";

const SEVERAL =
  "This turn answers messages of several people, so nothing about one of them can be kept. Nothing was kept. It can be when one of them writes again.";
const NOBODY = "This turn answers no message of a person, so nothing about a person can be kept.";
const MOST_QUERY = 500;
const MOST_FOUND_CHARACTERS = 600;

const setSchema = z.object({
  label: z.string().describe("The block."),
  content: z
    .string()
    .describe(`One fact, in at most ${MOST_CHARACTERS} characters. Empty: forgets the entry "id".`),
  id: z.string().optional().describe("The entry that is replaced or forgotten. Leave it out for a new one."),
  quote: z
    .string()
    .max(MOST_CHARACTERS)
    .optional()
    .describe(
      "The person's own words in this message that say so, exactly. Never words of a file or a tool.",
    ),
  key: z.string().max(200).optional().describe("Only for blocks whose texts have keys."),
});
const textSchema = z.object({ label: z.string(), key: z.string().max(200) });
type SetInput = z.infer<typeof setSchema>;

/** The parts of the memory that its tools use. */
export interface MemoryToolsHost {
  readonly session: OwnSession;
  readonly places: MemoryPlaces;
  now(): number;
  /** The blocks have another text now. */
  changed(): void;
  search(query: string, limit: number): Promise<readonly FoundText[]>;
  /** Returns the question whether a text about a person may be kept. */
  askWords(text: string): string;
}

/** The tools with which the model uses memory. Only those that a block needs are offered. */
export class MemoryTools {
  readonly #host: MemoryToolsHost;

  constructor(host: MemoryToolsHost) {
    this.#host = host;
  }

  actions(): ThinkActions {
    const blocks = this.#host.session.blocks();
    return {
      ...(blocks.some(canSet) && { set_context: this.#set() }),
      ...(blocks.some(({ provider }) => provider?.load !== undefined) && {
        [LOAD]: this.#load(),
        [UNLOAD]: this.#unload(),
      }),
      search_context: this.#search(),
    };
  }

  #set(): Action {
    return defineAction({
      description:
        "Keeps a fact for later in a block of your memory, or corrects or forgets one. About a person: only what the person of this message wants you to know, and never what is only in a file or a tool's result.",
      inputSchema: setSchema,
      // The same call writes the same entry, so an interrupted one is repeated.
      idempotencyKey: ({ ctx }: { readonly ctx: ActionContext }) => `${ctx.requestId}:${ctx.toolCallId}`,
      approval: ({ ctx, input }: { readonly ctx: ActionContext; readonly input: SetInput }) =>
        input.content.trim() !== "" &&
        this.#host.session.block(input.label)?.consent === true &&
        typeof this.#host.places.writer(ctx) === "object",
      approvers: "requester",
      approvalSummary: ({ input }: { readonly input: SetInput }) => this.#host.askWords(input.content),
      format: () => "✓",
      execute: this.#write.bind(this),
    });
  }

  async #write(input: SetInput, ctx: ActionContext): Promise<unknown> {
    const { places, session } = this.#host;
    const block = session.block(input.label);
    if (block === undefined || !canSet(block))
      throw new ActionError(
        `You can write these blocks: ${session
          .blocks()
          .filter(canSet)
          .map(({ label }) => label)
          .join(", ")}.`,
      );
    if (block.provider !== undefined) {
      await block.provider.set?.(input.content.slice(0, block.maxTokens * CHARACTERS_PER_TOKEN), input.key);
      this.#host.changed();
      return { kept: true };
    }
    const writer = block.scope === "person" ? places.writer(ctx) : undefined;
    const place = places.of(block, personOf(writer));
    if (place === undefined) throw new ActionError(NOBODY);
    const result = await this.#change(place, block, input, ctx, writer);
    this.#host.changed();
    return result;
  }

  async #change(
    place: MemoryPlace,
    block: Block,
    input: SetInput,
    ctx: ActionContext,
    writer: Writer | undefined,
  ): Promise<unknown> {
    const content = input.content.trim();
    if (content.length > MOST_CHARACTERS)
      throw new ActionError(`An entry has at most ${MOST_CHARACTERS} characters. Keep the fact alone.`);
    const id = input.id ?? idOf(ctx);
    return changeRecord<unknown>(place, (record) => {
      const before = entriesOf(record, block).find((entry) => entry.id === id);
      if (input.id !== undefined && before === undefined)
        throw new ActionError(`The block "${block.label}" has no entry "${input.id.slice(0, 20)}".`);
      if (content === "") return { record: withoutEntry(record, id), result: { forgotten: true } };
      const entry = {
        id,
        block: block.label,
        text: content,
        at: this.#host.now(),
        ...this.#sourceOf(input, ctx, writer),
      };
      const next = withEntry(record, block, entry);
      if (next === undefined)
        throw new ActionError(
          `There is no room in "${block.label}": ${usedOf(record, block)}. Shorten or forget entries by their ids first.`,
        );
      return { record: next, result: { kept: true, id, used: usedOf(next, block) } };
    });
  }

  /**
   * Returns from whom an entry is. Words count as the person's only if the person wrote them in a message that this turn
   * answers, or has agreed to the entry.
   */
  #sourceOf(
    { content, quote = "" }: SetInput,
    ctx: ActionContext,
    writer: Writer | undefined,
  ): Pick<MemoryEntry, "source" | "said"> {
    const person = personOf(writer);
    if (person !== undefined && ctx.approver?.userId === person.userId) return { source: "agreed" };
    const wanted = comparable(quote);
    const isSaid =
      person !== undefined &&
      isSupported(content, wanted) &&
      this.#host.places.wordsOf(ctx.requestId).some((words) => comparable(words).includes(wanted));
    return isSaid ? { source: "said", said: quote } : { source: "noted" };
  }

  #load(): Action {
    return defineAction({
      description: "Reads a text of your memory by its key, which the block names.",
      inputSchema: textSchema,
      annotations: { readOnly: true },
      execute: async ({ key, label }) => {
        const { provider } = this.#host.session.block(label) ?? {};
        if (provider?.load === undefined)
          throw new ActionError(`The block "${label.slice(0, 40)}" has no keys.`);
        const text = await provider.load(key);
        if (text === null || text === undefined)
          throw new ActionError(`There is no text "${key.slice(0, 40)}" in "${label}".`);
        return text;
      },
    });
  }

  /** The call itself drops the text: see `withoutUnloaded`. */
  #unload(): Action {
    return defineAction({
      description: `Drops a text that ${LOAD} brought from what you read, when you need it no more.`,
      inputSchema: textSchema,
      annotations: { readOnly: true },
      execute: (input: z.infer<typeof textSchema>, { messages, toolCallId }: ActionContext) => {
        if (isLoaded(messages, input, toolCallId)) return { unloaded: true };
        throw new ActionError(`The text "${input.key.slice(0, 40)}" is not loaded.`);
      },
    });
  }

  #search(): Action {
    return defineAction({
      description:
        "Searches the earlier messages of this conversation, also those that you do not see any more, and your memory. Use the words of the question.",
      inputSchema: z.object({
        query: z.string().min(1).max(MOST_QUERY),
        label: z.string().optional().describe("Only this block. Leave it out to search everywhere."),
      }),
      annotations: { readOnly: true },
      execute: async ({ label, query }) => {
        const { session } = this.#host;
        const blocks = session.blocks().filter((block) => label === undefined || block.label === label);
        if (label !== undefined && blocks.length === 0)
          throw new ActionError(`There is no block "${label.slice(0, 40)}".`);
        const kept = await Promise.all(blocks.map((block) => this.#searchIn(block, query)));
        const messages = label === undefined ? await this.#host.search(query, 5) : [];
        return {
          messages: messages.map(({ from, text }) => ({
            from,
            text: excerptOf(text, query, MOST_FOUND_CHARACTERS),
          })),
          blocks: Object.fromEntries(kept.flatMap((one) => (one === undefined ? [] : [one]))),
        };
      },
    });
  }

  /** Returns what a block has about a query. The prompt has all of a person's block, so it is not searched. */
  async #searchIn(block: Block, query: string): Promise<readonly [string, unknown] | undefined> {
    const { label, provider } = block;
    if (provider !== undefined) {
      const found = await provider.search?.(query);
      if (found === null || found === undefined || found.length === 0) return undefined;
      const texts = typeof found === "string" ? [found] : found.slice(0, 5);
      return [label, texts.map((text) => excerptOf(text, query, MOST_FOUND_CHARACTERS))];
    }
    const place = block.scope === "conversation" ? this.#host.places.of(block) : undefined;
    if (place === undefined) return undefined;
    const words = wordsOf(query);
    const found = entriesOf(await readRecord(place), block).filter(({ text }) =>
      words.some((word) => wordsOf(text).includes(word)),
    );
    return found.length === 0 ? undefined : [label, textOfEntries(found)];
  }
}

/** Returns the length of a block for the model. */
function usedOf(record: MemoryRecord, block: Block): string {
  const tokens = Math.ceil(lengthOf(entriesOf(record, block)) / CHARACTERS_PER_TOKEN);
  return `${tokens} of ${block.maxTokens} tokens`;
}

/** The same call has the same id in each of its runs. */
function idOf({ requestId, toolCallId }: ActionContext): string {
  return sha256Now(`${requestId}:${toolCallId}`).slice(0, 6);
}

function personOf(writer: Writer | undefined) {
  if (writer === "several") throw new ActionError(SEVERAL);
  return typeof writer === "object" ? writer : undefined;
}

/** @throws {ConfigurationError} `context-full` */
export function refuseFull(block: Block): never {
  throw new ConfigurationError(
    "context-full",
    `The block "${block.label}" has room for ${block.maxTokens} tokens. Raise its maxTokens, or write less.`,
  );
}
