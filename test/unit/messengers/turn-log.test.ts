import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import { turnLines } from "../../../src/messengers/turns/turn-log.ts";
import type { Turn } from "../../../src/turn/turn-store.ts";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import { messageEvent } from "../../../lab/support/messenger-events.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

function createRig() {
  const clock = createVirtualClock();
  const lines: Record<string, unknown>[] = [];
  const log = createLog((_level, line) => lines.push(JSON.parse(line) as Record<string, unknown>));
  const start = (): TurnEvents => {
    const events = new TurnEvents(clock);
    events.listen(turnLines(log));
    return events;
  };
  const context = messageEvent();
  const turn = {
    id: "t1",
    kind: "messages",
    context,
    lastReceivedAt: clock.now(),
    messageSeqs: [1, 2],
  } as unknown as Turn;
  return { clock, context, lines, start, turn };
}

describe("the lines of a turn", () => {
  it("name the message that it answers, and what it took", async () => {
    const { clock, context, lines, start, turn } = createRig();
    const log = start();
    await clock.advance(500);
    log.begun(turn);
    await clock.advance(1_200);
    log.emit("t1", { kind: "step-ended", code: undefined, message: undefined });
    const usage = { input: 100, output: 20 };
    log.emit("t1", { kind: "model-ended", provider: "own", model: "m", code: undefined, usage, cost: 0 });
    log.ended(turn, "done", 42);
    const name = {
      turn: "t1",
      messenger: context.messengerId,
      chat: context.thread.chatId,
      thread: context.thread.id,
      key: context.key,
    };
    expect(lines).toMatchObject([
      { level: "info", event: "turn.begun", ...name, messages: 2 },
      {
        level: "info",
        event: "turn.ended",
        ...name,
        outcome: "done",
        durationMs: 1_200,
        steps: 1,
        toolCalls: 0,
        inputTokens: 100,
        outputTokens: 20,
        characters: 42,
      },
    ]);
    expect(lines[1]).not.toHaveProperty("restarted");
  });

  it("are errors where it failed", () => {
    const { lines, start, turn } = createRig();
    const log = start();
    log.begun(turn);
    log.ended(turn, "failed", 10);
    expect(lines.map(({ level }) => level)).toEqual(["info", "error"]);
  });

  it("say when it was restarted, and how long it took since its message came", async () => {
    const { clock, lines, start, turn } = createRig();
    start().begun(turn);
    await clock.advance(3_000);
    start().ended(turn, "done", 1);
    expect(lines[1]).toMatchObject({ restarted: true, durationMs: 3_000 });
  });
});
