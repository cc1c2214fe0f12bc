import { expect, it } from "vitest";
import type { CallFailure } from "../../../src/core/surface.ts";
import { createHarness } from "./engine-harness.ts";

const HOUR_MS = 3_600_000;
const REFUSED_TOKEN: CallFailure = { kind: "misconfigured", code: "token-refused" };
const SERVER_ERROR: CallFailure = { kind: "transient", code: "server-error" };

it.each(["post", "edit"] as const)(
  "does not give up for a moment's trouble that follows a weekend with a wrong token (%s)",
  async (method) => {
    const { surface, delivery, start, advance, visible } = createHarness();
    delivery.open(start("r1"));
    if (method === "edit") {
      delivery.append("r1", "First");
      await advance(1_000);
    }
    surface.faultAlways(method, { kind: "fail", failure: REFUSED_TOKEN });
    delivery.finish("r1", "First, and whole.");
    await advance(60 * HOUR_MS);
    surface.faultAlways(method, undefined);
    surface.fault(method, { kind: "fail", failure: SERVER_ERROR }, { kind: "fail", failure: SERVER_ERROR });
    await advance(3 * 60_000);
    expect(visible()).toEqual(["First, and whole."]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  },
);

it("gives up in the end when two kinds of trouble take turns", async () => {
  const { surface, delivery, start, advance } = createHarness();
  const failures = [REFUSED_TOKEN, SERVER_ERROR];
  surface.post = () => Promise.reject(new Error("refused"));
  let asked = 0;
  surface.classifyError = () => failures[Math.floor((asked += 1) / 30) % 2] ?? SERVER_ERROR;
  delivery.send(start("r1"), "Never.");
  await advance(7 * 24 * HOUR_MS);
  expect(delivery.receipt("r1")?.state).toBe("failed");
});
