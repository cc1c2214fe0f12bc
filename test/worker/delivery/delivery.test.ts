import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { createDelivery } from "../../../delivery/index.ts";
import { createTestGate } from "../../support/chat-gates.ts";
import { durableDatabase } from "../../../src/core/store/database.ts";
import type { Delivery } from "../../../src/core/chat/delivery.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { createLog } from "../../../src/core/base/log.ts";
import type { CallFailure, Surface } from "../../../src/core/chat/surface.ts";
import { testEnv } from "../test-env.ts";

const ADDRESS = {
  messengerId: "telegram",
  threadId: "telegram:7",
  chatId: "7",
  isDirectMessage: true,
} as const;

interface Platform {
  readonly surface: Surface;
  readonly messages: Map<string, string>;
  /** The next post fails with this. */
  failure: CallFailure | undefined;
}

function createPlatform(): Platform {
  const messages = new Map<string, string>();
  const rate = { burst: 1_000, everyMs: 1 };
  const platform: Platform = {
    messages,
    failure: undefined,
    surface: {
      provider: "fake",
      capabilities: { edit: true, remove: true, typing: false, buttons: false },
      format: "telegram-entities",
      limits: { maxLength: 4096, maxEntities: 100 },
      pacing: { direct: rate, group: rate, global: rate },
      typingLastsMs: 5_000,
      post: (_address, { text }) => {
        const { failure } = platform;
        platform.failure = undefined;
        if (failure !== undefined) return Promise.reject(new Error(failure.code, { cause: failure }));
        const messageId = `m${messages.size + 1}`;
        messages.set(messageId, text);
        return Promise.resolve({ messageId });
      },
      edit: (_address, messageId, { text }) => {
        messages.set(messageId, text);
        return Promise.resolve();
      },
      remove: (_address, messageId) => {
        messages.delete(messageId);
        return Promise.resolve();
      },
      typing: () => Promise.resolve(),
      answerAction: () => Promise.resolve(),
      classifyError: (error) =>
        error instanceof Error && error.cause !== undefined
          ? (error.cause as CallFailure)
          : { kind: "unknown", code: "cut" },
    },
  };
  return platform;
}

function createOn(storage: DurableObjectStorage, platform: Platform): Delivery {
  const database = durableDatabase(storage);
  const { gate } = createTestGate({
    rootDatabase: database,
    gateDatabase: database,
    deps: systemDeps,
    name: "gate",
    local: () => delivery,
  });
  const delivery = createDelivery({
    database,
    deps: systemDeps,
    log: createLog(() => {}),
    gates: { speaker: "gate", gateOf: () => gate },
    messengers: { surface: () => platform.surface },
    onWake: (at) => void (at === undefined ? storage.deleteAlarm() : storage.setAlarm(at)),
  });
  return delivery;
}

it("streams and finishes a reply on the SQL of a Durable Object", async () => {
  const stub = testEnv.TestObject.getByName("delivery-streams");
  await runInDurableObject(stub, async (_instance, { storage }) => {
    const platform = createPlatform();
    const delivery = createOn(storage, platform);
    delivery.open({ id: "r1", address: ADDRESS, policy: {} });
    delivery.append("r1", "Hello");
    await delivery.run();
    expect([...platform.messages]).toEqual([["m1", "Hello"]]);
    delivery.finish("r1", "Hello **there**.");
    expect(await storage.getAlarm()).not.toBeNull();
    expect(await delivery.settled("r1")).toBe("delivered");
    expect([...platform.messages]).toEqual([["m1", "Hello there."]]);
    await delivery.run();
    expect(await storage.getAlarm()).toBeNull();
    expect(delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: "m1", state: "sent" }] });
  });
});

it("waits for a penalty by an alarm, which another incarnation of the object answers", async () => {
  const stub = testEnv.TestObject.getByName("delivery-penalty");
  const platform = createPlatform();
  platform.failure = { kind: "retry-after", code: "429", retryAfterMs: 3_600_000 };
  const before = Date.now();
  await runInDurableObject(stub, async (_instance, { storage }) => {
    const delivery = createOn(storage, platform);
    delivery.send({ id: "r1", address: ADDRESS, policy: {} }, "Later.");
    await delivery.run();
    expect(await storage.getAlarm()).toBeGreaterThanOrEqual(before + 3_600_000);
    await storage.setAlarm(Date.now() + 3_600_000);
  });
  await runInDurableObject(stub, async (_instance, { storage }) => {
    // A new engine on the same rows: the penalty still holds.
    const delivery = createOn(storage, platform);
    await delivery.run();
    expect(delivery.receipt("r1")).toMatchObject({ state: "final", messages: [{ state: "planned" }] });
    expect(platform.messages.size).toBe(0);
    // The hour is over.
    storage.sql.exec("UPDATE outbox_v1 SET retry_at = 0");
    storage.sql.exec("UPDATE gate_v1 SET until = 0");
    const later = createOn(storage, platform);
    await later.run();
    expect(await later.settled("r1")).toBe("delivered");
    expect([...platform.messages.values()]).toEqual(["Later."]);
  });
});

it("takes up a post whose object died under it: marked", async () => {
  const stub = testEnv.TestObject.getByName("delivery-died");
  const platform = createPlatform();
  await runInDurableObject(stub, async (_instance, { storage }) => {
    const dying = createOn(storage, {
      ...platform,
      surface: { ...platform.surface, post: () => new Promise(() => {}) },
    });
    dying.send({ id: "r1", address: ADDRESS, policy: { callTimeoutMs: 600_000 } }, "Hello.");
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    expect(dying.receipt("r1")?.messages).toMatchObject([{ state: "sending" }]);
    const delivery = createOn(storage, platform);
    await delivery.run();
    expect(await delivery.settled("r1")).toBe("delivered");
    expect([...platform.messages.values()]).toEqual(["(sent again after a connection problem)\nHello."]);
  });
});
