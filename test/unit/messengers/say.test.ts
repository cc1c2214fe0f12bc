import { expect, it } from "vitest";
import { messageEvent } from "../../../lab/support/messenger-events.ts";
import { say } from "../../../src/messengers/replies/say.ts";
import { createPressRig, DIRECT, placeOf } from "./press-rig.ts";

it("asks to be woken for a message that is repeated after a crash and still waits, and sends it once", async () => {
  const rig = createPressRig();
  const event = messageEvent({ thread: DIRECT });
  const sayIt = () =>
    say(rig.object(DIRECT).sayHost({ event, turn: undefined }), "Ready.", undefined, {
      idempotencyKey: "order-7",
    });
  await rig.gateOf(DIRECT).penalize(placeOf(DIRECT), 60_000);
  const id = await sayIt();
  await rig.advance(100);
  // The process dies before the wake is stored. Nothing was sent, because of a penalty.
  rig.kill(DIRECT);
  rig.wakes.length = 0;
  expect(await sayIt()).toBe(id);
  expect(rig.wakes.length).toBeGreaterThan(0);
  await rig.advance(61_000);
  await rig.object(DIRECT).drive();
  await rig.advance(1_000);
  expect(rig.surface.visible("1")).toEqual(["Ready."]);
  rig.kill(DIRECT);
  rig.wakes.length = 0;
  await sayIt();
  expect(rig.wakes).toEqual([]);
  await rig.object(DIRECT).drive();
  await rig.advance(1_000);
  expect(rig.surface.visible("1")).toEqual(["Ready."]);
});
