import { describe, expect, it } from "vitest";
import type { ChatNews, Grant } from "../../../src/core/chat/gate.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { NOBODY } from "../../support/chat-gates.ts";
import { ADDRESS } from "./engine-harness.ts";
import { chatOf, gateRig, inTopic, OTHER, OWN, PACING, POST, QUIET, seasoned, TOPIC } from "./gate-rig.ts";
import type { GateRig } from "./gate-rig.ts";

const granted = { kind: "granted" };

describe("gives the right to post to one speaker at a time (4)", () => {
  const holding = async (options: Parameters<typeof seasoned>[0] = {}): Promise<GateRig> => {
    const rig = await seasoned(options);
    expect(await rig.ask("post", TOPIC, POST)).toMatchObject({ kind: "granted", right: { ticket: 1 } });
    return rig;
  };

  it("while the edits, final texts and typing of all others continue", async () => {
    const { ask, clock } = await holding({
      pacing: { ...PACING, direct: { burst: 100, everyMs: 1 } },
    });
    for (const purpose of ["edit", "final", "typing", "post"] as const) {
      expect(await ask(purpose, inTopic(3), { news: QUIET })).toMatchObject(granted);
    }
    expect(await ask("post", inTopic(3), POST)).toMatchObject({
      kind: "wait",
      retryAt: clock.now() + 250,
      reason: "post",
    });
    expect(await ask("final", inTopic(3), POST)).toMatchObject({ kind: "wait", reason: "post" });
  });

  it("and neither takes a token nor keeps a place for one that waits for it", async () => {
    const { ask } = await holding();
    for (let asked = 0; asked < 9; asked += 1) await ask("post", inTopic(3), POST);
    expect(await ask("final", inTopic(4))).toMatchObject(granted);
    expect(await ask("final", inTopic(5))).toMatchObject(granted);
  });

  it("and tells a waiting speaker no time before the chat's rate allows a post", async () => {
    const { ask, clock } = await holding();
    while ((await ask("final", inTopic(4))).kind === "granted");
    expect(await ask("post", inTopic(3), POST)).toMatchObject({
      kind: "wait",
      retryAt: clock.now() + 1_000,
      reason: "post",
    });
  });

  it("until its holder reports the outcome of the post with its next request", async () => {
    const { ask } = await holding();
    expect(
      await ask("edit", TOPIC, { news: { ...QUIET, sentIds: [101], newestId: 101, ticket: 1 } }),
    ).toMatchObject(granted);
    expect(await ask("post", inTopic(3), POST)).toMatchObject({
      kind: "granted",
      newestId: 101,
      right: { ticket: 2, isShared: true },
    });
  });

  it("until it reports", async () => {
    const { ask, gate } = await holding();
    const news = { ...QUIET, ticket: 1 };
    await gate.report({ address: TOPIC, speaker: OTHER, news: { ...news, isInDoubt: true } });
    expect(await ask("post", inTopic(3), POST)).toMatchObject({ kind: "wait", reason: "post" });
    await gate.report({ address: TOPIC, speaker: OTHER, news });
    expect(await ask("post", inTopic(3), POST)).toMatchObject(granted);
  });

  it("separately for each chat", async () => {
    const { ask } = await holding();
    expect(await ask("post", chatOf(8), { ...POST, news: { ...QUIET, box: "8" } })).toMatchObject(granted);
  });

  it("only on platforms with numbered messages; elsewhere nobody waits", async () => {
    const { ask } = await seasoned();
    expect(await ask("post", TOPIC, { isPost: true })).toMatchObject(granted);
    expect(await ask("post", inTopic(3), { isPost: true })).toMatchObject(granted);
  });

  it("and says whether others wait for the outcome: in a forum, and if another speaker was active lately", async () => {
    const { ask, clock } = await seasoned();
    const right = async (address: Address, speaker: string): Promise<unknown> => {
      const grant = await ask("post", address, { ...POST, speaker });
      return grant.kind === "granted" ? grant.right?.isShared : grant;
    };
    expect(await right(ADDRESS, OWN), "alone").toBe(false);
    await ask("edit", ADDRESS, { speaker: OWN, news: { ...QUIET, ticket: 1 } });
    expect(await right(ADDRESS, OTHER), "two of the chat").toBe(true);
    await clock.advance(61_000);
    expect(await right(ADDRESS, OWN), "alone again").toBe(false);
    await clock.advance(61_000);
    expect(await right(TOPIC, OTHER), "a forum").toBe(true);
  });

  it("and to no other while a post of the gate's own object is in doubt", async () => {
    const asked: string[] = [];
    let isInDoubt = true;
    const { ask, clock } = await seasoned({
      local: {
        ...NOBODY,
        isInDoubt: ({ chatId }, exceptThreadId) => {
          asked.push(`${chatId} ${exceptThreadId}`);
          return isInDoubt;
        },
      },
    });
    expect(await ask("post", TOPIC, POST)).toMatchObject({
      kind: "wait",
      retryAt: clock.now() + 500,
      reason: "post",
    });
    expect(await ask("edit", TOPIC, { news: QUIET })).toMatchObject(granted);
    isInDoubt = false;
    expect(await ask("post", ADDRESS, { ...POST, speaker: OWN })).toMatchObject(granted);
    // The thread of the object that asks knows its own doubt.
    expect(asked).toEqual(["7 ", "7 telegram:7"]);
  });
});

describe("knows the ids of messages", () => {
  const question = (more: Partial<ChatNews> = {}, afterId = 100) => ({
    address: TOPIC,
    speaker: OTHER,
    news: { ...QUIET, newestId: afterId, ...more },
    afterId,
  });

  it("leaves out sent and received messages, and names some ids above the newest one", async () => {
    const { ask, gate, root } = await seasoned({
      local: { ...NOBODY, sentIds: (_chat, afterId) => [103].filter((id) => id > afterId) },
    });
    root.noteIncoming("telegram", "7", false, [101, 107]);
    await ask("edit", inTopic(3), { news: { ...QUIET, sentIds: [105], newestId: 105 } });
    const { ids, newestId, claim } = await gate.unclaimed(question());
    expect(newestId).toBe(107);
    expect(claim).toBe("certain");
    expect(ids.filter((id) => id <= 107)).toEqual([102, 104, 106]);
    expect(ids.slice(3)).toEqual(Array.from({ length: ids.length - 3 }, (_, index) => 108 + index));
    expect(ids.length - 3).toBeGreaterThanOrEqual(4);
  });

  it("reports sent ids to the root before it asks for the ids of a shared box", async () => {
    const rig = await seasoned();
    const shared = { box: "common", newestId: 100, startedAt: 0, isInDoubt: false };
    await rig.gate.report({
      address: chatOf(8),
      speaker: "eight",
      news: { ...shared, sentIds: [101], newestId: 101 },
    });
    await rig.clock.advance(300);
    await rig.ask("post", TOPIC, { news: { ...shared, sentIds: [102] } });
    const { ids } = await rig.gate.unclaimed(question({ ...shared, sentIds: [103] }));
    expect(ids.slice(0, 2)).toEqual([104, 105]);
    // A gate in another object.
    const other = gateRig({ clock: rig.clock, root: rig.root });
    const asked = { ...question(shared), address: chatOf(9), speaker: "nine" };
    expect((await other.gate.unclaimed(asked)).ids[0]).toBe(104);
  });

  it("does not mix up ids of other chats with those of its own box", async () => {
    const { gate, root } = await seasoned();
    root.noteIncoming("telegram", "-8", false, [101]);
    root.noteIncoming("other-bot", "7", false, [102]);
    expect((await gate.unclaimed(question())).ids.slice(0, 2)).toEqual([101, 102]);
  });

  it("passes the newest id on with each grant, including the root's for a shared box", async () => {
    const { ask, root } = await seasoned();
    root.noteIncoming("telegram", "common", true, [150]);
    const news = { box: "common", sentIds: [], newestId: 100, startedAt: 0, isInDoubt: false };
    const first: Grant = await ask("post", TOPIC, { isPost: true, news });
    expect(first).toMatchObject({ kind: "granted", newestId: 150 });
  });

  it("says when a found message may belong to another speaker", async () => {
    const { ask, gate, clock } = await seasoned();
    await ask("post", inTopic(3), { ...POST, speaker: "three" });
    const busy = await gate.unclaimed(question());
    expect(busy.claim).toBe("busy");
    expect(busy.right).toBeUndefined();
    // It says nothing any more.
    await clock.advance(30_000);
    expect(await gate.unclaimed(question())).toMatchObject({
      claim: "uncertain",
      right: { ticket: 2, isShared: true },
    });
    await gate.report({
      address: inTopic(3),
      speaker: "three",
      news: { ...QUIET, sentIds: [101], newestId: 101, ticket: 1 },
    });
    expect(await gate.unclaimed(question())).toMatchObject({ claim: "certain", right: { ticket: 3 } });
  });

  it("says so for the gate's own object, too", async () => {
    const { gate } = await seasoned({ local: { ...NOBODY, isInDoubt: () => true } });
    const { claim, right } = await gate.unclaimed(question());
    expect([claim, right]).toEqual(["busy", undefined]);
  });

  it("says when the outcome of a post of the gate's own object cannot be found out", async () => {
    const { gate } = await seasoned({ local: { ...NOBODY, isUnresolved: () => true } });
    expect(await gate.unclaimed(question())).toMatchObject({ claim: "uncertain" });
  });

  it("says so until a post is known that began when the lost one could not land any more", async () => {
    const { ask, clock, gate } = await seasoned();
    const lost = { address: inTopic(3), speaker: "three" };
    const posted = { address: inTopic(4), speaker: "four" };
    await ask("post", lost.address, { ...POST, speaker: "three", landsWithinMs: 8_000 });
    await gate.report({ ...lost, news: { ...QUIET, ticket: 1, isUnresolved: true } });
    const claims: string[] = [];
    for (const [ticket, afterMs] of [
      [2, 1_000],
      [4, 7_000],
    ] as const) {
      await clock.advance(afterMs);
      await ask("post", posted.address, { ...POST, speaker: "four", landsWithinMs: 8_000 });
      const sentIds = [100 + ticket];
      await gate.report({ ...posted, news: { ...QUIET, ticket, sentIds, newestId: 100 + ticket } });
      const found = await gate.unclaimed({ ...posted, news: QUIET, afterId: 100 + ticket });
      claims.push(found.claim);
      await gate.report({ ...posted, news: { ...QUIET, ticket: ticket + 1 } });
    }
    expect(claims).toEqual(["uncertain", "certain"]);
  });

  it("remembers after a start that such an outcome was reported", async () => {
    const { ask, gate, restart } = await seasoned();
    await ask("post", ADDRESS, { ...POST, speaker: OWN });
    await gate.report({ address: ADDRESS, speaker: OWN, news: { ...QUIET, ticket: 1, isUnresolved: true } });
    expect(await restart().gate.unclaimed(question())).toMatchObject({ claim: "uncertain" });
  });
});
