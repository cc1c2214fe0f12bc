import { z } from "zod";
import { logBotFailure } from "../core/time/bot-code.ts";
import { ConfigurationError } from "../core/base/errors.ts";
import { FLAG, optionProblem, TEXT } from "../core/json/check-options.ts";
import type { OptionRules } from "../core/json/check-options.ts";
import type { Log } from "../core/base/log.ts";
import type { ActionStates } from "../actions/memory/action-states.ts";
import type { ContextBlock, FoundText, PersonOf, Session } from "../feature/session.ts";
import { withoutUnloaded } from "./loaded-texts.ts";
import type { CompactFunction, OwnCompaction } from "../turn/model/own-compaction.ts";

const BLOCK: OptionRules<ContextBlock> = {
  description: TEXT,
  maxTokens: true,
  scope: true,
  consent: FLAG,
  provider: true,
};
const LABEL = /^[\w-]{1,40}$/;
const MOST_BLOCKS = 20;
const MOST_TOKENS = 10_000;
const ADDED = "blocks:added";

/** A block as it is declared, with its defaults. */
export interface Block extends ContextBlock {
  readonly label: string;
  readonly maxTokens: number;
  readonly scope: "conversation" | "person" | "bot";
}

const addedSchema = z.record(
  z.string(),
  z.object({
    description: z.string().optional(),
    maxTokens: z.number().optional(),
    scope: z.enum(["conversation", "person", "bot"]).optional(),
    consent: z.boolean().optional(),
  }),
);

/** The rest of the session, which the feature has. */
export interface SessionHost {
  readonly log: Log;
  /** Calls `configureSession` of the bot. */
  configure(session: Session): unknown;
  states(): Pick<ActionStates, "read" | "write">;
  maxContextTokens(): number;
  /** Makes the next model call read all blocks again. */
  refresh(): void;
  prompt(): Promise<string>;
  read(block: Block, about: PersonOf | undefined): Promise<string>;
  write(block: Block, text: string, about: PersonOf | undefined, how: "replace" | "append"): Promise<void>;
  search(query: string, limit: number): Promise<readonly FoundText[]>;
}

/**
 * The session of one object: its declared blocks, and those that the bot's code has added. The declaration is read when
 * it is first needed.
 */
export class OwnSession implements Session, OwnCompaction {
  readonly emptySummary = "(Earlier messages are left out here. search_context finds them.)";
  readonly withoutUnloaded = withoutUnloaded;
  readonly #host: SessionHost;
  readonly #blocks = new Map<string, Block>();
  /** Labels of the blocks that `addContext` has added. */
  readonly #added = new Set<string>();
  #state: "new" | "declaring" | "ready" = "new";
  #isCached = false;
  #compactsAt: number | undefined;
  #compact: CompactFunction | undefined;

  constructor(host: SessionHost) {
    this.#host = host;
  }

  get isCached(): boolean {
    return this.#isCached;
  }

  get compactsAt(): number | undefined {
    this.isDeclared();
    return this.#compactsAt;
  }

  get compact(): CompactFunction | undefined {
    this.isDeclared();
    const compact = this.#compact;
    if (compact === undefined) return undefined;
    return async (messages) => {
      try {
        return await compact(messages);
      } catch (error) {
        logBotFailure(this.#host.log, "onCompaction", error);
        throw error;
      }
    };
  }

  /** The blocks, in the order of the prompt. */
  blocks(): readonly Block[] {
    this.declare();
    return [...this.#blocks.values()];
  }

  block(label: string): Block | undefined {
    this.declare();
    return this.#blocks.get(label);
  }

  /** Declares the session. A mistake is logged, and the bot goes on without memory: returns `false`. */
  isDeclared(): boolean {
    try {
      this.declare();
      return true;
    } catch (error) {
      logBotFailure(this.#host.log, "configureSession", error);
      return false;
    }
  }

  /**
   * Calls `configureSession`, unless it was called before.
   *
   * @throws {ConfigurationError} `context-invalid`
   */
  declare(): void {
    if (this.#state !== "new") return;
    this.#state = "declaring";
    try {
      const declared = this.#host.configure(this);
      if (declared instanceof Promise)
        throw invalid("configureSession() must not be asynchronous: read what it needs in a provider.");
      this.#state = "ready";
    } catch (error) {
      this.#state = "new";
      this.#blocks.clear();
      throw error;
    }
    for (const [label, block] of Object.entries(this.#readAdded())) {
      if (this.#blocks.has(label)) continue;
      this.#add(label, block);
      this.#added.add(label);
    }
  }

  withContext(label: string, block: ContextBlock = {}): this {
    if (this.#state !== "declaring")
      throw invalid("withContext() is for configureSession(). Use addContext().");
    this.#add(label, block);
    return this;
  }

  withCachedPrompt(): this {
    this.#isCached = true;
    return this;
  }

  onCompaction(compact: CompactFunction): this {
    this.#compact = compact;
    return this;
  }

  compactAfter(tokens: number): this {
    const most = this.#host.maxContextTokens();
    if (!Number.isInteger(tokens) || tokens < 1 || tokens > most)
      throw invalid(`compactAfter() takes a whole number of tokens from 1 to maxContextTokens (${most}).`);
    this.#compactsAt = tokens;
    return this;
  }

  async addContext(label: string, block: ContextBlock = {}): Promise<void> {
    this.declare();
    if (this.#blocks.has(label) && !this.#added.has(label))
      throw invalid(`configureSession() has a block "${label}". Give the other one another label.`);
    this.#blocks.delete(label);
    this.#add(label, block);
    this.#added.add(label);
    this.#keepAdded();
    this.#host.refresh();
  }

  removeContext(label: string): boolean {
    this.declare();
    if (!this.#added.delete(label)) return false;
    this.#blocks.delete(label);
    this.#keepAdded();
    this.#host.refresh();
    return true;
  }

  refreshSystemPrompt(): Promise<string> {
    this.#host.refresh();
    return this.#host.prompt();
  }

  async getContextBlock(label: string, about?: PersonOf): Promise<string> {
    return this.#host.read(this.#known(label), about);
  }

  async replaceContextBlock(label: string, text: string, about?: PersonOf): Promise<void> {
    await this.#host.write(this.#known(label), text, about, "replace");
  }

  async appendContextBlock(label: string, text: string, about?: PersonOf): Promise<void> {
    await this.#host.write(this.#known(label), text, about, "append");
  }

  search(query: string, { limit = 5 }: { readonly limit?: number } = {}): Promise<readonly FoundText[]> {
    return this.#host.search(query, limit);
  }

  #known(label: string): Block {
    const block = this.block(label);
    if (block !== undefined) return block;
    throw invalid(`There is no block "${label.slice(0, 40)}". Add it with withContext() or addContext().`);
  }

  #add(label: string, block: ContextBlock): void {
    const { consent, maxTokens = 1000, provider, scope = "conversation" } = block;
    if (!LABEL.test(label)) throw invalid('The label of a block has 1 to 40 letters, digits, "_" or "-".');
    const problem = optionProblem(block, BLOCK, { owner: `the block "${label}"` });
    if (problem !== undefined) throw invalid(problem);
    if (this.#blocks.has(label)) throw invalid(`There are two blocks "${label}".`);
    if (this.#blocks.size >= MOST_BLOCKS) throw invalid(`A session has at most ${MOST_BLOCKS} blocks.`);
    if (!Number.isInteger(maxTokens) || maxTokens < 1 || maxTokens > MOST_TOKENS)
      throw invalid(`maxTokens of "${label}" must be a whole number from 1 to ${MOST_TOKENS}.`);
    if (!["conversation", "person", "bot"].includes(scope))
      throw invalid(`The scope of "${label}" must be "conversation", "person" or "bot".`);
    if (provider !== undefined && (scope !== "conversation" || typeof provider.get !== "function"))
      throw invalid(`The provider of "${label}" needs a get(), and has no scope: it keeps its own text.`);
    if (consent === true && scope !== "person")
      throw invalid(`Only a block with scope "person" can ask for consent, and "${label}" has another one.`);
    this.#blocks.set(label, { ...block, label, maxTokens, scope });
  }

  #readAdded(): z.infer<typeof addedSchema> {
    const stored = this.#host.states().read(ADDED);
    // The states of the own object are read at once.
    if (stored === undefined || stored instanceof Promise) return {};
    return addedSchema.parse(JSON.parse(stored.value));
  }

  #keepAdded(): void {
    const kept = [...this.#added].flatMap((label) => {
      const { consent, description, maxTokens, provider, scope } = this.#blocks.get(label) ?? {};
      return provider === undefined ? [[label, { consent, description, maxTokens, scope }]] : [];
    });
    const value = kept.length === 0 ? undefined : JSON.stringify(Object.fromEntries(kept));
    void this.#host.states().write(ADDED, value === undefined ? undefined : { value, version: 1 }, "any");
  }
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError("context-invalid", message);
}
