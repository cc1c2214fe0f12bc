import type { UIMessage } from "ai";
import type { ChatMove } from "../../core/chat/chat-move.ts";
import type { Delivery } from "../../core/chat/delivery.ts";
import type { Deps } from "../../core/base/deps.ts";
import { InvalidInputError, SwitchboardError } from "../../core/base/errors.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { PromptMetadata } from "../../core/turn/turn-info.ts";
import type {
  Prompt,
  PromptDeletion,
  PromptEnd,
  PromptState,
  PromptStore,
} from "../../inbox/prompt-store.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";

export interface PromptsOptions {
  readonly deps: Pick<Deps, "clock" | "newId">;
  readonly store: PromptStore;
  readonly messengers: Pick<DeclaredMessengers, "isDeclared">;
  /** Knows the present places of chats that have moved. */
  readonly delivery: Pick<Delivery, "movedTo">;
  /** Hears that the turn of a prompt ends, in its transaction. @default nobody */
  readonly runs?: { promptEnded(id: string): void };
}

/** A question of the bot's own code to the model. */
export interface PromptRequest {
  readonly kind: Prompt["kind"];
  /** @default a new id */
  readonly id?: string | undefined;
  /** Only the first of several requests with the same key is accepted. */
  readonly idempotencyKey?: string | undefined;
  readonly messages: readonly UIMessage[];
  readonly answerTo: readonly Address[];
  readonly metadata?: PromptMetadata | undefined;
  /** Hash of the content. A known prompt with another hash is a conflict. @default any content */
  readonly hash?: string | undefined;
  /** The channel of its turn. @default that of its chat */
  readonly channel?: string | undefined;
  /** Whether it asks the model to go on with its last answer. @default false */
  readonly continues?: boolean | undefined;
}

export interface AcceptedPrompt {
  readonly prompt: Prompt;
  /** Whether this request stored the prompt. `false` if an earlier request with the same id or key did. */
  readonly isNew: boolean;
}

/** Prompts that wait for a turn beside people's messages. Each is accepted once, and known until it is swept. */
export class Prompts {
  readonly #options: PromptsOptions;
  /** Callers that wait until the operation of a prompt begins, and until its turn ends. */
  readonly #begins = new Map<string, (() => void)[]>();
  readonly #ends = new Map<string, ((state: PromptEnd) => void)[]>();

  constructor(options: PromptsOptions) {
    this.#options = options;
  }

  /**
   * Stores a prompt, unless it is known (I2).
   *
   * @throws {InvalidInputError} `messenger-unknown` if its answer is for a messenger that the bot does not have
   * @throws {SwitchboardError} `submission-conflict` if the id and the key belong to two different prompts, or the known
   * prompt has other messages
   */
  accept({
    answerTo,
    channel,
    continues = false,
    hash,
    id,
    idempotencyKey,
    kind,
    messages,
    metadata,
  }: PromptRequest): AcceptedPrompt {
    const { delivery, deps, messengers, store } = this.#options;
    for (const { messengerId } of answerTo)
      if (!messengers.isDeclared(messengerId)) throw unknownMessenger(messengerId);
    const byKey = idempotencyKey === undefined ? undefined : store.byKey(idempotencyKey);
    const byId = id === undefined ? undefined : store.get(id);
    if (byKey !== undefined && id !== undefined && byKey.id !== id) throw conflict();
    if (byId !== undefined && idempotencyKey !== undefined && byId.idempotencyKey !== idempotencyKey)
      throw conflict();
    const known = byKey ?? byId;
    if (known !== undefined) {
      const isOther = hash !== undefined && known.hash !== undefined && hash !== known.hash;
      if (isOther) throw otherMessages();
      return { prompt: known, isNew: false };
    }
    const createdAt = deps.clock.now();
    const prompt = store.insert({
      id: id ?? deps.newId(),
      kind,
      idempotencyKey,
      messages,
      answerTo: answerTo.map((address) => ({
        ...address,
        ...delivery.movedTo(address.messengerId, address.chatId),
      })),
      metadata,
      createdAt,
      hash,
      channel,
      continues,
    });
    return { prompt, isNew: true };
  }

  /** Whether an earlier request had this id or key. */
  isKnown(id: string | undefined, idempotencyKey: string | undefined): boolean {
    const { store } = this.#options;
    const byKey = idempotencyKey === undefined ? undefined : store.byKey(idempotencyKey);
    return (byKey ?? (id === undefined ? undefined : store.get(id))) !== undefined;
  }

  get(id: string): Prompt | undefined {
    return this.#options.store.get(id);
  }

  /** Returns the prompt that an earlier request with this key stored. */
  byKey(idempotencyKey: string): Prompt | undefined {
    return this.#options.store.byKey(idempotencyKey);
  }

  answerTo(id: string): readonly Address[] {
    return this.get(id)?.answerTo ?? [];
  }

  /** Returns the next prompt, if it came before this row of the inbox. */
  nextBefore(inboxSeq: number): Prompt | undefined {
    const next = this.#options.store.next();
    return next !== undefined && next.afterSeq < inboxSeq ? next : undefined;
  }

  /** Marks a prompt as running. The caller stores its turn in the same transaction. */
  start(id: string): void {
    this.#options.store.start(id, this.#options.deps.clock.now());
  }

  end(id: string, state: PromptEnd, error?: string): void {
    this.#options.store.end(id, state, this.#options.deps.clock.now(), error);
    this.settle(id);
    for (const resolve of this.#ends.get(id) ?? []) resolve(state);
    this.#ends.delete(id);
    this.#options.runs?.promptEnded(id);
  }

  list(filter: { readonly states?: readonly PromptState[]; readonly limit: number }): Prompt[] {
    return this.#options.store.list(filter);
  }

  /** Resolves when the operation of a prompt has begun, or never will. Lost if the object dies. */
  untilBegun(id: string): Promise<void> {
    return new Promise((resolve) => {
      this.#begins.set(id, [...(this.#begins.get(id) ?? []), resolve]);
    });
  }

  /** Releases callers of `untilBegun`: the operation has begun, or never will. */
  settle(id: string): void {
    for (const resolve of this.#begins.get(id) ?? []) resolve();
    this.#begins.delete(id);
  }

  /** Resolves when a prompt has ended. Lost if the object dies. */
  untilEnded(id: string): Promise<PromptEnd> {
    const state = this.get(id)?.state ?? "aborted";
    if (state !== "pending" && state !== "running") return Promise.resolve(state);
    return new Promise((resolve) => {
      this.#ends.set(id, [...(this.#ends.get(id) ?? []), resolve]);
    });
  }

  move(messengerId: string, move: ChatMove): void {
    this.#options.store.move(messengerId, move);
  }

  /** Forgets ended prompts, the oldest first. Returns their number. */
  remove(which: PromptDeletion): number {
    return this.#options.store.remove(which);
  }
}

function unknownMessenger(messengerId: string): InvalidInputError {
  return new InvalidInputError(
    "messenger-unknown",
    `The answer is for the messenger "${messengerId}", which getMessengers() does not have.`,
  );
}

function conflict(): SwitchboardError {
  return new SwitchboardError(
    "submission-conflict",
    "The submission's id and its idempotency key belong to different submissions. Use one of them, or both as in the first call.",
  );
}

function otherMessages(): SwitchboardError {
  return new SwitchboardError(
    "submission-conflict",
    "An earlier submission with this id or idempotency key had other messages or metadata. Use a new key for other work.",
  );
}
