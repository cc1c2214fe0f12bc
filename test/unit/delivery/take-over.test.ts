import { expect, it } from "vitest";
import { createCrashWorld, startOf } from "./crash-world.ts";
import { ADDRESS, createHarness, expectedMessages, MARK } from "./engine-harness.ts";

const LIMITS = { maxLength: 200, maxEntities: 100 };
const LONG = Array.from({ length: 12 }, (_, index) => `Paragraph ${index} has some words in it.`).join(
  "\n\n",
);

it("edits the messages of a withdrawn reply into those of the new one, and removes what is left over", async () => {
  const { surface, delivery, advance, start, visible } = createHarness({ surface: { limits: LIMITS } });
  await advance(60_000);
  delivery.open(start("r1"));
  await advance(100);
  delivery.append("r1", LONG);
  await advance(5_000);
  const before = surface.messages("7").map(({ id }) => id);
  expect(before.length).toBeGreaterThan(2);
  delivery.withdraw("r1");
  delivery.open(start("r2", { takesOver: "r1" }));
  await advance(1_000);
  expect(surface.messages("7").map(({ id }) => id)).toEqual(before);
  delivery.append("r2", "Now");
  await advance(3_000);
  expect(visible()).toEqual(["Now"]);
  delivery.finish("r2", "Now this.");
  await advance(1_000);
  expect(surface.messages("7")).toMatchObject([{ id: before[0], text: "Now this." }]);
  expect(await delivery.settled("r1")).toBe("withdrawn");
  expect(await delivery.settled("r2")).toBe("delivered");
  expect(surface.calls.filter(({ method }) => method === "typing")).toHaveLength(0);
});

it("takes over a message whose post is still under way", async () => {
  const { surface, delivery, clock, advance, start, visible } = createHarness();
  delivery.open(start("r1"));
  delivery.append("r1", "Old");
  await clock.advance(10);
  delivery.withdraw("r1");
  delivery.open(start("r2", { takesOver: "r1" }));
  delivery.finish("r2", "New.");
  await advance(1_000);
  expect(visible()).toEqual(["New."]);
  expect(surface.calls.filter(({ method }) => method === "post")).toHaveLength(1);
});

it("sends its text again over an edit of an earlier process that may still land", async () => {
  const world = createCrashWorld();
  const first = world.boot(0);
  first.delivery.open(startOf("r1"));
  first.delivery.append("r1", "It begins");
  await first.advance(2_000);
  world.platform.fault("edit", { kind: "hang" });
  first.delivery.append("r1", " and goes on");
  await first.advance(1_000);
  first.delivery.withdraw("r1");
  first.kill();
  const second = world.boot(0);
  second.delivery.open({ ...startOf("r2"), takesOver: "r1" });
  second.delivery.finish("r2", "Another text.");
  await second.advance(2_000);
  expect(world.platform.visible("7")).toEqual(["Another text."]);
  // It lands now.
  const late = { text: "It begins and goes on", entities: [] };
  const landing = world.platform.edit(ADDRESS, "101", late, { signal: new AbortController().signal });
  await second.advance(1_000);
  await landing;
  expect(world.platform.visible("7")).toEqual([late.text]);
  await second.advance(60_000);
  expect(world.platform.visible("7")).toEqual(["Another text."]);
  expect(second.delivery.receipt("r2")?.state).toBe("delivered");
});

it("takes over a reply that was delivered already", async () => {
  const { delivery, advance, start, visible } = createHarness({ surface: { limits: LIMITS } });
  delivery.send(start("r1"), "One answer.");
  await advance(1_000);
  delivery.open(start("r2", { takesOver: "r1" }));
  delivery.finish("r2", LONG);
  await advance(3_000);
  expect(visible()).toEqual(expectedMessages(LONG, LIMITS));
  expect(delivery.receipt("r1")).toMatchObject({ state: "withdrawn", messages: [] });
});

it("takes over a post with an unknown outcome, and sends it again with a mark", async () => {
  const { surface, delivery, advance, start, visible } = createHarness();
  surface.fault("post", { kind: "lose", done: false });
  delivery.open(start("r1"));
  delivery.append("r1", "Old");
  await advance(500);
  delivery.withdraw("r1");
  delivery.open(start("r2", { takesOver: "r1" }));
  delivery.finish("r2", "New.");
  await advance(5_000);
  expect(visible()).toEqual([`${MARK}\nNew.`]);
});

it("takes over through a chain of withdrawals", async () => {
  const { delivery, advance, start, visible } = createHarness();
  for (const [id, earlier] of [["r1"], ["r2", "r1"], ["r3", "r2"]] as const) {
    delivery.open(start(id, { takesOver: earlier }));
    delivery.append(id, `Attempt ${id}`);
    await advance(1_000);
    if (id !== "r3") delivery.withdraw(id);
  }
  delivery.finish("r3", "Done.");
  await advance(1_000);
  expect(visible()).toEqual(["Done."]);
});

it("leaves the visible messages if no reply takes them over", async () => {
  const { surface, delivery, advance, start, visible } = createHarness();
  delivery.open(start("r1"));
  delivery.append("r1", "Half");
  await advance(1_000);
  const calls = surface.calls.length;
  delivery.withdraw("r1");
  delivery.append("r1", " of it");
  delivery.finish("r1", "Half of it.");
  await advance(60_000);
  expect(visible()).toEqual(["Half"]);
  expect(surface.calls).toHaveLength(calls);
  delivery.send(start("r2"), "Next.");
  await advance(1_000);
  expect(visible()).toEqual(["Half", "Next."]);
});

it("does not take messages of another chat", async () => {
  const { surface, delivery, advance, start, visible } = createHarness();
  delivery.send(start("r1"), "Here.");
  await advance(1_000);
  const { address } = start("r2");
  const other = { ...address, threadId: "telegram:8", chatId: "8" };
  delivery.open(start("r2", { address: other, takesOver: "r1" }));
  delivery.finish("r2", "There.");
  await advance(1_000);
  expect(visible()).toEqual(["Here."]);
  expect(surface.visible("8")).toEqual(["There."]);
});

it("finds a lost message that the policy leaves alone, and removes it after another text took its place", async () => {
  const { surface, delivery, advance, start, visible } = createHarness({
    surface: { probing: true, capabilities: { typing: false } },
    policy: { onUnknown: "leave", callTimeoutMs: 1_000 },
  });
  surface.fault("post", { kind: "lose", done: true });
  surface.fault("probe", { kind: "fail", failure: { kind: "transient", code: "server-500" } });
  delivery.open(start("r1", { seenMessageId: "100" }));
  delivery.append("r1", "Old words that were lost.");
  await advance(500);
  delivery.withdraw("r1");
  delivery.open(start("r2", { takesOver: "r1", seenMessageId: "100" }));
  delivery.finish("r2", "New.");
  await advance(30_000);
  expect(visible()).toEqual(["New."]);
  expect(delivery.receipt("r2")?.state).toBe("delivered");
});

it("shows the new text whole when a person has deleted the old message twice", async () => {
  const { surface, delivery, advance, start, visible } = createHarness();
  const deleteIt = (): void => {
    const [message] = surface.messages("7");
    if (message !== undefined) surface.deleteMessage("7", message.id);
  };
  delivery.open(start("r1"));
  delivery.append("r1", "Old");
  await advance(500);
  deleteIt();
  delivery.finish("r1", "Old and longer.");
  await advance(2_000);
  expect(visible()).toEqual(["Old and longer."]);
  deleteIt();
  delivery.open(start("r2", { takesOver: "r1" }));
  delivery.finish("r2", "New.");
  await advance(5_000);
  expect(visible()).toEqual(["New."]);
});

it.each([
  ["made, and its answer is lost", { kind: "lose", done: true }, ["Old"]],
  ["not made", { kind: "lose", done: false }, []],
  ["answered too late", { kind: "hang", answerAfterMs: 3_200 }, []],
] as const)(
  "shows the new text when the old one's post was under way and %s, where the policy leaves lost posts alone",
  async (_name, fault, left) => {
    const { surface, delivery, clock, advance, start, visible } = createHarness({
      policy: { onUnknown: "leave", callTimeoutMs: 1_000 },
    });
    surface.fault("post", fault);
    delivery.open(start("r1"));
    delivery.append("r1", "Old");
    await clock.advance(10);
    expect(surface.calls).toMatchObject([{ method: "post", outcome: "pending" }]);
    delivery.withdraw("r1");
    delivery.open(start("r2", { takesOver: "r1" }));
    delivery.finish("r2", "New.");
    await advance(30_000);
    expect(visible()).toEqual([...left, "New."]);
    expect(delivery.receipt("r2")?.state).toBe("delivered");
  },
);
