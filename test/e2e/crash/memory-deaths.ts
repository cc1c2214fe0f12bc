import { expect } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import type { ModelRequest } from "../../../lab/support/model-request.ts";
import { callTool, holdAt, say } from "../../../lab/support/model-script.ts";
import { newcomer } from "../rehearsal.ts";
import type { DyingBot } from "./deaths.ts";

/** Words of one conversation, before and after its summary. */
const OF_ANIMALS = /My dog|The number is|They spoke of animals|Who is it/;

function tells({ messages }: ModelRequest, words: RegExp): boolean {
  return words.test(JSON.stringify(messages));
}

/** Adds the deaths around the memory of people, and around a summary. */
export function addMemoryDeaths({ asked, rig, script }: DyingBot): void {
  asked.it(
    "remembers once, and forgets, when the bot is killed with the presses of Approve and of Forget",
    async ({ die }) => {
      const { simulator } = rig();
      const user = simulator.addUser();
      const chat = simulator.privateChat(user);
      const fromBot = () => simulator.messages(chat).filter(({ from }) => from.isBot);
      const has = (text: string) => fromBot().find((message) => message.text.includes(text));
      const buttonOf = async (text: string, label: string): Promise<number> => {
        await simulator.waitFor(
          () =>
            has(text)
              ?.buttons.flat()
              .some((button) => button.text === label) === true,
        );
        return has(text)?.id ?? 0;
      };
      const prompt = (): string => JSON.stringify(requests.at(-1)?.messages[0]);

      const requests = script((request) => {
        if (!tells(request, /I drink it black/)) return undefined;
        const last = request.messages.at(-1);
        return last?.role === "user" && JSON.stringify(last.content).includes("remember")
          ? [callTool("set_context", { label: "customer", content: "Drinks it black" })]
          : [say("Fine.")];
      });

      simulator.sendText(chat, user, "Please remember that I drink it black");
      const question = await buttonOf("Remember “Drinks it black”?", "Approve");
      await die({ with: () => void simulator.pressButton(chat, user, question, "Approve") });
      await simulator.waitFor(() => has("Done") !== undefined);

      simulator.sendText(chat, user, "/memory");
      await buttonOf("I remember this about you:", "Forget 1");
      expect(has("I remember this about you:")?.text).not.toContain("2.");
      simulator.sendText(chat, user, "Hello");
      await simulator.waitFor(() => prompt().includes("Drinks it black"));

      const list = await buttonOf("I remember this about you:", "Forget 1");
      await die({ with: () => void simulator.pressButton(chat, user, list, "Forget 1") });
      const isForgotten = (): boolean => has("I don't remember anything about you.") !== undefined;
      await simulator.waitFor(() => isForgotten() || has("I was interrupted") !== undefined);
      if (!isForgotten()) {
        simulator.sendText(chat, user, "/memory");
        await simulator.waitFor(
          () => isForgotten() || fromBot().filter(({ text }) => text.includes("I remember this")).length > 1,
        );
      }
      if (!isForgotten()) {
        simulator.pressButton(chat, user, fromBot().at(-1)?.id ?? 0, "Forget 1");
        await simulator.waitFor(isForgotten);
      }
      const before = requests.length;
      simulator.sendText(chat, user, "Hello again");
      await simulator.waitFor(() => requests.length > before && !prompt().includes("Drinks it black"));
    },
  );

  asked.it(
    "loses no message when the bot is killed while the model writes a summary of the transcript",
    async ({ die }) => {
      const { simulator } = rig();
      const { chat, write } = newcomer(rig());
      const held = createGate();
      const summaries = () => requests.filter(({ stream }) => !stream).length;
      // A model that writes long calls fills its transcript soon.
      const long = { query: "x".repeat(60_000) };
      const requests = script((request) => {
        if (!tells(request, OF_ANIMALS)) return undefined;
        const { messages, stream } = request;
        const last = messages.at(-1);
        if (!stream) return [holdAt(held), say("They spoke of animals.")];
        if (last?.role === "tool") return [say(`Found: ${JSON.stringify(last.content).slice(0, 600)}`)];
        return [
          callTool(
            "search_context",
            JSON.stringify(last?.content).includes("Who") ? { query: "dog called" } : long,
          ),
        ];
      });
      const answers = () =>
        simulator.messages(chat).filter(({ from, text }) => from.isBot && text.startsWith("Found: "));
      let sent = 0;
      for (; summaries() === 0 && sent < 12; sent += 1) {
        // Dated so that each is a message of its own, however fast the answer was.
        write(sent === 0 ? "My dog is called Rex" : `The number is ${sent}`, sent);
        await simulator.waitFor(() => summaries() > 0 || answers().length > sent);
      }
      await held.reached;
      await die({ meanwhile: () => held.open() });
      await simulator.waitFor(() => answers().length === sent);
      write("Who is it?", sent);
      await simulator.waitFor(() => answers().at(-1)?.text.includes("My dog is called Rex") === true);
      expect(answers()).toHaveLength(sent + 1);
      const request = requests.findLast(({ stream }) => stream);
      expect(JSON.stringify(request?.messages)).toContain("They spoke of animals.");
    },
  );
}
