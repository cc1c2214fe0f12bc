import { ConfigurationError } from "../../core/base/errors.ts";
import type { ObjectAddress } from "../declare/conversation-name.ts";
import type { BotObjects } from "./bot-objects.ts";
import type { ConversationClassStore } from "./conversation-class-store.ts";
import type { HealthWarning } from "./health/health-problem.ts";
import { OBJECT } from "./object-calls.ts";
import type { RootStore } from "./root-store.ts";

export interface ConversationClassesOptions {
  readonly objects: Pick<BotObjects, "rootClass" | "to">;
  readonly classes: ConversationClassStore;
  readonly store: Pick<RootStore, "conversation">;
}

/** Conversations that were given to the root's class in this process. In memory only. */
const MOST_REMEMBERED = 2000;

/**
 * The classes of conversations. A conversation stays with the object that has its memory, also when the bot's function
 * chooses another class later: the operator moves it (`switchboard data move`).
 */
export class ConversationClasses {
  readonly #options: ConversationClassesOptions;
  /** The directory lists them a moment later. */
  readonly #ofRootClass = new Set<string>();

  constructor(options: ConversationClassesOptions) {
    this.#options = options;
  }

  /**
   * Returns the address of the object that has a conversation, and gives a new one to the chosen class.
   *
   * @throws {ConfigurationError} `agent-class-not-bound`, `messenger-unknown`
   */
  async place({ className, conversation }: ObjectAddress, messengerId: string): Promise<string> {
    const { classes, objects } = this.#options;
    const rootClass = objects.rootClass();
    const chosenClass = className ?? rootClass;
    if (chosenClass === rootClass && classes.get(conversation) === undefined) {
      this.#remember(conversation);
      return conversation;
    }
    if (!this.#isKnown(conversation) && !(await this.#adopt(`${chosenClass}@${conversation}`, messengerId)))
      throw new ConfigurationError(
        "messenger-unknown",
        `conversation() chose the class ${chosenClass}, whose getMessengers() declares no "${messengerId}".`,
      );
    // Another event may have begun the conversation in the meantime.
    const stored = classes.get(conversation);
    const kept = stored?.className ?? (this.#isKnown(conversation) ? rootClass : chosenClass);
    if (stored?.chosenClass !== chosenClass) classes.put({ conversation, className: kept, chosenClass });
    return this.addressOf(conversation);
  }

  /** Returns the address of a conversation that exists. */
  addressOf(conversation: string): string {
    const { classes, objects } = this.#options;
    const className = classes.get(conversation)?.className ?? objects.rootClass();
    return className === objects.rootClass() ? conversation : `${className}@${conversation}`;
  }

  /** Returns what the operator can move. */
  warnings(): HealthWarning[] {
    return this.#options.classes.unlike().map(({ chosenClass, className, count }) => ({
      code: "conversation-class-kept",
      message: `Conversations that stay with the class ${className}, which has their memory, although conversation() chooses ${chosenClass} now: ${count}. \`switchboard data usage\` names them. To move one, stop the bot: switchboard data move <conversation> ${chosenClass}`,
    }));
  }

  /** Makes an object one of this bot. Resolves with `false` if its class has no such messenger. */
  #adopt(address: string, messengerId: string): Promise<boolean> {
    const { objects } = this.#options;
    return objects.to(OBJECT, address).belongTo(objects.rootClass(), messengerId);
  }

  #isKnown(conversation: string): boolean {
    const { classes, store } = this.#options;
    return (
      classes.get(conversation) !== undefined ||
      this.#ofRootClass.has(conversation) ||
      store.conversation(conversation) !== undefined
    );
  }

  #remember(conversation: string): void {
    this.#ofRootClass.add(conversation);
    const [oldest] = this.#ofRootClass;
    if (this.#ofRootClass.size > MOST_REMEMBERED && oldest !== undefined) this.#ofRootClass.delete(oldest);
  }
}
