import type { RichText, TextFormat, TextLimits } from "../../src/core/message/rich-text.ts";
import type {
  ActionNotice,
  Address,
  CallFailure,
  CallOptions,
  Drafts,
  NativeStream,
  OutgoingContent,
  OutgoingMedia,
  OutgoingMessage,
  Pacing,
  PostedMessage,
  PostSearch,
  Press,
  ProbeOptions,
  Probing,
  RichMessages,
  Surface,
  SurfaceCapabilities,
} from "../../src/core/chat/surface.ts";
import { FakeFailure } from "./fake-platform.ts";
import { keepPicture, requireKnown } from "./fake-pictures.ts";
import { fakeMarks } from "./fake-marks.ts";
import { fakeSearch, rememberedPost } from "./fake-search.ts";
import { fakeStream } from "./fake-stream.ts";
import { checkFakeText } from "./fake-text.ts";
import type {
  FakeCall,
  FakeDraft,
  FakeMessage,
  FakeMethod,
  FakeSurface,
  FakeSurfaceOptions,
  Fault,
} from "./fake-platform.ts";

export { FakeFailure } from "./fake-platform.ts";
export type {
  FakeCall,
  FakeMessage,
  FakeMethod,
  FakeSurface,
  FakeSurfaceOptions,
  Fault,
} from "./fake-platform.ts";

export const ROOMY_PACING: Pacing = {
  direct: { burst: 1000, everyMs: 1 },
  group: { burst: 1000, everyMs: 1 },
  global: { burst: 1000, everyMs: 1 },
};

function labelsOf({ buttons }: Pick<OutgoingContent, "buttons">): readonly (readonly string[])[] | undefined {
  return buttons?.map((row) => row.map(({ label }) => label));
}

interface Platform {
  readonly chats: Map<string, FakeMessage[]>;
  readonly calls: FakeCall[];
  readonly breaches: FakeCall[];
  readonly faults: Map<FakeMethod, (Fault | undefined)[]>;
  readonly always: Map<FakeMethod, { readonly fault: Fault; readonly isMeant: (call: FakeCall) => boolean }>;
  readonly penalties: Map<string, number>;
  readonly drafts: Map<string, FakeDraft>;
  richRefusal?: string | undefined;
  lastId: number;
  readonly deleted: Set<string>;
  readonly fileIds: Set<string>;
}

export function createFakeSurface(options: FakeSurfaceOptions): FakeSurface {
  const platform: Platform = {
    chats: new Map(),
    calls: [],
    breaches: [],
    faults: new Map(),
    always: new Map(),
    penalties: new Map(),
    drafts: new Map(),
    lastId: 100,
    deleted: new Set(),
    fileIds: new Set(),
  };
  return new MemorySurface(options, platform);
}

class MemorySurface implements FakeSurface {
  readonly provider = "fake";
  readonly capabilities: SurfaceCapabilities;
  readonly format: TextFormat;
  readonly limits: TextLimits;
  readonly pacing: Pacing;
  readonly typingLastsMs: number;
  readonly probing: Probing | undefined;
  readonly search?: PostSearch;
  readonly drafts: Drafts | undefined;
  readonly stream: NativeStream | undefined;
  readonly react: Surface["react"];
  readonly pin: Surface["pin"];
  readonly rich: RichMessages | undefined;
  readonly #options: FakeSurfaceOptions;
  readonly #platform: Platform;

  constructor(options: FakeSurfaceOptions, platform: Platform) {
    Object.assign(this, options.defaults);
    this.#options = options;
    this.#platform = platform;
    this.capabilities = { edit: true, remove: true, typing: true, buttons: true, ...options.capabilities };
    this.format = options.format ?? "telegram-entities";
    this.limits = options.limits ?? { maxLength: 4096, maxEntities: 100 };
    this.pacing = options.pacing ?? ROOMY_PACING;
    this.typingLastsMs = options.typingLastsMs ?? 5_000;
    this.drafts = options.draftLastsMs === undefined ? undefined : this.#drafts(options.draftLastsMs);
    this.rich = options.rich && {
      limits: options.rich,
      unsupportedCode: "rich-unsupported",
      refusedCode: "rich-refused",
      doubtfulCode: "rich-doubtful",
    };
    if (options.marks !== false)
      ({ pin: this.pin, react: this.react } = fakeMarks({
        call: (...call) => this.#call(...call),
        messages: (chatId) => this.#chat(chatId),
      }));
    this.stream =
      options.streams !== true
        ? undefined
        : fakeStream({
            call: (...call) => this.#call(...call),
            find: (chatId, messageId) => this.#find(chatId, messageId),
            add: (chatId, message) => {
              this.#platform.lastId += 1;
              const id = String(this.#platform.lastId);
              this.#chat(chatId).push({ id, ...message });
              return id;
            },
            check: (content) => this.#checkText(content),
          });
    if (options.search !== undefined)
      this.search = fakeSearch(options.search, {
        call: (...call) => this.#call(...call),
        messages: (chatId) => this.#chat(chatId),
      });
    const { probing = false } = options;
    this.probing =
      probing === false
        ? undefined
        : {
            box: ({ chatId }) => (probing === "own-box" ? chatId : "common"),
            probe: (...call) => this.#probe(...call),
          };
  }

  get calls(): readonly FakeCall[] {
    return this.#platform.calls;
  }

  get penaltyBreaches(): readonly FakeCall[] {
    return this.#platform.breaches;
  }

  fault(method: FakeMethod, ...faults: readonly (Fault | undefined)[]): void {
    this.#platform.faults.set(method, [...(this.#platform.faults.get(method) ?? []), ...faults]);
  }

  faultAlways(
    method: FakeMethod,
    fault: Fault | undefined,
    isMeant: (call: FakeCall) => boolean = () => true,
  ): void {
    if (fault === undefined) this.#platform.always.delete(method);
    else this.#platform.always.set(method, { fault, isMeant });
  }

  refuseRich(code: string | undefined): void {
    this.#platform.richRefusal = code;
  }

  messages(chatId: string): readonly FakeMessage[] {
    return this.#chat(chatId);
  }

  visible(chatId: string): readonly string[] {
    return this.#chat(chatId).map(({ text }) => text);
  }

  draft(chatId: string): string | undefined {
    const draft = this.#platform.drafts.get(chatId);
    return draft !== undefined && draft.until > this.#options.clock.now() ? draft.text : undefined;
  }

  numberForOther(): string {
    this.#platform.lastId += 1;
    return String(this.#platform.lastId);
  }

  postForeign(chatId: string, text: string): string {
    const id = this.numberForOther();
    this.#chat(chatId).push({ id, text, entities: [] });
    return id;
  }

  deleteMessage(chatId: string, messageId: string): void {
    this.#platform.deleted.add(messageId);
    this.#platform.chats.set(
      chatId,
      this.#chat(chatId).filter(({ id }) => id !== messageId),
    );
  }

  keyboards(chatId: string): readonly (readonly (readonly string[])[] | undefined)[] {
    return this.#chat(chatId).map(labelsOf);
  }

  lockMessages(chatId: string): void {
    for (const message of this.#chat(chatId)) message.isLocked = true;
  }

  connect(options: Pick<FakeSurfaceOptions, "clock" | "onBoundary">): FakeSurface {
    return new MemorySurface({ ...this.#options, ...options }, this.#platform);
  }

  async post(address: Address, message: OutgoingMessage, options: CallOptions): Promise<PostedMessage> {
    const { text, entities, blocks, buttons, files, image, location, protect, replyTo, silent } = message;
    const isRich = blocks !== undefined;
    const call = {
      chatId: address.chatId,
      text,
      entities: entities.length,
      replyTo,
      isRich,
      buttons: labelsOf(message),
      ...(files !== undefined && { files: files.map(({ kind, source }) => `${kind} by ${source.kind}`) }),
      ...(silent !== undefined && { silent }),
      ...(protect !== undefined && { protect }),
    };
    return this.#call("post", call, options, () => {
      if (files === undefined && location === undefined) this.#checkText(message);
      this.#platform.drafts.delete(address.chatId);
      const at = this.#options.clock.now();
      const first = rememberedPost(this.#options.search, this.#chat(address.chatId), message.key, at);
      if (first !== undefined) return { messageId: first.id };
      if (files !== undefined) return this.#postFiles(address.chatId, message, files);
      requireKnown(this.#platform.fileIds, image);
      this.#platform.lastId += 1;
      const id = String(this.#platform.lastId);
      this.#chat(address.chatId).push({
        id,
        text,
        entities,
        blocks,
        buttons,
        image,
        location,
        key: message.key,
        at,
      });
      return {
        messageId: id,
        ...(image !== undefined && { fileIds: [keepPicture(this.#platform.fileIds, image)] }),
      };
    });
  }

  knowFile(fileId: string): void {
    this.#platform.fileIds.add(fileId);
  }

  /** As real platforms do: each file of an album is a message, and only an id that is known is taken. */
  #postFiles(
    chatId: string,
    { text, entities }: OutgoingMessage,
    files: readonly OutgoingMedia[],
  ): PostedMessage {
    const refused = files.find(
      ({ source }) => source.kind === "platform" && !this.#platform.fileIds.has(source.fileId),
    );
    if (refused !== undefined)
      throw new FakeFailure({ kind: "rejected", code: "file-id-refused", about: "file-id" });
    const ids = files.map((file, index) => {
      this.#platform.lastId += 1;
      const id = String(this.#platform.lastId);
      const caption = index === 0 ? { text, entities } : { text: "", entities: [] };
      this.#chat(chatId).push({ id, ...caption, file });
      return id;
    });
    const fileIds = files.map(({ source }) =>
      source.kind === "bytes"
        ? `file:${source.hash}`
        : source.kind === "platform"
          ? source.fileId
          : "file:address",
    );
    for (const id of fileIds) this.#platform.fileIds.add(id);
    const [messageId = ""] = ids;
    return { messageId, fileIds, ...(ids.length > 1 && { messageIds: ids }) };
  }

  forgetFileIds(): void {
    this.#platform.fileIds.clear();
  }

  #drafts(lastsMs: number): Drafts {
    return {
      lastsMs,
      show: async ({ chatId }, draft, options) => {
        const isRich = draft.blocks !== undefined;
        const call = { chatId, text: draft.text, entities: draft.entities.length, isRich };
        await this.#call("draft", call, options, () => {
          this.#checkText(draft);
          if (draft.id < 1) throw new FakeFailure({ kind: "rejected", code: "draft-id" });
          const until = this.#options.clock.now() + lastsMs;
          this.#platform.drafts.set(chatId, { id: draft.id, text: draft.text, until });
        });
      },
    };
  }

  async edit(
    address: Address,
    messageId: string,
    message: OutgoingContent,
    options: CallOptions,
  ): Promise<void> {
    const { text, entities, blocks, buttons, files, image, location, isCaption = false } = message;
    const isRich = blocks !== undefined;
    await this.#call(
      "edit",
      {
        chatId: address.chatId,
        messageId,
        text,
        entities: entities.length,
        isRich,
        buttons: labelsOf(message),
      },
      options,
      () => {
        const found = this.#find(address.chatId, messageId);
        if (found.location !== undefined || location !== undefined)
          throw new FakeFailure({ kind: "rejected", code: "other-form" });
        if (found.file === undefined) this.#checkText(message);
        if ((found.file !== undefined) !== (files !== undefined))
          throw new FakeFailure({ kind: "rejected", code: "other-form" });
        if ((found.image !== undefined) !== (image !== undefined || isCaption))
          throw new FakeFailure({ kind: "rejected", code: "other-form" });
        if (found.isStreaming === true) throw new FakeFailure({ kind: "rejected", code: "streaming" });
        requireKnown(this.#platform.fileIds, image);
        const shownImage = isCaption ? found.image : image;
        const isSame =
          JSON.stringify([found.entities, found.blocks, found.buttons, found.image]) ===
          JSON.stringify([entities, blocks, buttons, shownImage]);
        if (found.text === text && isSame) {
          throw new FakeFailure({ kind: "unchanged", code: "not-modified" });
        }
        found.text = text;
        found.entities = entities;
        found.blocks = blocks;
        found.buttons = buttons;
        found.image = shownImage;
      },
    );
  }

  async remove(address: Address, messageId: string, options: CallOptions): Promise<void> {
    await this.#call("remove", { chatId: address.chatId, messageId }, options, () => {
      const { isLocked } = this.#find(address.chatId, messageId);
      if (isLocked === true) throw new FakeFailure({ kind: "missing", code: "locked", isLocked });
      this.deleteMessage(address.chatId, messageId);
    });
  }

  async typing(address: Address, options: CallOptions): Promise<void> {
    await this.#call("typing", { chatId: address.chatId }, options, () => {});
  }

  async answerAction(
    address: Address,
    press: Press,
    notice: ActionNotice | undefined,
    options: CallOptions,
  ): Promise<void> {
    const call = { chatId: address.chatId, messageId: press.id, text: notice?.text };
    await this.#call("answer", call, options, () => {});
  }

  classifyError(error: unknown): CallFailure {
    return error instanceof FakeFailure ? error.failure : { kind: "unknown", code: "connection-cut" };
  }

  async #probe(
    address: Address,
    messageId: string,
    options: ProbeOptions,
  ): Promise<"own" | "other" | "none"> {
    const isCertain = this.probing?.box(address) === address.chatId;
    return this.#call("probe", { chatId: address.chatId, messageId }, options, () => {
      const own = this.#chat(address.chatId).find(({ id }) => id === messageId);
      // The question is an edit of the keyboard.
      if (own !== undefined) own.buttons = options.buttons;
      if (own !== undefined) return "own";
      const isGone = this.#platform.deleted.has(messageId) || Number(messageId) > this.#platform.lastId;
      return isCertain && isGone ? "none" : "other";
    });
  }

  async #call<Value>(
    method: FakeMethod,
    what: Omit<FakeCall, "at" | "method" | "outcome">,
    { signal }: CallOptions,
    act: () => Value,
  ): Promise<Value> {
    const { clock, latencyMs = 0, onBoundary } = this.#options;
    onBoundary?.("before", method);
    const call: FakeCall = { at: clock.now(), method, ...what, outcome: "pending" };
    this.#platform.calls.push(call);
    const always = this.#platform.always.get(method);
    let fault = always?.isMeant(call) === true ? always.fault : this.#platform.faults.get(method)?.shift();
    const retryAfterMs = (this.#platform.penalties.get(what.chatId) ?? 0) - clock.now();
    if (retryAfterMs > 0 && (method !== "answer" || this.capabilities.privateWords === "message")) {
      this.#platform.breaches.push(call);
      fault = { kind: "fail", failure: { kind: "retry-after", code: "429", retryAfterMs } };
    }
    try {
      const value = await this.#meet(fault, latencyMs, signal, what.chatId, act);
      onBoundary?.("after", method);
      call.outcome = "done";
      return value;
    } catch (error) {
      call.outcome = this.classifyError(error).kind;
      throw error;
    }
  }

  async #meet<Value>(
    fault: Fault | undefined,
    latencyMs: number,
    signal: AbortSignal,
    chatId: string,
    act: () => Value,
  ): Promise<Value> {
    switch (fault?.kind) {
      case undefined:
        await this.#wait(latencyMs, signal);
        return act();
      case "slow":
        await this.#wait(fault.latencyMs, signal);
        return act();
      case "fail":
        await this.#wait(latencyMs, signal);
        if (fault.failure.kind === "retry-after") {
          this.#platform.penalties.set(chatId, this.#options.clock.now() + fault.failure.retryAfterMs);
        }
        throw new FakeFailure(fault.failure);
      case "lose":
        await this.#wait(latencyMs, signal);
        if (fault.done) act();
        throw new Error("connection cut");
      case "hang": {
        const { answerAfterMs, failure } = fault;
        if (answerAfterMs === undefined) return new Promise(() => {});
        await this.#wait(answerAfterMs, undefined);
        if (failure !== undefined) throw new FakeFailure(failure);
        return act();
      }
      default:
        return fault satisfies never;
    }
  }

  /** Ends with an error when the signal aborts, as a request does; without a signal nothing can end it. */
  async #wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#options;
    if (delayMs === 0) return;
    await new Promise<void>((resolve, reject) => {
      const timer = clock.setTimeout(resolve, delayMs);
      signal?.addEventListener("abort", () => {
        clock.clearTimeout(timer);
        reject(new Error("aborted"));
      });
    });
  }

  #checkText(content: RichText): void {
    checkFakeText(content, { rich: this.rich, limits: this.limits, refusal: this.#platform.richRefusal });
  }

  #find(chatId: string, messageId: string): FakeMessage {
    const found = this.#chat(chatId).find(({ id }) => id === messageId);
    if (found === undefined) throw new FakeFailure({ kind: "missing", code: "not-found" });
    return found;
  }

  #chat(chatId: string): FakeMessage[] {
    const chat = this.#platform.chats.get(chatId) ?? [];
    this.#platform.chats.set(chatId, chat);
    return chat;
  }
}
