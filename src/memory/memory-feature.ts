import { runBotCode } from "../core/time/bot-code.ts";
import { sayIn } from "../core/text/bot-texts.ts";
import type { BotTexts } from "../core/text/bot-texts.ts";
import type { FeaturePress, PressAnswer } from "../core/chat/card-press.ts";
import { ConfigurationError, failureCode } from "../core/base/errors.ts";
import { getMessengerContext, getTurn } from "../core/turn/turn-context.ts";
import { withinTime } from "../core/time/within-time.ts";
import type { ThinkActions } from "../actions/declare/action.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { FoundText, PersonOf, Session } from "../feature/session.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import { entriesOf, withEntry } from "./entries.ts";
import { MEMORY, MemoryCards } from "./memory-cards.ts";
import { MemoryPlaces } from "./memory-places.ts";
import { canSet, CHARACTERS_PER_TOKEN, memoryPrompt, textOfEntries } from "./memory-prompt.ts";
import type { ShownBlock } from "./memory-prompt.ts";
import { changeRecord, readRecord } from "./memory-record.ts";
import type { MemoryPlace, MemoryRecord } from "./memory-record.ts";
import { MemoryTools, refuseFull } from "./memory-tools.ts";
import type { MemoryToolsHost } from "./memory-tools.ts";
import { OwnSession } from "./own-session.ts";
import type { Block, SessionHost } from "./own-session.ts";
import { hasNoSpaces, searchTranscript } from "./search-transcript.ts";
import { messagesContaining } from "./transcript-store.ts";

/** The members of the bot's class that are about memory. */
interface MemoryMethods {
  readonly maxContextTokens: number;
  readonly texts?: BotTexts;
  configureSession?(session: Session): unknown;
}

/** Longest time that a turn waits for the root. */
const ROOT_MS = 5_000;

/**
 * Memory in one object: blocks of the prompt, the model's tools for them, search in the transcript, and `/memory`.
 *
 * 1. A turn reads and writes a person's memory only if it answers messages of that person alone.
 * 2. In a group it reads that memory only if the person has said so.
 * 3. Only the bot's code writes the bot's memory.
 */
export class MemoryFeature implements Feature, SessionHost, MemoryToolsHost {
  readonly name = MEMORY;
  readonly session: OwnSession;
  readonly places: MemoryPlaces;
  readonly questions: MemoryCards;
  readonly #host: FeatureHost<MemoryMethods>;
  readonly #tools: MemoryTools;
  /** The prompt of the newest turn. */
  #prompted: { readonly turnId: string; readonly text: string } | undefined;

  constructor(host: FeatureHost<unknown>) {
    // Every bot has these members.
    this.#host = host as FeatureHost<MemoryMethods>;
    this.places = new MemoryPlaces(host);
    this.session = new OwnSession(this);
    this.questions = new MemoryCards(this.#host, this);
    this.#tools = new MemoryTools(this);
  }

  get log(): FeatureHost<unknown>["log"] {
    return this.#host.log;
  }

  get check(): NonNullable<Feature["check"]> {
    return { method: "configureSession", run: this.session.declare.bind(this.session) };
  }

  commands(): ThinkCommands {
    return this.questions.commands();
  }

  pressed(press: FeaturePress): Promise<PressAnswer> | undefined {
    return this.questions.pressed(press);
  }

  actions(): ThinkActions {
    return this.session.isDeclared() ? this.#tools.actions() : {};
  }

  async prompt(): Promise<string> {
    if (!this.session.isDeclared()) return "";
    const turnId = getTurn()?.id ?? "";
    if (turnId !== "" && this.#prompted?.turnId === turnId) return this.#prompted.text;
    const blocks = this.session.blocks();
    const shown = await Promise.all(blocks.map((block) => this.#show(block)));
    const text = memoryPrompt(shown.flat(), blocks.some(canSet));
    this.#prompted = { turnId, text };
    return text;
  }

  configure(session: Session): unknown {
    return this.#host.agent.configureSession?.(session);
  }

  states(): ReturnType<SessionHost["states"]> {
    return this.#host.actions.states;
  }

  maxContextTokens(): number {
    return this.#host.agent.maxContextTokens;
  }

  now(): number {
    return this.#host.deps.clock.now();
  }

  askWords(text: string): string {
    const language = getMessengerContext()?.author?.language;
    return sayIn(this.#host.agent.texts ?? {}, language)("memoryAsk", { text });
  }

  refresh(): void {
    this.#prompted = undefined;
  }

  /** A block has another text. */
  changed(): void {
    if (!this.session.isCached) this.refresh();
  }

  async read(block: Block, about: PersonOf | undefined): Promise<string> {
    if (block.provider !== undefined) return (await block.provider.get()) ?? "";
    const { entries } = await readRecord(this.#placeOf(block, about));
    return entries.flatMap((entry) => (entry.block === block.label ? [entry.text] : [])).join("\n");
  }

  async write(
    block: Block,
    text: string,
    about: PersonOf | undefined,
    how: "replace" | "append",
  ): Promise<void> {
    const { provider } = block;
    if (provider !== undefined) {
      if (provider.set === undefined)
        throw new ConfigurationError("context-invalid", `The provider of "${block.label}" has no set().`);
      await provider.set(how === "append" ? `${(await provider.get()) ?? ""}\n${text}`.trim() : text);
      this.changed();
      return;
    }
    const { deps } = this.#host;
    const entry = {
      id: deps.newId().slice(0, 6),
      block: block.label,
      text,
      source: "code",
      at: deps.clock.now(),
    } as const;
    await changeRecord(this.#placeOf(block, about), (record) => {
      const others = record.entries.filter(({ block: label }) => label !== block.label);
      const before = how === "replace" ? { ...record, entries: others } : record;
      const after = text === "" ? before : withEntry(before, block, entry);
      return { record: after ?? refuseFull(block), result: undefined };
    });
    this.changed();
  }

  async search(query: string, limit: number): Promise<readonly FoundText[]> {
    const { database, engine, thread } = this.#host;
    const session = thread.memory.session();
    const question = `${getTurn()?.id ?? ""}:question`;
    const found = await searchTranscript(query, limit, async (word, most) => {
      const indexed = await engine.search(session, word, most);
      if (!hasNoSpaces(word)) return indexed;
      return messagesContaining(database, session, word, most).filter(({ id }) => !id.startsWith(question));
    });
    return found.map(({ content, role }) => ({ from: role === "user" ? "people" : "bot", text: content }));
  }

  async #show(block: Block): Promise<ShownBlock[]> {
    const most = block.maxTokens * CHARACTERS_PER_TOKEN;
    const { provider, scope } = block;
    if (provider !== undefined) {
      const text = await this.#provided(block);
      return text === undefined ? [] : [{ block, text: text.slice(0, most) }];
    }
    const reader = scope === "person" ? this.places.reader() : undefined;
    const place = this.places.of(block, reader?.person);
    if (place === undefined) return [];
    const record = await this.#record(place);
    const isShown = scope !== "person" || reader?.isPrivate === true || record?.isForGroups === true;
    const text = record === undefined ? "(cannot be read now)" : textOfEntries(entriesOf(record, block));
    return [{ block, text: isShown ? text : "", ...(reader !== undefined && { of: reader.name }) }];
  }

  async #provided(block: Block): Promise<string | undefined> {
    const { deps, log } = this.#host;
    try {
      const text = await runBotCode({ clock: deps.clock, log }, `context ${block.label}`, () =>
        block.provider?.get(),
      );
      return text ?? "";
    } catch {
      // It is logged. The turn goes on without the block.
      return undefined;
    }
  }

  /** Returns a record. Undefined if the root cannot be reached: the turn goes on. */
  async #record(place: MemoryPlace): Promise<MemoryRecord | undefined> {
    const { deps, log } = this.#host;
    try {
      return await withinTime(deps.clock, ROOT_MS, readRecord(place), "memory");
    } catch (error) {
      log.warn("memory.read-failed", { code: failureCode(error) });
      return undefined;
    }
  }

  #placeOf(block: Block, about: PersonOf | undefined): MemoryPlace {
    const place = this.places.of(block, about ?? this.places.reader()?.person);
    if (place !== undefined) return place;
    throw new ConfigurationError(
      "context-invalid",
      `The block "${block.label}" is about a person: say about whom, because this turn does not answer one person alone.`,
    );
  }
}
