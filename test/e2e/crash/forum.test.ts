import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRig, type Rig } from "../../../lab/support/rig.ts";
import { say } from "../../../lab/support/model-script.ts";
import { ANSWER } from "./deaths.ts";

describe("SIGKILL under a post in a topic of a forum", () => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await startRig({ simulator: { redelivery: { baseMs: 100, maxMs: 500 } } });
  });
  afterAll(async () => {
    await rig.close();
  });

  it("completes the message that was made, unmarked, beside a topic that has spoken too", async () => {
    const { simulator, model, bot } = rig;
    const user = simulator.addUser();
    const forum = simulator.addGroup({ title: "Forum", forum: true, members: [user] });
    const [north, south] = ["North", "South"].map((topic) => simulator.addTopic(forum, topic));
    if (north === undefined || south === undefined) throw new Error("The forum has two topics.");
    const ask = (threadId: number) =>
      simulator.sendText(forum, user, `@${simulator.bot.username ?? ""} Hello`, { threadId });
    const shown = (threadId: number) =>
      simulator
        .messages(forum, { threadId })
        .filter(({ from }) => from.isBot)
        .map(({ text }) => text);
    model.script(() => [say(ANSWER)]);
    const answer = ANSWER.replaceAll("**", "");
    ask(south);
    await simulator.waitFor(() => shown(south).includes(answer));

    simulator.fault({ method: "sendMessage", chatId: forum.id, kind: "hang", processed: true });
    ask(north);
    await simulator.waitFor(() => shown(north).length > 0);
    simulator.clearFaults();
    await bot.kill("SIGKILL");
    await bot.restart();
    await simulator.waitFor(() => shown(north).includes(answer));
    expect(shown(north)).toEqual([answer]);
    expect(shown(south)).toEqual([answer]);
  });
});
