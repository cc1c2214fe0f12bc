import type { CompactFunction } from "../turn/model/own-compaction.ts";

/**
 * The memory of a conversation, for the bot's own code: blocks of the system prompt, compaction of the transcript, and
 * search in it. `configureSession` declares it, `this.session` has it later.
 */
export interface Session {
  /**
   * Adds a block to the system prompt. Call it in `configureSession`.
   *
   * @throws {ConfigurationError} `context-invalid`
   */
  withContext(label: string, block?: ContextBlock): Session;
  /**
   * Keeps the text of the blocks the same through a whole turn, so that the provider's cache of the prompt holds. Changes
   * that the turn itself makes are in the prompt of the next one.
   *
   * @default blocks that the model has changed are read again within the turn
   */
  withCachedPrompt(): Session;
  /** Replaces the summary of the bot's model. A call that fails replaces nothing, and is made again later. */
  onCompaction(compact: CompactFunction): Session;
  /**
   * Sets the length at which the transcript is compacted, in tokens.
   *
   * @default three quarters of `maxContextTokens`
   * @throws {ConfigurationError} `context-invalid`
   */
  compactAfter(tokens: number): Session;
  /**
   * Adds a block from the next model call on. A block without a provider stays when the object starts again; add one with
   * a provider in `onStart`.
   *
   * @throws {ConfigurationError} `context-invalid`
   */
  addContext(label: string, block?: ContextBlock): Promise<void>;
  /**
   * Removes a block that `addContext` has added. Returns `false` if there is none. Its text stays stored, and is back when
   * the block is added again.
   */
  removeContext(label: string): boolean;
  /** Reads all blocks again for the next model call. Returns their part of the prompt. */
  refreshSystemPrompt(): Promise<string>;
  /** Returns the text of a block, one entry a line. */
  getContextBlock(label: string, about?: PersonOf): Promise<string>;
  /**
   * Replaces the text of a block by one entry. An empty text empties it.
   *
   * @param about required for a block of a person, outside of a turn that answers one person
   * @throws {ConfigurationError} `context-invalid`, `context-full`
   */
  replaceContextBlock(label: string, text: string, about?: PersonOf): Promise<void>;
  /** Adds an entry to a block. Otherwise as `replaceContextBlock`. */
  appendContextBlock(label: string, text: string, about?: PersonOf): Promise<void>;
  /** Finds messages of this conversation by the words of a question, the best first. @param options `limit` default 5 */
  search(query: string, options?: { readonly limit?: number }): Promise<readonly FoundText[]>;
}

/** A block of the system prompt. */
export interface ContextBlock {
  /** Tells the model what belongs there. @default none */
  readonly description?: string;
  /** Most tokens of the block. Longer texts of a provider are cut. @default 1000 */
  readonly maxTokens?: number;
  /**
   * Whose memory it is: that of the conversation until `/new`, of a person in all their conversations, or of the bot,
   * which only its own code writes.
   *
   * @default "conversation"
   */
  readonly scope?: "conversation" | "person" | "bot";
  /** Whether a person is asked before something is kept about them. Only with `scope: "person"`. @default false */
  readonly consent?: boolean;
  /** Where the text comes from. @default the model and the bot's code write it, entry by entry */
  readonly provider?: ContextProvider;
}

/** The text of a block that the bot's own code keeps. The model can do what the provider has a method for. */
export interface ContextProvider {
  /** Returns the text for the prompt. Called once in a turn. */
  get(): string | null | undefined | Promise<string | null | undefined>;
  /** Replaces the text, or that of a key: `set_context`. */
  set?(content: string, key?: string): void | Promise<void>;
  /** Finds texts: `search_context`. */
  search?(query: string): SearchResult | Promise<SearchResult>;
  /** Returns the text of a key that `get` names: `load_context`. `unload_context` drops it from later requests. */
  load?(key: string): string | null | undefined | Promise<string | null | undefined>;
}

/** Texts that a provider has found. */
export type SearchResult = string | readonly string[] | null | undefined;

/** A person of a messenger. */
export interface PersonOf {
  readonly messenger: string;
  readonly userId: string;
}

/** A message of the conversation that a search has found. */
export interface FoundText {
  readonly from: "people" | "bot";
  readonly text: string;
}
