import { expect, it, vi } from "vitest";
import { ApprovalsRig, asked } from "./approvals-rig.ts";

const CY = { messengerId: "m", chatId: "cy", threadId: "cy", isDirectMessage: true };

it("is stored once with the deputies' chats, whatever crash comes in between", async () => {
  for (let point = 0; point < 8; point += 1) {
    const rig = new ApprovalsRig();
    rig.deputies = { places: [CY], unreached: [] };
    const { id } = rig.ask({
      ...asked("7"),
      escalateTo: { kind: "people", userIds: ["cy"] },
      escalateAt: rig.clock.now() + 60_000,
    });
    await rig.approvals.work.run();
    expect(rig.approvals.work.nextWakeAt()).toBe(rig.clock.now() + 60_000);
    await rig.clock.advance(60_000);
    rig.toGo = point;
    await rig.approvals.work.run().catch(() => undefined);
    rig.toGo = Infinity;
    rig.start();
    await rig.approvals.work.run();
    await rig.approvals.work.run();
    expect(rig.approvals.get(id)).toMatchObject({
      state: "waiting",
      escalateAt: undefined,
      escalatedAt: rig.clock.now(),
      broughtTo: [CY],
      drawnState: "waiting",
    });
  }
});

it("asks nobody about what is decided by then", async () => {
  const rig = new ApprovalsRig();
  const looked = Promise.withResolvers<void>();
  rig.lookUp = () => looked.promise;
  rig.deputies = { places: [CY], unreached: [] };
  const { id } = rig.ask({
    ...asked("7"),
    escalateTo: { kind: "people", userIds: ["cy"] },
    escalateAt: rig.clock.now(),
  });
  const working = rig.approvals.work.run();
  await rig.decide(id, { kind: "reject" }, { surface: "chat", person: { userId: "ada" } });
  looked.resolve();
  await working;
  await rig.approvals.work.run();
  expect(rig.approvals.get(id)).toMatchObject({ state: "rejected", escalatedAt: undefined });
  expect(rig.approvals.get(id)?.broughtTo ?? []).toEqual([]);
});

it("comes early if no approver is left, and the question ends only if no deputy is left either", async () => {
  const rig = new ApprovalsRig();
  rig.deputies = { places: [CY], unreached: [] };
  const escalateTo = { kind: "people", userIds: ["cy"] } as const;
  const { id } = rig.ask({ ...asked("7"), escalateTo, escalateAt: rig.clock.now() + 60_000 });
  await rig.approvals.work.run();
  rig.isNobodyLeft = true;
  await rig.decide(id, { kind: "approve" }, { surface: "chat", person: { userId: "99" } });
  await vi.waitFor(() => expect(rig.approvals.get(id)?.escalateAt).toBe(rig.clock.now()));
  await rig.approvals.work.run();
  expect(rig.approvals.get(id)).toMatchObject({ state: "waiting", escalatedAt: rig.clock.now() });
  await rig.decide(id, { kind: "approve" }, { surface: "chat", person: { userId: "99" } });
  await vi.waitFor(() => expect(rig.approvals.get(id)?.state).toBe("void"));
});

it("is handed over in one step, and only while the question waits", async () => {
  for (let point = 0; point < 8; point += 1) {
    const rig = new ApprovalsRig();
    const { id } = rig.ask(asked("7"));
    const asks: string[] = [];
    rig.toGo = point;
    try {
      rig.approvals.questions.handOver(id, { to: "Cy", by: "Bob" }, CY, ({ id: handed }) =>
        asks.push(handed),
      );
    } catch {
      // Killed by the test.
    }
    rig.toGo = Infinity;
    rig.start();
    await rig.approvals.work.run();
    const { broughtTo, drawnState, handedTo } = rig.approvals.get(id) ?? {};
    expect(drawnState).toBe("waiting");
    expect(broughtTo ?? []).toEqual(handedTo === undefined ? [] : [CY]);
    if (handedTo !== undefined) expect(asks).toEqual([id]);
    await rig.decide(id, { kind: "reject" }, { surface: "chat", person: { userId: "ada" } });
    expect(rig.approvals.questions.handOver(id, { to: "Cy", by: "Bob" }, CY, () => {})).toBe(false);
  }
});
