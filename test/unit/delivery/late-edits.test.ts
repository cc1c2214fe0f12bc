import { expect, it } from "vitest";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import { ADDRESS } from "./engine-harness.ts";

const WHOLE = "It begins and goes on to its end.";

it.each([5_000, 5_900])(
  "shows the whole text over an edit that lands after its time limit (%s ms)",
  async (diesAfterMs) => {
    const world = createCrashWorld();
    const first = world.boot(0);
    first.delivery.open(startOf("r1", { policy: { callTimeoutMs: 6_000 } }));
    first.delivery.append("r1", "It begins");
    await first.advance(2_000);
    world.platform.fault("edit", { kind: "hang" });
    first.delivery.append("r1", " and goes on");
    await first.advance(10);
    const leftAt = world.platform.calls.findLast(({ method }) => method === "edit")?.at ?? 0;
    first.delivery.finish("r1", WHOLE);
    await first.advance(leftAt + diesAfterMs - world.clock.now());
    first.kill();
    const second = world.boot(0);
    void second.delivery.run().catch(ignoreCrash);
    await second.advance(leftAt + 7_500 - world.clock.now());
    expect(world.platform.visible("7")).toEqual([WHOLE]);
    // The platform has taken so long that the call was given up.
    const late = { text: "It begins and goes on", entities: [] };
    void world.platform.edit(ADDRESS, "101", late, { signal: new AbortController().signal });
    await second.advance(60_000);
    expect(world.platform.visible("7")).toEqual([WHOLE]);
    expect(second.delivery.receipt("r1")?.state).toBe("delivered");
  },
);
