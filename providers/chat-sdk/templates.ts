import type { Adapter } from "chat";
import { WINDOW_CLOSED } from "../../src/core/chat/window-closed.ts";
import type { IncomingEvent } from "../../src/core/chat/messenger.ts";
import { ChatSdkCallError } from "./errors/call-error.ts";
import type { DurableState } from "./state/durable-state.ts";
import { storedEvent } from "./events/stored-event.ts";
import type { ChatSdkTemplate, MessageWindow } from "./template.ts";

/** A message that is to be sent as a template. */
export interface TemplateContext {
  /** The text, in the platform's own format. */
  readonly text: string;
  readonly chatId: string;
}

export type ChooseTemplate = (message: TemplateContext) => ChatSdkTemplate | undefined;

const KEEP_MS = 90 * 24 * 60 * 60_000;
const keyOf = (threadId: string): string => `switchboard:heard:${threadId}`;

/** Posts messages as templates where the platform takes no others, because the person has not written for too long. */
export class Templates {
  readonly #choose: ChooseTemplate;
  readonly #window: MessageWindow;

  constructor(choose: ChooseTemplate, window: MessageWindow) {
    this.#choose = choose;
    this.#window = window;
  }

  /** Notes that people have written, or that a message was not delivered. */
  async note(events: readonly IncomingEvent[], state: DurableState, now: number): Promise<void> {
    for (const { raw, thread } of events) {
      const { data } = storedEvent.safeParse(raw);
      const heardAt =
        data?.type === "message"
          ? Math.min(now, data.message.sentAt)
          : data?.type === "action" || data?.type === "command"
            ? now
            : data?.type === "undelivered" && data.goneCode === WINDOW_CLOSED
              ? 0
              : undefined;
      if (heardAt !== undefined) await state.set(keyOf(thread.id), heardAt, KEEP_MS);
    }
  }

  /**
   * Posts a message, or a template. A message that is refused was certainly not sent.
   *
   * @param isClosed whether an error says that the platform takes templates only
   */
  async post(
    { chatId, text, threadId }: TemplateContext & { readonly threadId: string },
    adapter: Adapter,
    { now, state }: { readonly now: number; readonly state: DurableState },
    post: () => Promise<string>,
    isClosed: (error: unknown) => boolean,
  ): Promise<string> {
    if (await this.#isOver(threadId, state, now)) return this.#send({ chatId, text }, threadId, adapter);
    try {
      return await post();
    } catch (error) {
      if (!isClosed(error)) throw error;
      return this.#send({ chatId, text }, threadId, adapter);
    }
  }

  async #isOver(threadId: string, state: DurableState, now: number): Promise<boolean> {
    const ask = async (): Promise<boolean> => {
      const heardAt = await state.get<number>(keyOf(threadId));
      return heardAt !== null && now - heardAt >= this.#window.lastsMs;
    };
    try {
      if (!(await ask())) return false;
      // This object may remember an older time.
      state.forget();
      return await ask();
    } catch {
      throw new ChatSdkCallError("post", { kind: "transient", code: "state-unreachable" });
    }
  }

  async #send(context: TemplateContext, threadId: string, adapter: Adapter): Promise<string> {
    const template = this.#choose(context);
    if (template === undefined) throw new ChatSdkCallError("post", { kind: "gone", code: WINDOW_CLOSED });
    return this.#window.sendTemplate(adapter, threadId, template);
  }
}
