import { afterAll, beforeAll, describe, expect } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say, continueAfter, type ModelStep } from "../../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../../lab/support/rig.ts";
import { lastUserText, textOf } from "../../../lab/support/scripted-model.ts";
import type { ModelRequest } from "../../../lab/support/model-request.ts";
import { newcomer, type Person } from "../rehearsal.ts";
import { SharedDeath } from "../shared-death.ts";

export const ANSWER =
  "The first half of the answer, which is long enough to be seen, and then the **second** half of it.";
const HALF = 60;
const SHOWN = ANSWER.replaceAll("**", "");

/** A model's way with a partial answer. */
type OnPartial = "starts over" | "goes on";

/** A person whose messages have an answer of their own. */
interface Asking extends Person {
  /** The model's words to the first message, by the number of times that it was asked before. */
  answer: (calls: number) => readonly ModelStep[];
  readonly onPartial: OnPartial;
  readonly texts: () => readonly string[];
  /** Writes the first message. */
  readonly ask: () => void;
  /** How often the model was asked to answer this person. */
  readonly asked: () => number;
  /** The answer is there once, whole, and a message written after the restart is answered too. */
  readonly hasOneAnswer: () => Promise<void>;
}

/** A bot that dies, for further tests. */
export interface DyingBot {
  readonly rig: () => Rig;
  /** Requests come again after its deaths. */
  readonly asked: SharedDeath;
  /**
   * Adds an answer to requests of a test, undefined for those of other tests. Returns the requests that have got it, also
   * those to come.
   */
  readonly script: (
    answer: (request: ModelRequest) => readonly ModelStep[] | undefined,
  ) => readonly ModelRequest[];
}

/**
 * Registers the tests of a bot that dies at any moment. Each bot is a file of its own, so that they run beside each
 * other.
 *
 * @param config the bot's wrangler configuration. Without it, the shipped bot
 * @param further registers tests that share its deaths
 */
export function describeDeaths(
  name: string,
  models: readonly OnPartial[],
  { config, further }: { readonly config?: string; readonly further?: (bot: DyingBot) => void },
): void {
  describe(`SIGKILL of the whole process group: ${name}`, () => {
    let rig: Rig;
    const people: Asking[] = [];
    const scripts: Parameters<DyingBot["script"]>[0][] = [];

    beforeAll(async () => {
      rig = await startRig({
        simulator: { redelivery: { baseMs: 100, maxMs: 500 } },
        ...(config !== undefined && { config }),
      });
      const played = new Map<Asking, number>();
      rig.model.script((request) => {
        for (const answer of scripts) {
          const steps = answer(request);
          if (steps !== undefined) return steps;
        }
        const text = lastUserText(request);
        const person = people[numberIn(text)];
        if (text.includes("And now")) return [say(`You said: ${text}`)];
        if (person === undefined) throw new Error(`Nobody has written: ${text}`);
        const calls = played.get(person) ?? 0;
        played.set(person, calls + 1);
        const last = request.messages.at(-1);
        const goesOn = person.onPartial === "goes on" && last?.role === "assistant";
        return goesOn ? continueAfter(person.answer(calls), textOf(last)) : person.answer(calls);
      });
    });
    afterAll(async () => {
      await rig.close();
    });

    const newPerson = (onPartial: OnPartial): Asking => {
      const number = people.length;
      const somebody = newcomer(rig);
      const texts = () => somebody.replies().map(({ text }) => text);
      const person: Asking = {
        ...somebody,
        answer: () => [say(ANSWER)],
        onPartial,
        texts,
        ask: () => void somebody.write(`Hello ${number}.`),
        asked: () =>
          rig.model.requests().filter((request) => numberIn(lastUserText(request)) === number).length,
        async hasOneAnswer() {
          // Dated so that it is a message of its own, however fast all of this went.
          somebody.write(`And now ${number}?`, 1);
          await somebody.reads(SHOWN, `You said: And now ${number}?`);
        },
      };
      people.push(person);
      return person;
    };
    const callsOf = (method: string, { chat }: Person): number =>
      rig.simulator.calls({ method, chatId: chat.id }).length;
    const until = (condition: () => boolean, limit?: { readonly timeoutMs: number }): Promise<void> =>
      rig.simulator.waitFor(condition, limit);
    const lost = new SharedDeath(() => rig);
    const byItself = new SharedDeath(() => rig);
    // Messages come again after its deaths, and those of `byItself` must need no request.
    const asked = new SharedDeath(() => rig);

    // A post that was not made is known as such only when it cannot land any more, 8 seconds after it began. Private chats
    // share their ids. Where few people write, a lost post has the first id that is not known to be another's, and the
    // search takes less than a second. So these tests come first, and those whose post takes an id are the first of them.
    for (const [processed, timeoutMs] of [
      [true, 5_000],
      [false, 10_000],
    ] as const) {
      for (const onPartial of models) {
        lost.it(
          `goes on within ${timeoutMs} ms of a death under the first message's call (done: ${processed}), once and unmarked: a model that ${onPartial}`,
          async ({ die, meet }) => {
            const ada = newPerson(onPartial);
            const chatId = ada.chat.id;
            rig.simulator.fault({ method: "sendMessage", chatId, kind: "hang", processed });
            const slowness = await die({
              async before() {
                ada.ask();
                await until(() => callsOf("sendMessage", ada) > 0);
              },
            });
            await until(() => ada.texts().includes(SHOWN), { timeoutMs: timeoutMs * slowness });
            expect(ada.texts()).toEqual([SHOWN]);
            await meet();
            await ada.hasOneAnswer();
          },
        );
      }
    }

    for (const onPartial of models) {
      const model = `a model that ${onPartial}`;

      byItself.it(
        `completes a half-streamed answer in the same message, within five seconds and without a request: ${model}`,
        async ({ die, meet }) => {
          const ada = newPerson(onPartial);
          const gate = createGate();
          ada.answer = (calls) => [
            say(ANSWER.slice(0, HALF)),
            ...(calls === 0 ? [holdAt(gate)] : []),
            say(ANSWER.slice(HALF)),
          ];
          ada.ask();
          await gate.reached;
          await until(() => (ada.texts()[0]?.length ?? 0) > 20);
          const before = ada.replies()[0]?.id;
          const slowness = await die();
          await until(() => ada.texts().includes(SHOWN), { timeoutMs: 5000 * slowness });
          expect(ada.replies()[0]?.id).toBe(before);
          gate.open();
          await meet();
          await ada.hasOneAnswer();
        },
      );

      byItself.it(`completes an answer whose last edit never left: ${model}`, async ({ die, meet }) => {
        const ada = newPerson(onPartial);
        const gate = createGate();
        ada.answer = () => [say(ANSWER.slice(0, HALF)), holdAt(gate), say(ANSWER.slice(HALF))];
        ada.ask();
        await gate.reached;
        await until(() => (ada.texts()[0]?.length ?? 0) > 20);
        const editsBefore = callsOf("editMessageText", ada);
        const chatId = ada.chat.id;
        rig.simulator.fault({ method: "editMessageText", chatId, kind: "hang", processed: false });
        gate.open();
        await until(() => callsOf("editMessageText", ada) > editsBefore);
        await die();
        await until(() => ada.texts().includes(SHOWN));
        await meet();
        await ada.hasOneAnswer();
      });

      byItself.it(
        `asks the model once for a reply that was whole before the kill: ${model}`,
        async ({ die, meet }) => {
          const ada = newPerson(onPartial);
          ada.ask();
          await until(() => ada.texts().includes(SHOWN));
          await rig.bot.logged(new RegExp(`"event":"turn.ended".*"chat":"${ada.chat.id}"`));
          await die();
          await meet();
          await ada.hasOneAnswer();
          expect(ada.asked()).toBe(2);
        },
      );

      byItself.it(
        `answers a message by itself after it died right behind the 200: ${model}`,
        async ({ die, meet }) => {
          const ada = newPerson(onPartial);
          const isDelivered = () =>
            rig.simulator
              .updates()
              .some(({ chatId, state }) => chatId === ada.chat.id && state === "delivered");
          const slowness = await die({
            async before() {
              ada.ask();
              await until(isDelivered);
            },
          });
          await until(() => ada.texts().includes(SHOWN), { timeoutMs: 5000 * slowness });
          await meet();
          await ada.hasOneAnswer();
        },
      );
    }

    for (const onPartial of models) {
      asked.it(
        `answers a message whose webhook was never answered: a model that ${onPartial}`,
        async ({ die }) => {
          const ada = newPerson(onPartial);
          await die({ with: ada.ask });
          await until(() => ada.texts().includes(SHOWN));
          await ada.hasOneAnswer();
        },
      );
    }
    further?.({
      rig: () => rig,
      asked,
      script(answer) {
        const requests: ModelRequest[] = [];
        scripts.push((request) => {
          const steps = answer(request);
          if (steps !== undefined) requests.push(request);
          return steps;
        });
        return requests;
      },
    });
  });
}

function numberIn(text: string): number {
  return Number(/(?:Hello|And now) (\d+)/.exec(text)?.[1]);
}
