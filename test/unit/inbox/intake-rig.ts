import type { Database } from "../../../src/core/store/database.ts";
import { NO_UNSENT } from "../../support/unsent.ts";
import type { ChatGate } from "../../../src/core/chat/gate.ts";
import type { Delivery } from "../../../src/core/chat/delivery.ts";
import type { IncomingEvent, MessengerDefinition } from "../../../src/core/chat/messenger.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { createInboxStore } from "../../../src/inbox/inbox-store.ts";
import type { InboxStore } from "../../../src/inbox/inbox-store.ts";
import type { CommandHost, ThinkCommands } from "../../../src/messengers/declare/commands.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { Intake } from "../../../src/messengers/intake/intake.ts";
import type { EventHandlers } from "../../../src/messengers/intake/bot-handlers.ts";
import type { OpenQuestions } from "../../../src/messengers/intake/open-questions.ts";
import { ChatGates } from "../../../src/messengers/root/chats/chat-gates.ts";
import type { RouteResult } from "../../../src/messengers/root/root-link.ts";
import { EventFiles } from "../../../src/messengers/turns/event-files.ts";
import { createTokenUsageStore } from "../../../src/messengers/root/token-usage-store.ts";
import { TurnLimits } from "../../../src/messengers/root/turn-limits.ts";
import { Cards } from "../../../src/messengers/replies/cards.ts";
import { createThreadMemory } from "../../../src/messengers/replies/thread-memory.ts";
import { recordLog } from "../../support/log-recorder.ts";
import type { RecordedLine } from "../../support/log-recorder.ts";
import { declaredOf, definitionOf, messageEvent } from "../../../lab/support/messenger-events.ts";
import { quietRoot } from "../../../lab/support/quiet-root.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createFakeSurface } from "../../support/fake-surface.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";

export interface IntakeRig {
  readonly clock: VirtualClock;
  readonly inbox: InboxStore;
  readonly intake: Intake;
  /** What the people of the chat got, outside of turns. */
  readonly sent: readonly string[];
  readonly log: readonly RecordedLine[];
  /** The outcomes of the log, in order. */
  outcomes(): unknown[];
  receive(text: string, overrides?: Parameters<typeof messageEvent>[0]): void;
  /** The texts that wait for a turn. */
  waiting(): (string | undefined)[];
  /** The same conversation after its object has died: only what is stored is left. */
  restart(): IntakeRig;
}

export interface IntakeRigOptions {
  readonly definition?: Partial<MessengerDefinition>;
  readonly commands?: ThinkCommands | (() => ThinkCommands);
  /** What commands can do to the conversation. */
  readonly host?: Partial<CommandHost>;
  /** Before the root counts a question; may throw, as a root does that cannot be reached. */
  readonly beforeCount?: () => void;
  /** Before a message of the bot is stored; may throw, as a full disk does. */
  readonly beforeSend?: () => void;
  /** Asked before an event is read; may throw, as a platform does that cannot be reached. */
  readonly beforeParse?: (event: MessengerEvent) => void;
  readonly isDeclared?: () => boolean;
  /** What the root says of an event whose conversation was not known at its webhook. */
  readonly route?: () => Promise<RouteResult>;
  /** What the root stores; of its own unless several conversations have the same one. */
  readonly root?: Database;
  /** Code of the bot for events that start no turn. */
  readonly handlers?: EventHandlers;
  /** The draft of the answer that is being written. */
  readonly runningDraftId?: number;
  /** Says what becomes of a message while its author is asked something. */
  readonly taken?: OpenQuestions["taken"];
}

export function createIntakeRig(options: IntakeRigOptions = {}): IntakeRig {
  return rigOn(createNodeDatabase(), createVirtualClock(), options);
}

function rigOn(database: Database, clock: VirtualClock, options: IntakeRigOptions): IntakeRig {
  const sent: string[] = [];
  const { lines: log, log: write } = recordLog();
  const { platform } = definitionOf();
  const definitions = normalizeMessengers({
    telegram: definitionOf({
      platform: {
        ...platform,
        surface: () => createFakeSurface({ clock, latencyMs: 0, probing: true }),
        parse: (incoming) => {
          const event = incoming.raw as MessengerEvent;
          options.beforeParse?.(event);
          return Promise.resolve(event);
        },
        ...(options.handlers?.onUpdate !== undefined && {
          handleUpdate: async (event: MessengerEvent) => options.handlers?.onUpdate?.(event),
        }),
      },
      ...options.definition,
    }),
  });
  const delivery: Pick<Delivery, "send" | "resume" | "revive" | "answerAction" | "movedTo"> = {
    movedTo: () => undefined,
    send: (_reply, text) => {
      options.beforeSend?.();
      sent.push(text);
    },
    revive: () => {},
    resume: () => {},
    answerAction: () => Promise.resolve(true),
  };
  const deps = { clock, newId: () => "id", random: () => 0, fetch };
  const inbox = createInboxStore(database);
  const root = options.root ?? database;
  const limits = new TurnLimits(root, createTokenUsageStore(root));
  const declared = () => (options.isDeclared?.() === false ? [] : definitions);
  const messengers = declaredOf(declared, deps, { log: write });
  const gate = { claimMessage: () => Promise.resolve(undefined) } as unknown as ChatGate;
  const intake = new Intake({
    database,
    deps,
    log: write,
    inbox,
    memory: createThreadMemory(database),
    delivery: delivery as Delivery,
    cards: new Cards({ database, deps, delivery: delivery as Delivery, unsent: NO_UNSENT }),
    messengers,
    gates: new ChatGates({
      name: options.route === undefined ? "default/own" : "default/thread:telegram:1",
      root: { gate: () => gate },
      messengers,
    }),
    bot: {
      commands: () =>
        typeof options.commands === "function" ? options.commands() : (options.commands ?? {}),
      onAction: () => undefined,
      ...options.handlers,
    },
    root: quietRoot({
      gate: () => gate,
      takeQuestion: async (asked) => {
        options.beforeCount?.();
        return limits.take(asked);
      },
      ...(options.route !== undefined && { routeEvent: options.route }),
    }),
    answers: {
      mayRerun: () => false,
      rerun: () => false,
      keepEdit: () => {},
      stopDraft: (press) => press.stop?.draftId === options.runningDraftId,
      stopAll: () => false,
      startOver: () => {},
      ...options.host,
    },
    loop: { poke: () => {} },
    ...(options.taken !== undefined && {
      questions: {
        takesReply: () => false,
        isBareWord: () => false,
        hint: () => undefined,
        hintAt: () => undefined,
        messageDeleted: () => {},
        waitingIn: () => 0,
        taken: options.taken,
      },
    }),
    contexts: new EventFiles({ messengers }),
  });
  let received = 0;
  return {
    clock,
    inbox,
    intake,
    sent,
    log,
    outcomes: () => log.filter(({ event }) => event === "inbox.event").map(({ fields }) => fields.outcome),
    receive(text, overrides = {}) {
      received += 1;
      const key = `m:1:${clock.now()}-${received}`;
      const event = messageEvent({ key, ...overrides, message: { id: key, text, ...overrides.message } });
      const incoming: IncomingEvent = { key, thread: event.thread, raw: event };
      const row = inbox.insert("telegram", incoming, clock.now());
      if (row !== undefined) intake.add(row);
    },
    waiting: () => inbox.inState("queued").map(({ event }) => event?.message?.text),
    restart: () => rigOn(database, clock, options),
  };
}

/** Runs as the conversation does: again whenever it is asked to. Returns for how long it went on. */
export async function runToTheEnd({ clock, intake }: IntakeRig): Promise<number> {
  const begin = clock.now();
  for (;;) {
    const again = await intake.run();
    if (again === undefined) return clock.now() - begin;
    await clock.advance(again - clock.now());
  }
}
