import type { ChatGate } from "../../core/gate.ts";
import { conversationNameOf, rootNameOf } from "../declare/conversation-name.ts";
import type { RootLink } from "../root/root-link.ts";
import { callsOver } from "./inner-calls.ts";
import type { InnerCalls, InnerDoor } from "./inner-calls.ts";

export interface BotObjectsOptions {
  /** The name of this object. */
  readonly name: () => string;
  /** Returns another object, by its name. */
  readonly stub: (name: string) => InnerDoor;
  /** The calls that this object answers. */
  readonly own: InnerCalls;
  /** The gate in this object. Created when it is needed first. */
  readonly ownGate: () => ChatGate;
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
    this.link = {
      gate: (conversation) => this.#gateOf(conversation),
      handOver: (name, messengerId, event) => this.#named(name).receiveEvents(messengerId, [event]),
      routeEvent: (...asked) => this.root().routeEvent(...asked),
      chatMoved: (...asked) => this.root().chatMoved(...asked),
      identity: (...asked) => this.root().identity(...asked),
      takeQuestion: (...asked) => this.root().takeQuestion(...asked),
      reportAccess: (...asked) => this.root().reportAccess(...asked),
      chatGone: (...asked) => this.root().chatGone(...asked),
      noteUsage: (...told) => this.root().noteUsage(...told),
      resolveTarget: (to) => this.root().resolveTarget(to),
      findSentFile: (file) => this.root().findSentFile(file),
      noteSentFile: (...told) => this.root().noteSentFile(...told),
      forgetSentFile: (...told) => this.root().forgetSentFile(...told),
    };
  }

  /** Whether this object is the root. */
  isRoot(): boolean {
    return this.conversation() === undefined;
  }

  /** The conversation of this object. Undefined at the root. */
  conversation(): string | undefined {
    return conversationNameOf(this.#options.name());
  }

  /** Returns the name of a conversation's object: that of the root itself for `""`. */
  nameOf(conversation: string): string {
    const root = rootNameOf(this.#options.name());
    return conversation === "" ? root : `${root}/${conversation}`;
  }

  /** Returns the calls to the root. */
  root(): InnerCalls {
    return this.callsTo("");
  }

  /** Returns the calls to a conversation: to the root itself for `""`. */
  callsTo(conversation: string): InnerCalls {
    const name = this.nameOf(conversation);
    return this.#isOwn(name) ? this.#options.own : this.#named(name);
  }

  #gateOf(conversation: string): ChatGate {
    const name = this.nameOf(conversation);
    return this.#isOwn(name) ? this.#options.ownGate() : this.#named(name);
  }

  #isOwn(name: string): boolean {
    return name === this.#options.name();
  }

  #named(name: string): InnerCalls {
    return callsOver(() => this.#options.stub(name));
  }
}
