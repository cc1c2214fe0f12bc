import type { Clock } from "../../core/base/deps.ts";
import { GATE } from "../../core/chat/gate.ts";
import type { ChatGate } from "../../core/chat/gate.ts";
import { answerOf, callsOver } from "../../core/chat/inner-calls.ts";
import type { CallGroup, InnerDoor } from "../../core/chat/inner-calls.ts";
import type { IncomingEvent } from "../../core/chat/messenger.ts";
import { conversationNameOf, parseObjectAddress, rootNameOf } from "../declare/conversation-name.ts";
import { ROOT, THREAD } from "./root-link.ts";
import type { RootLink } from "./root-link.ts";

export interface BotObjectsOptions {
  readonly name: () => string;
  readonly className: string;
  /** The class of the bot's root. Another one if this object was made by `subAgent` with a class of its own. */
  readonly rootClass: () => string;
  /** Returns another object. */
  readonly stub: (className: string, name: string) => InnerDoor;
  /** Returns the object that answers the calls of a group here. */
  readonly own: (group: string) => object;
  readonly clock: Clock;
}

/**
 * The objects of one bot, as one of them calls them: the root, and one object for each conversation. A call to this
 * object itself is a function call.
 */
export class BotObjects {
  /** The calls that a conversation makes to its root, to gates and to other objects. */
  readonly link: RootLink;
  readonly #options: BotObjectsOptions;

  constructor(options: BotObjectsOptions) {
    this.#options = options;
    const beside: Pick<RootLink, "gate" | "handOver"> = {
      gate: (conversation): ChatGate => this.to(GATE, conversation),
      handOver: (name, messengerId, event: IncomingEvent) =>
        this.to(THREAD, conversationNameOf(name) ?? "").receiveEvents(messengerId, [event]),
    };
    this.link = new Proxy(beside as RootLink, {
      get: (own, method, receiver) =>
        typeof method !== "string" || method in own
          ? (Reflect.get(own, method, receiver) as unknown)
          : answerOf(this.root(ROOT), method),
    });
  }

  rootClass(): string {
    return this.#options.rootClass();
  }

  isRoot(): boolean {
    return this.conversation() === undefined;
  }

  /** The conversation of this object. Undefined at the root. */
  conversation(): string | undefined {
    return conversationNameOf(this.#options.name());
  }

  /**
   * Where other objects of the bot reach this one: its conversation, after its class if that is not the class of the root.
   * `""` at the root.
   */
  address(): string {
    const { className, rootClass } = this.#options;
    const conversation = this.conversation() ?? "";
    return className === rootClass() ? conversation : `${className}@${conversation}`;
  }

  /** The name of this object in its chats: that of its root, and its address. */
  speaker(): string {
    return this.nameOf(this.address());
  }

  /** Returns the name of a conversation's object: that of the root itself for `""`. */
  nameOf(conversation: string): string {
    const root = rootNameOf(this.#options.name());
    return conversation === "" ? root : `${root}/${conversation}`;
  }

  root<Calls extends object>(group: CallGroup<Calls>): Calls {
    return this.to(group, "");
  }

  /**
   * Returns the calls of a group to another object of the bot.
   *
   * @param address a conversation, as `address` has it
   */
  to<Calls extends object>(group: CallGroup<Calls>, address: string): Calls {
    const { className: ownClass, name: ownName, own, rootClass } = this.#options;
    const { className: named = rootClass(), conversation } = parseObjectAddress(address);
    const name = this.nameOf(conversation);
    return name === ownName() && named === ownClass
      ? (own(group.name) as Calls)
      : this.#named(group, named, name);
  }

  /** Returns the calls of a group to an object below a root: the caller's own, or another root of the same bot. */
  beside<Calls extends object>(group: CallGroup<Calls>, conversation: string, root?: string): Calls {
    if (root === undefined || root === rootNameOf(this.#options.name())) return this.to(group, conversation);
    return this.#named(group, this.rootClass(), conversation === "" ? root : `${root}/${conversation}`);
  }

  #named<Calls extends object>(group: CallGroup<Calls>, className: string, name: string): Calls {
    return callsOver(group, () => this.#options.stub(className, name), this.#options.clock);
  }
}
