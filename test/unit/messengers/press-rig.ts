import { createChatGate, RootBudget } from "../../../delivery/index.ts";
import type { Feature } from "../../../src/feature/feature.ts";
import { FeatureList } from "../../../src/feature/feature-list.ts";
import type { FeaturePress, PressAnswer } from "../../../src/core/chat/card-press.ts";
import type { ReadyContent } from "../../../src/messengers/replies/cards.ts";
import type { CardContent, Content } from "../../../src/core/message/content.ts";
import type { ChatGate } from "../../../src/core/chat/gate.ts";
import { createLog } from "../../../src/core/base/log.ts";
import type { IncomingEvent, MessengerDefinition } from "../../../src/core/chat/messenger.ts";
import type { MessengerEvent, MessengerThread } from "../../../src/core/chat/messenger-event.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import type { ThinkCommands } from "../../../src/messengers/declare/commands.ts";
import { threadConversationName } from "../../../src/messengers/declare/conversation-name.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { ThreadRuntime } from "../../../src/messengers/thread/thread-runtime.ts";
import { addressOf } from "../../../src/messengers/replies/address-of.ts";
import type { TurnEngine } from "../../../src/turn/turn-engine.ts";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import { declaredOf, definitionOf, messageEvent } from "../../../lab/support/messenger-events.ts";
import { quietRoot } from "../../../lab/support/quiet-root.ts";
import { createNodeDatabase, type NodeDatabase } from "../../../lab/support/node-database.ts";
import { createFakeSurface, type FakeSurface, type FakeSurfaceOptions } from "../../support/fake-surface.ts";
import { createVirtualClock, type VirtualClock } from "../../support/virtual-clock.ts";

export interface PressRigOptions {
  /** Called when another object has an event, before the one that hands it over hears of that. */
  readonly onHandOver?: () => Promise<void>;
  readonly definition?: Partial<MessengerDefinition>;
  readonly surface?: Partial<FakeSurfaceOptions>;
  readonly commands?: ThinkCommands;
  readonly onAction?: (press: FeaturePress) => PressAnswer | Promise<PressAnswer>;
  /** Whether a feature handles presses, and stores them with their effects. @default false */
  readonly storesPresses?: boolean;
  /** Called before each write of an object; may throw. */
  readonly beforeWrite?: () => void;
}

export interface PressRig {
  readonly clock: VirtualClock;
  readonly surface: FakeSurface;
  /** Presses that reached the bot's handler: the object, and what it was given. */
  readonly presses: readonly { readonly object: string; readonly press: FeaturePress }[];
  readonly lines: readonly string[];
  /** Times at which objects have asked to be woken. */
  readonly wakes: number[];
  /** Answers to presses: the query, and the text. */
  readonly answers: () => readonly (readonly [string | undefined, string | undefined])[];
  readonly object: (thread: MessengerThread) => ThreadRuntime;
  /** Has the object of a thread send content into a thread. Returns its id. */
  readonly post: (from: MessengerThread, content: Content, to?: MessengerThread) => string;
  /** Has the root send content into a thread. */
  readonly broadcast: (content: Content, to: MessengerThread) => void;
  readonly gateOf: (thread: MessengerThread) => ChatGate;
  /** Has the object of a thread receive an event, and waits until all is quiet. */
  readonly receive: (thread: MessengerThread, event: MessengerEvent) => Promise<void>;
  readonly advance: (milliseconds: number) => Promise<void>;
  /** The object's process dies; the next use starts another one. */
  readonly kill: (thread: MessengerThread) => void;
}

export const MENU: CardContent = {
  kind: "card",
  text: "Menu",
  buttons: [
    [
      { kind: "callback", label: "Soup", payload: { dish: "soup", price: 5 } },
      { kind: "callback", label: "Cake", payload: ["cake", null] },
    ],
  ],
};

export const DIRECT: MessengerThread = { id: "telegram:1", chatId: "1", isDirectMessage: true };
export const GROUP: MessengerThread = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };
export const TOPIC: MessengerThread = { ...GROUP, id: "telegram:-5:7", topicId: "7" };

/** A feature that asks people, with cards of the bot. */
const STORING: Feature = {
  // The cards of these tests have no owner.
  name: "",
  questions: {
    storesPress: () => true,
    takesReply: () => false,
    isBareWord: () => false,
    hint: () => undefined,
    hintAt: () => undefined,
    messageDeleted: () => {},
    waitingIn: () => 0,
  },
};

interface Life {
  readonly runtime: ThreadRuntime;
  readonly gate: ChatGate;
  readonly kill: () => void;
}

/** Conversations and the gates of their chats, each an object of its own, on a platform in memory. No turn ever runs. */
export function createPressRig(options: PressRigOptions = {}): PressRig {
  const clock = createVirtualClock(1_000_000);
  const surface = createFakeSurface({
    clock,
    latencyMs: 10,
    probing: true,
    capabilities: { typing: false },
    ...options.surface,
  });
  const databases = new Map<string, NodeDatabase>();
  const lives = new Map<string, Life>();
  const presses: { object: string; press: FeaturePress }[] = [];
  const lines: string[] = [];
  const wakes: number[] = [];
  const rootDatabase = createNodeDatabase();
  let ids = 0;

  const definitions = () =>
    normalizeMessengers({
      telegram: definitionOf({
        platform: {
          ...definitionOf().platform,
          chatThreadId: (chatId) => `telegram:${chatId}`,
          surface: () => surface,
          parse: ({ raw, thread }) => Promise.resolve({ ...(raw as MessengerEvent), thread }),
        },
        ...options.definition,
      }),
    });

  const nameOf = (conversation: string): string => `default/${conversation}`;
  const start = (name: string): Life => {
    const process = clock.process();
    const stored = databases.get(name) ?? createNodeDatabase();
    databases.set(name, stored);
    const database = options.beforeWrite === undefined ? stored : stored.withHooks(options);
    const deps = {
      clock: process,
      random: () => 0.5,
      newId: () => `id${(ids += 1)}`,
      fetch: () => Promise.reject(new Error("Nothing is fetched.")),
    };
    const engine = { resumeAll: async () => {}, events: new TurnEvents(process) };
    const runtime: ThreadRuntime = new ThreadRuntime({
      name,
      database,
      deps,
      log: createLog((_level, line) => void lines.push(line)),
      engine: engine as unknown as TurnEngine,
      root: quietRoot({
        gate: (conversation) => lifeOf(nameOf(conversation)).gate,
        handOver: async (other, messengerId, event) => {
          const { runtime: there } = lifeOf(other);
          if (await there.receive(messengerId, [event])) there.poke();
          await options.onHandOver?.();
        },
      }),
      messengers: declaredOf(definitions, deps),
      bot: {
        commands: () => options.commands ?? {},
        onAction: (press) => {
          presses.push({ object: name, press });
          return options.onAction?.(press);
        },
      },
      ...(options.storesPresses === true && {
        features: new FeatureList([STORING], { log: createLog(() => {}), runs: { runOf: () => undefined } }),
      }),
      wake: { at: (at) => void wakes.push(at), putOff: () => {} },
    });
    const gate = createChatGate({
      database,
      deps,
      name,
      root: new RootBudget({ database: rootDatabase, deps }),
      local: runtime.delivery,
    });
    return { runtime, gate, kill: () => process.kill() };
  };
  const lifeOf = (name: string): Life => {
    const known = lives.get(name) ?? start(name);
    lives.set(name, known);
    return known;
  };
  const object = (thread: MessengerThread): ThreadRuntime =>
    lifeOf(nameOf(threadConversationName("telegram", thread.id))).runtime;

  const postFrom = ({ cards }: ThreadRuntime, content: Content, to: MessengerThread): string => {
    const id = `say:${(ids += 1)}`;
    cards.post({ id, address: placeOf(to), policy: {} }, content as ReadyContent);
    return id;
  };

  return {
    clock,
    surface,
    presses,
    lines,
    wakes,
    object,
    post: (from, content, to = from) => postFrom(object(from), content, to),
    broadcast: (content, to) => void postFrom(lifeOf("default").runtime, content, to),
    answers: () =>
      surface.calls
        .filter(({ method }) => method === "answer")
        .map(({ messageId, text }) => [messageId, text]),
    gateOf: (thread) => lifeOf(nameOf(threadConversationName("telegram", `telegram:${thread.chatId}`))).gate,
    receive: async (thread, event) => {
      const incoming: IncomingEvent = { key: event.key, thread: event.thread, raw: event };
      const there = object(thread);
      if (await there.receive("telegram", [incoming])) there.poke();
      await clock.advance(500);
    },
    advance: (milliseconds) => clock.advance(milliseconds),
    kill: (thread) => {
      const name = nameOf(threadConversationName("telegram", thread.id));
      lives.get(name)?.kill();
      lives.delete(name);
    },
  };
}

let presses = 0;

/** A press of the button with this label, on the newest message that has one. */
export function pressOf(
  { surface }: PressRig,
  thread: MessengerThread,
  label: string,
  more: Partial<MessengerEvent> = {},
): MessengerEvent {
  const message = surface
    .messages(thread.chatId)
    .findLast(({ buttons }) => buttons?.flat().some((button) => button.label === label));
  const button = message?.buttons?.flat().find((one) => one.label === label);
  if (button?.kind !== "callback") throw new Error(`There is no button "${label}".`);
  presses += 1;
  return pressWith(thread, button.token, { key: `c:${presses}`, ...more });
}

export function pressWith(
  thread: MessengerThread,
  data: string,
  more: Partial<MessengerEvent> = {},
): MessengerEvent {
  const { message: _message, ...event } = messageEvent({ thread, ...more });
  return { ...event, kind: "action", action: { id: `query-${event.key}`, data } };
}

export function placeOf(thread: MessengerThread): Address {
  return addressOf({ messengerId: "telegram", thread });
}
