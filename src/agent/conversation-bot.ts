import type { BotTexts } from "../core/text/bot-texts.ts";
import { runBotCode } from "../core/time/bot-code.ts";
import type { FeaturePress, PressAnswer } from "../core/chat/card-press.ts";
import { inTurnContext } from "../core/turn/turn-context.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import type { RenderAttachment } from "../messengers/turns/turn-attachments.ts";
import type { ObjectHost } from "./object-host.ts";
import type { ThreadBot } from "../messengers/thread/thread-runtime-options.ts";

/** The bot's own class as a conversation calls it, with the commands and presses of the product. */
export class ConversationBot implements ThreadBot {
  readonly #object: ObjectHost;

  constructor(object: ObjectHost) {
    this.#object = object;
  }

  get keepDeliveriesMs(): number {
    return this.#object.agent.keepDeliveriesMs;
  }

  get keepUsageMs(): number {
    return this.#object.agent.keepUsageMs;
  }

  commands(): ThinkCommands {
    return this.#object.commands();
  }

  ownerOf(command: string): string {
    const { agent, features } = this.#object;
    return command in agent.getCommands() ? "" : features.ownerOf(command);
  }

  texts(): BotTexts {
    return this.#object.agent.texts ?? {};
  }

  onAction(press: FeaturePress, owner: string | undefined): PressAnswer | Promise<PressAnswer> {
    const { handled: _handled, ...own } = press;
    return this.#object.features.pressed(press, owner) ?? this.#object.agent.onAction(own);
  }

  get onChatMember(): ThreadBot["onChatMember"] {
    const { agent } = this.#object;
    return agent.onChatMember && ((event) => agent.onChatMember?.(event));
  }

  get onReaction(): ThreadBot["onReaction"] {
    const { agent } = this.#object;
    return agent.onReaction && ((reaction) => agent.onReaction?.(reaction));
  }

  transcribes(): boolean {
    return this.#object.agent.transcribe !== undefined;
  }

  get renderAttachment(): RenderAttachment | undefined {
    const { agent, deps, log } = this.#object;
    if (agent.renderAttachment === undefined) return undefined;
    return (turnId, ...shown) => {
      const { thread } = this.#object;
      return runBotCode({ clock: deps.clock, log }, "renderAttachment", () =>
        inTurnContext(...thread.shownIn(turnId), () => agent.renderAttachment?.(...shown)),
      );
    };
  }
}
