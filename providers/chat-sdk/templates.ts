import type { Adapter } from "chat";
import { WINDOW_CLOSED } from "../../src/core/chat/window-closed.ts";
import type { IncomingEvent } from "../../src/core/chat/messenger.ts";
import { ChatSdkCallError } from "./errors/call-error.ts";
import type { DurableState } from "./state/durable-state.ts";
import { storedEvent } from "./events/stored-event.ts";
import { type ChatSdkTemplate, HEARD, type MessageWindow } from "./template.ts";

/** A message that is to be sent as a template. */
export interface TemplateContext {
  /** The text, in the platform's own format. */
  readonly text: string;
  readonly chatId: string;
}

export type ChooseTemplate = (message: TemplateContext) => ChatSdkTemplate | undefined;

const keyOf = (threadId: string): string => `${HEARD}:${threadId}`;
const SINCE = `${HEARD}-since`;

/**
 * Posts messages as templates where the platform takes no others, because the person has not written for too long. A
 * note lasts as long as the window. Without one it is over, if the bot has noted for that long.
 */
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
      if (heardAt === undefined) continue;
      const { lastsMs } = this.#window;
      // A message may come after a later one.
      if (heardAt > 0 && ((await state.get<number>(keyOf(thread.id))) ?? 0) > heardAt) continue;
      await state.set(keyOf(thread.id), heardAt, lastsMs);
      const [since = now] = (await state.get<readonly number[]>(SINCE)) ?? [];
      // With the day it is stored again, and the oldest rows go first to make room.
      await state.set(SINCE, [since, Math.floor(now / lastsMs)]);
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
      const [since = now] =
        heardAt === null ? ((await state.get<readonly number[]>(SINCE)) ?? []) : [heardAt];
      return now - since >= this.#window.lastsMs;
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
