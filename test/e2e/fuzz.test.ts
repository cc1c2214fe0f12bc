/**
 * Bent updates and broken model streams against the served bot. `FUZZ_RUNS` is the number of chats of each kind,
 * `FUZZ_SEED` where they begin; a failure names the seed and the input.
 */
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { SimChat } from "../../playground/telegram/simulator.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { repliesIn } from "./rehearsal.ts";
import { startRawModel, type RawModel } from "./fuzz/raw-model.ts";
import { MARKER, piecesOf, strangeStream, type StrangeStream } from "./fuzz/strange-streams.ts";
import { bodyOf, strangeUpdate, type StrangeUpdate } from "./fuzz/strange-updates.ts";

const KEY = "sk-a-key-that-nobody-may-read";
const RUNS = Number(process.env.FUZZ_RUNS ?? 18);
const SEED = Number(process.env.FUZZ_SEED ?? 20_260);
/** Number of chats that write at the same time. */
const AT_ONCE = 9;
const TIME_LIMIT_MS = 60_000 + RUNS * 3000;

let rig: Rig;
let model: RawModel;
const streams = new Map<string, StrangeStream>();
const markers: { readonly word: string; readonly chat: SimChat }[] = [];
let ids = 800_000;

beforeAll(async () => {
  model = await startRawModel((text) => {
    const question = [...text.matchAll(/question (\w+)/g)].at(-1)?.[1];
    if (question !== undefined) return plain(`Answer ${question}.`);
    const word = markers.findLast((one) => text.includes(`stream ${one.word}`))?.word;
    const stream = word === undefined ? undefined : streams.get(word);
    if (word === undefined || stream === undefined) return plain("Noted.");
    return { pieces: piecesOf(stream, word), isCut: stream.end === "cut" };
  });
  rig = await startRig({
    config: "test/e2e/bots/impatient/wrangler.jsonc",
    env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.url },
  });
});

afterAll(async () => {
  await rig.close();
  await model.close();
});

it(
  "takes bent updates without a crash, a 5xx, a leak or a silence",
  async () => {
    await eachAtOnce(fc.array(strangeUpdate, { minLength: 1, maxLength: 2 }), "updates", sendUpdates);
    await expectNoLeak();
  },
  TIME_LIMIT_MS,
);

it(
  "takes broken model streams without a crash, a leak or a silence",
  async () => {
    await eachAtOnce(strangeStream, "stream", playStream);
    await expectNoLeak();
  },
  TIME_LIMIT_MS,
);

/** Posts bent updates to one chat; afterwards the chat must still work, and nothing that was taken may be unanswered. */
async function sendUpdates(updates: readonly StrangeUpdate[], index: number): Promise<void> {
  const marker = nextMarker();
  const user = rig.simulator.addUser({ first_name: marker });
  const chat =
    index % 3 === 2
      ? rig.simulator.addGroup({ title: marker, members: [user] })
      : rig.simulator.privateChat(user);
  markers.push({ word: marker, chat });
  const isPrivate = chat.type === "private";
  for (const update of updates) {
    const body = bodyOf(update, {
      userId: user.id,
      chat: { id: chat.id, type: isPrivate ? "private" : "supergroup" },
      botName: rig.simulator.bot.username ?? "",
      marker,
      updateId: nextId,
      messageId: nextId,
      now: Math.floor(Date.now() / 1000),
    });
    const response = await post(body);
    expect([200, 400, 413]).toContain(response.status);
    expect(await response.text()).not.toContain(marker);
  }
  await asks(chat, marker, isPrivate);
  if (isPrivate) expect(repliesIn(rig, chat).length).toBeGreaterThanOrEqual(takenIn(chat));
}

/** Lets the model answer one chat with a broken stream; something must be shown, and the chat must still work. */
async function playStream(stream: StrangeStream): Promise<void> {
  const marker = nextMarker();
  const user = rig.simulator.addUser({ first_name: marker });
  const chat = rig.simulator.privateChat(user);
  markers.push({ word: marker, chat });
  streams.set(marker, stream);
  rig.simulator.sendText(chat, user, `stream ${marker}`);
  await rig.simulator.waitFor(() => repliesIn(rig, chat).length > 0);
  // A stream that shows nothing new gives way to the question, and one answer is for both.
  await asks(chat, marker, true);
}

/** An ordinary question, which must be answered by the newest message of the chat. */
async function asks(chat: SimChat, marker: string, isPrivate: boolean): Promise<void> {
  const name = isPrivate ? "" : `@${rig.simulator.bot.username} `;
  const user = rig.simulator.users().find((one) => one.first_name === marker);
  if (user === undefined) throw new Error(`Nobody is called ${marker}.`);
  rig.simulator.sendText(chat, user, `${name}question ${marker}`);
  const isAnswered = (): boolean => repliesIn(rig, chat).at(-1)?.text === `Answer ${marker}.`;
  await rig.simulator.waitFor(isAnswered).catch((error: unknown) => {
    const texts = repliesIn(rig, chat).map(({ text }) => text.slice(0, 200));
    const lines = linesOf(chat).slice(-12).join("\n");
    throw new Error(`No answer in ${chat.id}; it reads ${JSON.stringify(texts)}.\n${lines}`, {
      cause: error,
    });
  });
}

/** How many messages of a chat the bot took to answer them, by its own log. */
function takenIn(chat: SimChat): number {
  return linesOf(chat).filter((line) => /"outcome":"(queued|command: (?!stop))/.test(line)).length;
}

function linesOf(chat: SimChat): readonly string[] {
  return rig.bot
    .logs()
    .split("\n")
    .filter((line) => line.includes(`"telegram:${chat.id}"`));
}

/** Runs the same check on many inputs, some of them at the same time, with an undisturbed chat beside them. */
async function eachAtOnce<Input>(
  inputs: fc.Arbitrary<Input>,
  name: string,
  check: (input: Input, index: number) => Promise<void>,
): Promise<void> {
  const all = fc.sample(inputs, { numRuns: RUNS, seed: SEED });
  const queue = all.entries();
  const failures: Error[] = [];
  const worker = async (): Promise<void> => {
    for (const [index, input] of queue) {
      if (failures.length > 3) return;
      try {
        await check(input, index);
      } catch (error) {
        const shown = JSON.stringify(input).slice(0, 3000);
        failures.push(
          new Error(`FUZZ_SEED=${SEED}, ${name} ${index}: ${shown}\n${String(error)}`, { cause: error }),
        );
      }
    }
  };
  const end = new AbortController();
  const bystander = (async () => {
    const marker = nextMarker();
    const user = rig.simulator.addUser({ first_name: marker });
    const chat = rig.simulator.privateChat(user);
    markers.push({ word: marker, chat });
    while (!end.signal.aborted) {
      const before = repliesIn(rig, chat).length;
      rig.simulator.sendText(chat, user, `question ${marker}`);
      await rig.simulator.waitFor(() => repliesIn(rig, chat).length > before);
      expect(repliesIn(rig, chat).at(-1)?.text).toBe(`Answer ${marker}.`);
      await delay(500);
    }
  })();
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  end.abort();
  await bystander;
  if (failures.length > 0) throw new Error(failures.map(({ message }) => message).join("\n\n"));
  const health = await fetch(`${rig.bot.url}/health`);
  expect(health.status).toBe(200);
}

/** No secret anywhere, no exception's words, and no chat's words in another chat or in the log. */
async function expectNoLeak(): Promise<void> {
  const log = rig.bot.logs();
  const secrets = [rig.simulator.token, rig.secret, KEY];
  for (const secret of secrets) expect(log).not.toContain(secret);
  for (const word of ["EXCEPTION-DETAIL", "polluted", MARKER]) expect(log).not.toContain(word);
  const logged = markers.map(({ word }) => word).filter((word) => log.includes(word));
  expect(logged.map((word) => log.split("\n").find((line) => line.includes(word)))).toEqual([]);
  for (const call of rig.simulator.calls().filter(({ chatId }) => chatId !== undefined)) {
    const text = JSON.stringify(call.payload);
    for (const secret of [...secrets, "EXCEPTION-DETAIL"]) expect(text).not.toContain(secret);
    for (const { chat, word } of markers) {
      if (chat.id !== call.chatId && text.includes(word)) {
        expect.fail(`${call.method} to chat ${call.chatId} holds ${word} of chat ${chat.id}.`);
      }
    }
  }
}

function post(body: string): Promise<Response> {
  return fetch(rig.webhookUrl, {
    method: "POST",
    headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": rig.secret },
    body,
  });
}

function plain(text: string): { pieces: readonly Buffer[]; isCut: boolean } {
  const stream: StrangeStream = {
    events: [{ kind: "text", text }],
    end: "done",
    pieces: [100_000],
    lineEnd: "\n",
  };
  return { pieces: piecesOf(stream, ""), isCut: false };
}

function nextId(): number {
  ids += 1;
  return ids;
}

/** A word that nobody else says. */
function nextMarker(): string {
  return `zq${nextId().toString(36)}kx`;
}
