import { describe, expect, it } from "vitest";
import { roles } from "../../../src/actions/declare/authorize.ts";
import type { ActionTurnContext } from "../../../src/actions/declare/authorize.ts";
import type { AuthorizationRequest } from "../../../src/actions/runs/action-host.ts";
import { ActionRights } from "../../../src/messengers/tools/action-rights.ts";
import type { CallFacts } from "../../../src/messengers/tools/action-rights.ts";
import { refund } from "../actions/action-rig.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const rolesOf = roles({ billing: ["1", "2"], orders: ["1"] });

function createRights(asked: (string | undefined)[] = []): ActionRights {
  return new ActionRights({
    clock: createVirtualClock(),
    log: recordLog().log,
    agent: {
      authorizeTurn: ({ person }: ActionTurnContext) => {
        asked.push(person?.userId);
        return { allowed: true, grantedPermissions: rolesOf(person) };
      },
      authorizeAction: ({ isGranted }) => isGranted,
    },
  });
}

const call = (permission: string, requestId = "turn", isConsented = false): AuthorizationRequest => ({
  request: {
    name: "refund",
    action: refund({}),
    input: {},
    requestId,
    toolCallId: "call",
    messages: [],
    signal: undefined,
    ...(isConsented && { consent: { approver: undefined, inputHash: "", ledgerKey: "" } }),
  },
  input: {},
  requiredPermissions: [permission],
});

const facts = (...userIds: readonly string[]): CallFacts => ({
  people: userIds.map((userId) => ({ userId })),
  person: undefined,
  address: undefined,
  chat: undefined,
});

describe("the rights of a turn", () => {
  it("are those that all of its people have", async () => {
    const rights = createRights();
    expect(await rights.decide(call("orders:cancel"), facts("1"))).toEqual({ allowed: true });
    expect(await rights.decide(call("billing:refund", "t2"), facts("1", "2"))).toEqual({ allowed: true });
    expect(await rights.decide(call("orders:cancel", "t3"), facts("1", "2"))).toMatchObject({
      allowed: false,
      missing: ["orders:cancel"],
    });
    expect(await rights.decide(call("billing:refund", "t4"), facts("1", "99"))).toMatchObject({
      allowed: false,
    });
  });

  it("are asked for once, and again for a call that somebody has agreed to", async () => {
    const asked: (string | undefined)[] = [];
    const rights = createRights(asked);
    await rights.decide(call("billing:refund"), facts("1"));
    await rights.decide(call("billing:refund"), facts("1"));
    expect(asked).toEqual(["1"]);
    await rights.decide(call("billing:refund", "turn", true), facts("1"));
    expect(asked).toEqual(["1", "1"]);
  });

  it("are asked for without a person where no person began the turn", async () => {
    const asked: (string | undefined)[] = [];
    expect(await createRights(asked).decide(call("orders"), facts())).toMatchObject({ allowed: false });
    expect(asked).toEqual([undefined]);
  });
});
