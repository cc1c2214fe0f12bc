import { expect, it } from "vitest";
import { messageEvent } from "../../../lab/support/messenger-events.ts";
import type { InboxRow } from "../../../src/inbox/inbox-store.ts";
import { PressAnswers } from "../../../src/messengers/intake/press-answers.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const ROW = { seq: 1 } as InboxRow;
const full = (): Promise<void> => Promise.reject(new Error("disk is full"));

it("logs an answer that cannot be stored, without its words", async () => {
  const clock = createVirtualClock();
  const { lines, log } = recordLog();
  const answers = new PressAnswers(clock, log);
  answers.begin(ROW, messageEvent({}), full);
  void answers.give(ROW, { text: "Only for Ann." });
  await clock.settle();
  expect(lines.map(({ event }) => event)).toEqual(["press.not-answered"]);
  expect(JSON.stringify(lines)).not.toMatch(/Ann|disk/);
});
