import { describe, expect, it } from "vitest";
import { checkChatSchedules } from "../../../src/schedules/rules/chat-schedule.ts";

const checked = (settings: unknown) => () =>
  checkChatSchedules(settings as Parameters<typeof checkChatSchedules>[0]);

describe("the limits of schedules that people make", () => {
  it.each([
    [{ mostPerPersn: 3 }, 'mostPerPersn of chatSchedules does not exist. Did you mean "mostPerPerson"?'],
    [{ mostCostPerDay: "1 €" }, "mostCostPerDay of chatSchedules must be a number of 0 or more."],
    [{ leastIntervalMs: NaN }, "leastIntervalMs of chatSchedules must be a number of 0 or more."],
    [{ mayManage: true }, "mayManage of chatSchedules must be a function."],
    ["on", /of chatSchedules must be an object with any of: mostPerPerson/],
  ])("are refused if they would be ignored: %j", (settings, message) => {
    expect(checked(settings)).toThrow(message);
    expect(checked(settings)).toThrow(expect.objectContaining({ code: "chat-schedules-invalid" }));
  });

  it.each([true, false, {}, { mostPerPerson: 0, mostCostPerDay: undefined, mayManage: () => true }])(
    "may be %j",
    (settings) => expect(checked(settings)).not.toThrow(),
  );
});
