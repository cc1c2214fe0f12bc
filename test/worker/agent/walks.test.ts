import { beforeEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import type { ThinkScheduledTasks } from "../../../src/index.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { captureLog } from "../support/log-lines.ts";
import { createRefundBot, shown } from "../support/refund-bot.ts";
import { digest, start, to, untilEnded } from "../support/scheduled-world.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { callsBetween, crossings, notWalked, recordWalk } from "../support/walks.ts";
import type { Walk } from "../support/walks.ts";
import { createWorld } from "../support/world.ts";

/*
 * The walks that ARCHITECTURE.md describes, from stack traces. A wake-up begins a new way.
 */

beforeEach(() => void captureLog());

/** An answer, from the turn to its post. */
const ANSWER = {
  "INSERT reply_v1": "TurnRunner.advance → TurnBeginnings.start → TurnReplies.open → Engine.open",
  "UPDATE reply_v1": "TurnRunner.advance → TurnCompletions.finish → TurnReplies.finish → Engine.finish",
  "INSERT outbox_v1": "Lane.poke → performAction",
};

it("walks from a message to its answer", async () => {
  const world = createWorld();
  const walk = await recordWalk(world);
  await world.write("c1", "hello");
  await shown(world, "You said: hello");
  walk.stop();
  expect(
    notWalked(walk, {
      "INSERT directory_v2": "BotRoot.handle → RootRuntime.handle → EventRouting.deliver",
      "INSERT inbox_v1": "BotObject.answer → ThreadRuntime.receive → EventReception.receive",
      "UPDATE inbox_v1": "EventReception.receive → Intake.run → EventHandler.handle",
      "INSERT turn_v1": "ThreadLoop.drive → TurnRunner.advance → TurnBeginnings.ofMessages",
      ...ANSWER,
    }),
  ).toEqual([]);
});

it("walks from a press of Approve to the outcome, over the border of its feature twice", async () => {
  const recorded: { walk?: Walk } = {};
  const { effects, world } = createRefundBot({
    approvers: () => {
      recorded.walk?.note("approvers");
      return true;
    },
  });
  await world.write("c1", "refund 7");
  await shown(world, "Refund order 7");
  const walk = await recordWalk(world);
  recorded.walk = walk;
  await world.press("c1", "Approve");
  await expect.poll(() => effects).toEqual(["7"]);
  await shown(world, "Told");
  walk.stop();
  const press =
    "CardEvents.take → Presses.pressed → FeatureList.pressed → ApprovalsFeature.pressed → ApprovalQuestions.pressed → Decisions.decide";
  expect(
    notWalked(walk, {
      approvers: `${press} → Approvers.mayDecide`,
      "UPDATE approval_v1": `${press} → StoredApprovals.change`,
      "UPDATE approval_v1 # the claim": "Decisions.decide → ApprovalWork.run → StoredApprovals.change",
      "UPDATE card_v1": "ApprovalWork.run → AskingConversation.draw → ApprovalCards.draw → Cards.revise",
      "INSERT action_v1": "ApprovalWork.run → AskingConversation.run → BotActions.runConsented → runAction",
      "INSERT prompt_v1": "ApprovalWork.run → AskingConversation.tell → OutcomeTurns.tell → OwnTurns.submit",
      "INSERT turn_v1": "ThreadLoop.drive → TurnRunner.advance → TurnBeginnings.ofPrompt",
      ...ANSWER,
    }),
  ).toEqual([]);
  expect(Math.max(...walk.ways.map((way) => crossings(way, "src/approvals")))).toBe(2);
});

it("walks from a due digest to its chats", async () => {
  const tasks: Record<string, ThinkScheduledTasks[string]> = {};
  const world = await start(tasks);
  const walk = await recordWalk(world);
  const soon = new Date(Date.now() + 2_000).toISOString();
  tasks["digest"] = {
    schedule: `at ${soon}` as `at ${number}-${string}`,
    prompt: "Write it.",
    deliverTo: to("c1"),
  };
  await world.stub.internal_reconcileScheduledTasks();
  world.script(digest);
  await untilEnded(world, "digest");
  walk.stop();
  const work = "ThreadLoop.drive → FeatureList.work → SchedulesFeature.work → Schedules.work";
  expect(
    notWalked(walk, {
      "INSERT occurrence_v1": work,
      "INSERT prompt_v1": "BotObject.answer → ScheduledTurns.submit → OwnTurns.submit",
      "INSERT turn_v1": "ThreadLoop.drive → TurnRunner.advance → TurnBeginnings.ofPrompt",
      "INSERT scheduled_task_v1": work,
      "INSERT reply_v1": "BotObject.answer → RootBroadcasts.takeBroadcast → Cards.post → Engine.send",
      "INSERT outbox_v1": ANSWER["INSERT outbox_v1"],
    }),
  ).toEqual([]);
});

it("walks from an attachment of an action to its message", async () => {
  const send = action({
    description: "Send a picture.",
    inputSchema: z.object({}),
    execute: (_input, ctx) => {
      ctx.attachReply({ type: "image", source: new Uint8Array([1, 2, 3]), name: "front.jpg" });
      return "sent";
    },
  });
  const world = createWorld({
    getActions: () => ({ send }),
    messengers: ({ chats }) => ({
      fake: { ...world.messenger(), platform: fakePlatform(chats, { files: true }) },
    }),
    script: ({ prompt }) => (prompt.at(-1)?.role === "tool" ? [say("Here.")] : [callTool("send", {})]),
  });
  const walk = await recordWalk(world);
  await world.write("c1", "Send it");
  await vi.waitFor(() => expect(world.chats.messages("c1")).toHaveLength(2), 8000);
  walk.stop();
  const turn = "ThreadLoop.drive → TurnRunner.advance → TurnBeginnings.start → TurnEngine.start";
  const finish = "ThreadLoop.drive → TurnRunner.advance → TurnCompletions.finish";
  expect(
    notWalked(walk, {
      "INSERT action_v1": `${turn} → runAction → LocalLedger.claim`,
      "INSERT file_v1": `${turn} → OutgoingFiles.addBytes`,
      "INSERT attachment_v1": turn,
      "INSERT action_v1 # its end": `${turn} → LocalLedger.end`,
      "UPDATE file_v1": `${finish} → TurnAttachments.prepare → Cards.prepare → Engine.storeFile`,
      "INSERT reply_v1 # the files": `${finish} → TurnAttachments.post → Cards.post`,
      ...ANSWER,
    }),
  ).toEqual([]);
});

it("makes at most four calls from a method of the bot to the code that does its work", async () => {
  const { world } = createRefundBot();
  await world.write("c1", "refund 7");
  await shown(world, "Refund order 7");
  const bot = world.thread("c1");
  const walk = await recordWalk(world);
  const [asked] = await bot.approvals.list();
  await bot.approveExecution(asked?.id ?? "");
  await bot.say("hi");
  walk.stop();
  const depths = [
    ["BotApprovals.list", "ApprovalStore.list"],
    ["approveExecution", "ApprovalStore.update"],
    ["say", "Cards.post"],
  ].map(([method = "", work = ""]) => [method, callsBetween(walk, method, work).length - 1]);
  expect(depths).toEqual([
    ["BotApprovals.list", 3],
    ["approveExecution", 4],
    ["say", 4],
  ]);
});

it("counts each way into a folder and out of it", () => {
  const walked = (...files: readonly string[]) => ({ steps: files.map((file) => ({ file, name: "" })) });
  const [inside, outside] = ["src/approvals/a.ts", "src/agent/b.ts"];
  expect(crossings(walked(outside, inside, inside), "src/approvals")).toBe(1);
  expect(crossings(walked(outside, inside, outside, outside), "src/approvals")).toBe(2);
  expect(crossings(walked(inside, outside, inside, outside), "src/approvals")).toBe(4);
});
