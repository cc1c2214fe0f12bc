import { expect } from "vitest";
import { say } from "../../../lab/support/model-script.ts";
import { lastUserText } from "../../../lab/support/scripted-model.ts";
import { ANSWER, type DyingBot } from "./deaths.ts";

const ASKED = "Hello from a topic";

/** Adds the death under a post in a topic of a forum. */
export function addForumDeath({ asked, rig, script }: DyingBot): void {
  asked.it(
    "completes the message that was made in a topic, unmarked, beside a topic that has spoken too",
    async ({ die }) => {
      const { simulator } = rig();
      const user = simulator.addUser();
      const forum = simulator.addGroup({ title: "Forum", forum: true, members: [user] });
      const [north, south] = ["North", "South"].map((topic) => simulator.addTopic(forum, topic));
      if (north === undefined || south === undefined) throw new Error("The forum has two topics.");
      const ask = (threadId: number) =>
        simulator.sendText(forum, user, `@${simulator.bot.username ?? ""} ${ASKED}`, { threadId });
      const shown = (threadId: number) =>
        simulator
          .messages(forum, { threadId })
          .filter(({ from }) => from.isBot)
          .map(({ text }) => text);
      script((request) => (lastUserText(request).includes(ASKED) ? [say(ANSWER)] : undefined));
      const answer = ANSWER.replaceAll("**", "");
      ask(south);
      await simulator.waitFor(() => shown(south).includes(answer));

      simulator.fault({ method: "sendMessage", chatId: forum.id, kind: "hang", processed: true });
      await die({
        async before() {
          ask(north);
          await simulator.waitFor(() => shown(north).length > 0);
        },
      });
      await simulator.waitFor(() => shown(north).includes(answer));
      expect(shown(north)).toEqual([answer]);
      expect(shown(south)).toEqual([answer]);
    },
  );
}
