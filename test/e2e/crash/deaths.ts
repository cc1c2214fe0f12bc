import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SimChat } from "../../../playground/telegram/simulator.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say } from "../../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../../lab/support/rig.ts";
import { lastUserText } from "../../../lab/support/scripted-model.ts";
import { slownessOf } from "../../support/slowness.ts";

export const ANSWER =
  "The first half of the answer, which is long enough to be seen, and then the **second** half of it.";
const HALF = 60;

/**
 * Registers the tests of a bot that dies at any moment. Each combination of bot and model is a file of its own, so that
 * they run beside each other.
 *
 * @param onPartial what the model does with a partial answer: start over, or go on
 * @param config the bot's wrangler configuration. Without it, the shipped bot
 */
export function describeDeaths(name: string, onPartial: "restart" | "continue", config?: string): void {
  describe(`SIGKILL of the whole process group: ${name}`, () => {
    let rig: Rig;

    beforeAll(async () => {
      rig = await startRig({
        simulator: { redelivery: { baseMs: 100, maxMs: 500 } },
        ...(config !== undefined && { config }),
      });
      rig.model.onPartial(onPartial);
    });
    afterAll(async () => {
      await rig.close();
    });

    const newChat = () => {
      const user = rig.simulator.addUser();
      return { user, chat: rig.simulator.privateChat(user) };
    };
    const fromBot = (chat: SimChat) =>
      rig.simulator
        .messages(chat)
        .filter((message) => message.from.isBot)
        .map((message) => message.text);
    const shown = (markdown: string) => markdown.replaceAll("**", "");
    /** Returns by how much a limit in real time must be longer on this machine. */
    const dieAndComeBack = async (): Promise<number> => {
      await rig.bot.kill("SIGKILL");
      return slownessOf(() => rig.bot.restart());
    };
    /** The answer is there once, whole, and a message written right after the restart is answered too. */
    const expectOneAnswer = async (chat: SimChat, user: { id: number }, expected = shown(ANSWER)) => {
      // Dated so that it is a message of its own, however fast all of this went.
      rig.simulator.sendText(chat, user, "And now?", { date: Math.floor(Date.now() / 1000) + 60 });
      await rig.simulator.waitFor(() => fromBot(chat).some((text) => text.includes("And now?")));
      expect(fromBot(chat)).toEqual([expected, "You said: And now?"]);
    };
    const script = (first: Parameters<Rig["model"]["script"]>[0]) =>
      rig.model.script((request) =>
        lastUserText(request).includes("And now?") ? [say("You said: And now?")] : first(request),
      );

    it("answers a message whose webhook was never answered", async () => {
      const { chat, user } = newChat();
      script(() => [say(ANSWER)]);
      rig.simulator.sendText(chat, user, "Hello");
      await dieAndComeBack();
      await rig.simulator.waitFor(() => fromBot(chat).includes(shown(ANSWER)));
      await expectOneAnswer(chat, user);
    });

    it("answers a message by itself after it died right behind the 200", async () => {
      const { chat, user } = newChat();
      script(() => [say(ANSWER)]);
      rig.simulator.sendText(chat, user, "Hello");
      await rig.simulator.waitFor(() => rig.simulator.updates().at(-1)?.state === "delivered");
      const slowness = await dieAndComeBack();
      await rig.simulator.waitFor(() => fromBot(chat).includes(shown(ANSWER)), {
        timeoutMs: 5000 * slowness,
      });
      await expectOneAnswer(chat, user);
    });

    it("completes a half-streamed answer in the same message, within five seconds and without a request", async () => {
      const { chat, user } = newChat();
      const gate = createGate();
      let calls = 0;
      script(() => {
        calls += 1;
        return [say(ANSWER.slice(0, HALF)), ...(calls === 1 ? [holdAt(gate)] : []), say(ANSWER.slice(HALF))];
      });
      rig.simulator.sendText(chat, user, "Hello");
      await gate.reached;
      await rig.simulator.waitFor(() => (fromBot(chat)[0]?.length ?? 0) > 20);
      const before = rig.simulator.messages(chat).find((message) => message.from.isBot)?.id;
      const slowness = await dieAndComeBack();
      await rig.simulator.waitFor(() => fromBot(chat).includes(shown(ANSWER)), {
        timeoutMs: 5000 * slowness,
      });
      expect(rig.simulator.messages(chat).find((message) => message.from.isBot)?.id).toBe(before);
      gate.open();
      await expectOneAnswer(chat, user);
    });

    it("completes an answer whose last edit never left", async () => {
      const { chat, user } = newChat();
      const gate = createGate();
      script(() => [say(ANSWER.slice(0, HALF)), holdAt(gate), say(ANSWER.slice(HALF))]);
      rig.simulator.sendText(chat, user, "Hello");
      await gate.reached;
      await rig.simulator.waitFor(() => (fromBot(chat)[0]?.length ?? 0) > 20);
      const editsBefore = rig.simulator.calls({ method: "editMessageText" }).length;
      rig.simulator.fault({ method: "editMessageText", chatId: chat.id, kind: "hang", processed: false });
      gate.open();
      await rig.simulator.waitFor(
        () => rig.simulator.calls({ method: "editMessageText" }).length > editsBefore,
      );
      rig.simulator.clearFaults();
      await dieAndComeBack();
      await rig.simulator.waitFor(() => fromBot(chat).includes(shown(ANSWER)));
      await expectOneAnswer(chat, user);
    });

    // A post that was not made is known as such only when it cannot land any more, 8 seconds after it began. The search
    // takes less than a second then.
    it.each([
      { processed: true, timeoutMs: 5_000 },
      { processed: false, timeoutMs: 10_000 },
    ])(
      "goes on within $timeoutMs ms of a death under the first message's call (done: $processed), once and unmarked",
      async ({ processed, timeoutMs }) => {
        const { chat, user } = newChat();
        script(() => [say(ANSWER)]);
        rig.simulator.fault({ method: "sendMessage", chatId: chat.id, kind: "hang", processed });
        rig.simulator.sendText(chat, user, "Hello");
        await rig.simulator.waitFor(
          () => rig.simulator.calls({ method: "sendMessage", chatId: chat.id }).length > 0,
        );
        rig.simulator.clearFaults();
        const slowness = await dieAndComeBack();
        await rig.simulator.waitFor(() => fromBot(chat).includes(shown(ANSWER)), {
          timeoutMs: timeoutMs * slowness,
        });
        expect(fromBot(chat)).toEqual([shown(ANSWER)]);
        await expectOneAnswer(chat, user);
      },
    );

    it("asks the model once for a reply that was whole before the kill", async () => {
      const { chat, user } = newChat();
      script(() => [say(ANSWER)]);
      const asked = rig.model.requests().length;
      rig.simulator.sendText(chat, user, "Hello");
      await rig.simulator.waitFor(() => fromBot(chat).includes(shown(ANSWER)));
      await rig.bot.logged(/"event":"turn.ended"/);
      await dieAndComeBack();
      await expectOneAnswer(chat, user);
      expect(rig.model.requests().length - asked).toBe(2);
    });
  });
}
