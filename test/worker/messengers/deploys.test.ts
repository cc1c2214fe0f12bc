import { expect, it } from "vitest";
import { errorCode } from "../../../src/core/base/errors.ts";
import type { InnerDoor } from "../../../src/core/chat/inner-calls.ts";
import { createWorld } from "../support/world.ts";

function doorOf(stub: unknown): InnerDoor {
  return stub as InnerDoor;
}

it("answers an object of the version before, which calls by the old names", async () => {
  const world = createWorld();
  await world.write("c1", "Hello");
  await world.shows("c1", "You said: Hello");
  expect(await doorOf(world.stub).inner("healthProblem", [])).toBeUndefined();
  expect(
    await doorOf(world.stub).inner("resolveTarget", [{ messenger: "fake", chatId: "c1" }]),
  ).toMatchObject({
    kind: "found",
  });
  expect(await doorOf(world.thread("c1")).inner("hasEvent", ["fake", "other"])).toBe(false);
});

it.each([
  "notes.add",
  "gate.constructor",
  "thread.toString",
  "nothing",
  "bot.handle.call",
  "object.__proto__",
])("says of the call %s that it does not know it, so that the caller repeats it", async (name) => {
  const world = createWorld();
  let failure: unknown;
  try {
    await doorOf(world.stub).inner(name, []);
  } catch (error) {
    failure = error;
  }
  expect(errorCode(failure)).toBe("unknown-call");
});
