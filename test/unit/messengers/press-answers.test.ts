import { expect, it } from "vitest";
import { definitionOf, messageEvent } from "../../../lab/support/messenger-events.ts";
import type { Delivery } from "../../../src/core/chat/delivery.ts";
import type { InboxRow } from "../../../src/inbox/inbox-store.ts";
import { PressAnswers } from "../../../src/messengers/intake/press-answers.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { createFakeSurface } from "../../support/fake-surface.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const ROW = { seq: 1 } as InboxRow;

it("logs an answer that cannot be stored, without its words", async () => {
  const clock = createVirtualClock();
  const { lines, log } = recordLog();
  const send = (): never => {
    throw new Error("disk is full");
  };
  const [definition] = normalizeMessengers({ telegram: definitionOf() });
  if (definition === undefined) throw new Error("There is no messenger.");
  const answers = new PressAnswers({
    deps: { clock },
    log,
    delivery: { send } as unknown as Delivery,
    messengers: { surface: () => createFakeSurface({ clock }) },
  });
  answers.begin(ROW, messageEvent({}), definition, undefined);
  void answers.give(ROW, { text: "Only for Ann.", isForAll: false });
  await clock.settle();
  expect(lines.map(({ event }) => event)).toEqual(["press.not-answered"]);
  expect(JSON.stringify(lines)).not.toMatch(/Ann|disk/);
});
