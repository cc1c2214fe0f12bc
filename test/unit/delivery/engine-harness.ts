import { createDelivery } from "../../../delivery/index.ts";
import type { ChatGate } from "../../../src/core/chat/gate.ts";
import type { RootBudget } from "../../../delivery/index.ts";
import type { Delivery, ReplyPolicy, ReplyStart, ReplyState } from "../../../src/core/chat/delivery.ts";
import type { Deps } from "../../../src/core/base/deps.ts";
import { createLog } from "../../../src/core/base/log.ts";
import type { RichText } from "../../../src/core/message/rich-text.ts";
import type { BotFileIds } from "../../../delivery/files/sent-file.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { splitText } from "../../../delivery/text/split/index.ts";
import { telegramEntities } from "../../../delivery/text/render/index.ts";
import { limitsWithRoom, resentMark } from "../../../delivery/outbox/resent-mark.ts";
import { createTestGate } from "../../support/chat-gates.ts";
import { createFakeSurface } from "../../support/fake-surface.ts";
import type { FakeSurface, FakeSurfaceOptions } from "../../support/fake-surface.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { NodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";

export const ADDRESS: Address = {
  messengerId: "telegram",
  threadId: "telegram:7",
  chatId: "7",
  isDirectMessage: true,
};

/** The object that speaks. */
export const SPEAKER = "default/thread:telegram:7";

export const MARK = "(sent again after a connection problem)";

export interface Harness {
  readonly clock: VirtualClock;
  readonly surface: FakeSurface;
  readonly database: NodeDatabase;
  /** The gate of every chat, in an object of its own, and the root that it asks. */
  readonly gate: ChatGate;
  readonly root: RootBudget;
  readonly delivery: Delivery;
  readonly lines: readonly string[];
  readonly ended: readonly (readonly [string, ReplyState])[];
  readonly gone: readonly (readonly [string, string])[];
  /** Codes with which the platform has refused the messenger, and `undefined` for each time it takes it again. */
  readonly access: readonly (string | undefined)[];
  /** The durable wake, as the object's alarm would hold it. */
  readonly wakeAt: () => number | undefined;
  /** Advances, and runs the engine when its alarm is due, as the object does. */
  readonly advance: (milliseconds: number) => Promise<void>;
  readonly start: (id: string, more?: Partial<ReplyStart>) => ReplyStart;
  readonly visible: () => readonly string[];
}

export interface HarnessOptions {
  readonly surface?: Partial<FakeSurfaceOptions>;
  readonly policy?: ReplyPolicy;
  readonly gate?: (real: ChatGate) => ChatGate;
  /** The gate is in the object that speaks. @default true */
  readonly isOwnGate?: boolean;
  /** The servers of files that are given by address. @default no request is made */
  readonly fetch?: typeof fetch;
  /** The ids of files that the whole bot knows. @default none */
  readonly fileIds?: BotFileIds;
  readonly isEventOpen?: (seq: number) => boolean;
}

/** The real engine and budget on a virtual clock, SQLite in memory and a platform in memory. */
export function createHarness(options: HarnessOptions = {}): Harness {
  const clock = createVirtualClock();
  const surface = createFakeSurface({ clock, latencyMs: 50, ...options.surface });
  const database = createNodeDatabase();
  const deps = { ...depsOn(clock), ...(options.fetch !== undefined && { fetch: options.fetch }) };
  const lines: string[] = [];
  const ended: [string, ReplyState][] = [];
  const gone: [string, string][] = [];
  const access: (string | undefined)[] = [];
  let wakeAt: number | undefined;
  const isOwnGate = options.isOwnGate ?? true;
  const { gate: real, root } = createTestGate({
    rootDatabase: createNodeDatabase(),
    gateDatabase: isOwnGate ? database : createNodeDatabase(),
    deps,
    name: isOwnGate ? SPEAKER : "default/gate",
    ...(isOwnGate && { local: () => delivery }),
  });
  const gate = options.gate?.(real) ?? real;
  const delivery: Delivery = createDelivery({
    database,
    deps,
    log: createLog((_level, line) => lines.push(line)),
    gates: { speaker: SPEAKER, gateOf: () => gate },
    messengers: { surface: () => surface },
    ...(options.fileIds !== undefined && { fileIds: options.fileIds }),
    ...(options.isEventOpen !== undefined && { isEventOpen: options.isEventOpen }),
    onWake: (at) => (wakeAt = at),
    onEnded: (id, state) => ended.push([id, state]),
    listener: {
      accessChanged: (_messengerId, refusedWith) => access.push(refusedWith),
      chatGone: ({ chatId, threadId }, code) => gone.push([threadId ?? chatId, code]),
      chatMoved: () => {},
      fileRefused: (_messengerId, _replyId, { code, name }) => `**${name}** is not sent: ${code}`,
    },
  });
  const advance = async (milliseconds: number): Promise<void> => {
    const end = clock.now() + milliseconds;
    for (;;) {
      await clock.settle();
      const alarmAt = wakeAt;
      const timerAt = clock.nextTimerAt() ?? Infinity;
      if (timerAt <= end && timerAt < (alarmAt ?? Infinity)) {
        await clock.advance(Math.max(0, timerAt - clock.now()));
        continue;
      }
      if (alarmAt === undefined || alarmAt > end) break;
      await clock.advance(Math.max(0, alarmAt - clock.now()));
      // The alarm may have been moved, or taken away, while the time passed.
      if (wakeAt !== alarmAt) continue;
      void delivery.run();
      await clock.advance(1);
    }
    await clock.advance(Math.max(0, end - clock.now()));
  };
  return {
    clock,
    surface,
    database,
    gate,
    root,
    delivery,
    lines,
    ended,
    gone,
    access,
    wakeAt: () => wakeAt,
    advance,
    start: (id, more) => ({ id, address: ADDRESS, policy: options.policy ?? {}, ...more }),
    visible: () => surface.visible(ADDRESS.chatId),
  };
}

export function depsOn(clock: Deps["clock"]): Deps {
  let id = 0;
  return {
    clock,
    random: () => 0.5,
    newId: () => `id-${(id += 1)}`,
    fetch: () => Promise.reject(new Error("The engine makes no requests of its own.")),
  };
}

/** The texts of the messages that a reply's text should become. */
export function expectedMessages(text: string, limits = { maxLength: 4096, maxEntities: 100 }): string[] {
  return expectedContents(text, limits).map((content) => content.text);
}

export function expectedContents(text: string, limits = { maxLength: 4096, maxEntities: 100 }): RichText[] {
  return splitText(text, {
    renderer: telegramEntities,
    limits: limitsWithRoom(limits, resentMark({})),
    final: true,
  }).map(({ content }) => content);
}
