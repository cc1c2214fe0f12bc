import { RpcStub, RpcTarget } from "cloudflare:workers";
import { tool } from "ai";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

const gate = createGate();

class Shop extends RpcTarget {
  hours(): string {
    return "Open until six.";
  }

  broken(): string {
    throw new TypeError("psst, a secret of the shop");
  }

  async slow(): Promise<string> {
    await gate.pass();
    return "at last";
  }
}

/** What its methods return are promises of the runtime, which are no instances of `Promise`. */
const shop = (): Pick<Shop, "hours" | "broken" | "slow"> => new RpcStub(new Shop()) as unknown as Shop;

describe("a method of another object, handed on as it is", () => {
  it("is the reply of a command", async () => {
    const world = createWorld({
      commands: { hours: { description: "When we are open", handler: () => shop().hours() } },
    });
    await world.write("c1", "/hours");
    await world.shows("c1", "Open until six.");
    expect(world.requests).toEqual([]);
  });

  it("shows a person who gave a command the error text when it throws (I10)", async () => {
    const world = createWorld({
      messenger: { delivery: { errorResponseText: "Sorry." } },
      commands: { hours: { description: "When we are open", handler: () => shop().broken() } },
    });
    await world.write("c1", "/hours");
    await world.shows("c1", "Sorry.");
    expect(JSON.stringify(log)).not.toContain("psst");
  });

  it("tells the model that a tool has failed, and nothing of the exception (I10)", async () => {
    const world = createWorld({
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? [say(JSON.stringify(prompt.at(-1)))] : [callTool("hours")],
      getTools: () => ({
        hours: tool({ inputSchema: z.object({}), execute: () => shop().broken() }),
      }),
    });
    await world.write("c1", "When are you open?");
    await expect.poll(() => world.chats.visible("c1").join()).toContain("The tool failed");
    expect(JSON.stringify(world.requests)).not.toContain("psst");
  });

  it("does not hold up /stop when it is a tool that hangs", async () => {
    const world = createWorld({
      script: () => [callTool("slow")],
      getTools: () => ({ slow: tool({ inputSchema: z.object({}), execute: () => shop().slow() }) }),
    });
    await world.write("c1", "Wait");
    await untilReached(gate);
    await world.write("c1", "/stop");
    await world.shows("c1", "(stopped)");
    world.script(({ said }) => [say(`You said: ${said}`)]);
    await world.write("c1", "Again");
    await world.shows("c1", "(stopped)", "You said: Again");
    expect(world.requests.map(({ said }) => said)).toEqual(["Wait", "Again"]);
    gate.open();
  });
});
