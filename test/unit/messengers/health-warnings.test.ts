import { describe, expect, it } from "vitest";
import type { Note } from "../../../src/core/chat/figures.ts";
import type { WebhookReport } from "../../../src/core/chat/messenger.ts";
import type { NormalizedMessengerDefinition } from "../../../src/messengers/declare/define-messengers.ts";
import { HealthWarnings } from "../../../src/messengers/root/health/health-warnings.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const AT = Date.UTC(2026, 10, 22, 12);

function createRig(answer: () => Promise<WebhookReport> = async () => ({ isSet: true, pending: 0 })) {
  const clock = createVirtualClock(AT);
  const works: Promise<void>[] = [];
  let calls = 0;
  const definition = {
    id: "telegram",
    platform: {
      checkWebhook: () => {
        calls += 1;
        return answer();
      },
    },
  } as unknown as NormalizedMessengerDefinition;
  const warnings = new HealthWarnings({
    deps: { clock } as never,
    messengers: { context: () => ({}) as never },
    later: (work) => void works.push(work()),
  });
  const list = (notes: Readonly<Record<string, Note>> = {}) =>
    warnings.list([definition], new Map(Object.entries(notes)));
  const settle = (): Promise<unknown> => Promise.all(works);
  return { calls: () => calls, clock, list, settle, warnings };
}

describe("the warnings of /health", () => {
  it("name the last failure of the model until a later turn was answered, for an hour", async () => {
    const { clock, list } = createRig();
    const failed = { at: AT - 1000, code: "model-overloaded" };
    expect(list({ "model-failed": failed })).toEqual([
      {
        code: "model-overloaded",
        message: expect.stringContaining("failed at 2026-11-22T11:59:59.000Z (model-overloaded)"),
      },
    ]);
    expect(list({ "model-failed": failed, "model-worked": { at: AT - 500, code: "done" } })).toEqual([]);
    expect(list({ "model-failed": failed, "model-worked": { at: AT - 2000, code: "done" } })).toHaveLength(1);
    await clock.advance(60 * 60_000);
    expect(list({ "model-failed": failed })).toEqual([]);
  });

  it("count the chats in penalty, and name none", async () => {
    const { clock, list } = createRig();
    const notes = {
      "penalty telegram 4711": { at: AT + 5000, code: "penalty" },
      "penalty telegram 4712": { at: AT + 9000, code: "penalty" },
      "penalty telegram 4713": { at: AT - 1, code: "penalty" },
    };
    const [warning] = list(notes);
    expect(warning).toMatchObject({
      code: "chats-in-penalty",
      message: expect.stringContaining("2 chats wait"),
    });
    expect(JSON.stringify(warning)).not.toContain("471");
    await clock.advance(9000);
    expect(list(notes)).toEqual([]);
  });

  it("tell of chats whose person had not written for too long, for a day", async () => {
    const { clock, list } = createRig();
    const notes = {
      "window wa 4915112345678": { at: AT - 60_000, code: "window-closed" },
      "window wa 4915100000000": { at: AT - 2000, code: "window-closed" },
    };
    const [warning] = list(notes);
    expect(warning).toMatchObject({
      code: "window-closed",
      message: expect.stringContaining("Messages to 2 chats were not delivered"),
    });
    expect(JSON.stringify(warning)).not.toContain("49151");
    await clock.advance(24 * 60 * 60_000);
    expect(list(notes)).toEqual([]);
  });

  it("tell that the platform cannot deliver, asking it at most once a minute and never making anybody wait", async () => {
    const failing: WebhookReport = {
      isSet: true,
      pending: 3,
      lastError: { at: AT - 1000, message: "Connection\nrefused" },
    };
    const { calls, clock, list, settle } = createRig(async () => failing);
    expect(list()).toEqual([]);
    await settle();
    expect(list()).toEqual([
      {
        code: "webhook-failing",
        message:
          'The platform of the messenger "telegram" could not deliver an update at 2026-11-22T11:59:59.000Z: Connection refused. 3 wait. Run: switchboard telegram info',
      },
    ]);
    for (let count = 0; count < 100; count += 1) list();
    expect(calls()).toBe(1);
    await clock.advance(60_000);
    list();
    expect(calls()).toBe(2);
  });

  it("forget a failed delivery when nothing waits and some time has passed", async () => {
    const { clock, list, settle } = createRig(async () => ({
      isSet: true,
      pending: 0,
      lastError: { at: AT, message: "Connection refused" },
    }));
    list();
    await settle();
    expect(list()).toHaveLength(1);
    await clock.advance(6 * 60_000);
    expect(list()).toEqual([]);
  });

  it("tell that no webhook is set, unless updates arrive by long polling", async () => {
    const { list, settle, warnings } = createRig(async () => ({ isSet: false, pending: 0 }));
    list();
    await settle();
    expect(list()).toMatchObject([{ code: "webhook-not-set" }]);
    warnings.received();
    expect(list()).toEqual([]);
  });

  it("say nothing when the platform does not answer", async () => {
    const { list, settle } = createRig(() => Promise.reject(new Error("away")));
    list();
    await settle();
    expect(list()).toEqual([]);
  });
});
