/**
 * Processor time of the splitter and of the last boundary of a model's text, without bot and network:
 *
 *     node lab/bench/split-cost.ts                      every text, short report
 *     node lab/bench/split-cost.ts --only "half images,prose" --lengths 3000,12000
 *     node lab/bench/split-cost.ts --whole 1000000      time of whole texts of this length
 *
 * Streamed: the text up to each length is present. Then chunks of 4 to 20 characters arrive, and the parts are
 * requested after each one, as for an edit.
 */
import { readOptions } from "../../scripts/command-line/read-options.ts";
import { Planner, splitText } from "../../delivery/text/split/index.ts";
import { telegramEntities } from "../../delivery/text/render/index.ts";
import { OutgoingText, type OutgoingContext } from "../../src/outgoing/index.ts";
import { costlyTexts } from "../support/costly-texts.ts";
import { messageEvent } from "../support/messenger-events.ts";

const values = readOptions("node lab/bench/split-cost.ts", {
  only: { type: "string", about: "names of the texts" },
  lengths: { type: "string", default: "300,3000,12000,100000", about: "lengths of the text so far" },
  whole: { type: "string", default: "100000", about: "length of whole texts" },
  chunks: { type: "string", default: "24", about: "chunks of each measurement" },
  json: { type: "boolean", default: false, about: "print the figures as JSON" },
});

const options = { renderer: telegramEntities, limits: { maxLength: 4096, maxEntities: 100 } };
const context: OutgoingContext = {
  locale: "en",
  event: messageEvent({ thread: { id: "t:-1", chatId: "-1", isDirectMessage: false } }),
};
const lengths = values.lengths.split(",").map(Number);
const wholeLength = Number(values.whole);
const chunkCount = Number(values.chunks);
const names = values.only?.split(",") ?? Object.keys(costlyTexts);

/** Longest time to measure a slow text. It is enough to see that the text is slow. */
const PATIENCE_MS = 4000;

function processorMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function chunkSize(turn: number): number {
  return 4 + ((turn * 7) % 17);
}

/** Returns the milliseconds for a chunk after `length` characters: to read it, and to request the parts. */
function streamed(text: string, length: number): { readonly split: number; readonly clean: number } {
  const planner = new Planner(options);
  planner.append(text.slice(0, length));
  planner.parts();
  let at = length;
  let turns = 0;
  const split = processorMs(() => {
    const until = performance.now() + PATIENCE_MS;
    for (; turns < chunkCount && performance.now() < until; turns += 1) {
      planner.append(text.slice(at, at + chunkSize(turns)));
      at += chunkSize(turns);
      planner.parts();
    }
  });
  const outgoing = newOutgoing();
  outgoing.append(text.slice(0, length));
  const clean = processorMs(() => {
    let from = length;
    for (let turn = 0; turn < chunkCount; turn += 1) {
      outgoing.append(text.slice(from, from + chunkSize(turn)));
      from += chunkSize(turn);
    }
  });
  return { split: split / Math.max(1, turns), clean: clean / chunkCount };
}

function newOutgoing(): OutgoingText {
  return new OutgoingText({}, context, { append: () => {}, replace: () => {}, interrupt: () => {} });
}

const rows = names.map((name) => {
  const make = costlyTexts[name];
  if (make === undefined)
    throw new Error(`No text is named "${name}". There are: ${Object.keys(costlyTexts).join(", ")}.`);
  const text = make(Math.max(...lengths) + chunkCount * 24);
  streamed(text, Math.min(...lengths));
  const chunks = lengths.map((length) => streamed(text, length));
  const whole = make(wholeLength);
  const split = processorMs(() => splitText(whole, { ...options, final: true }));
  const clean = processorMs(() => {
    const outgoing = newOutgoing();
    for (let at = 0, turn = 0; at < whole.length; at += chunkSize(turn), turn += 1) {
      outgoing.append(whole.slice(at, at + chunkSize(turn)));
    }
    outgoing.finish(whole);
  });
  if (!values.json) {
    const figures = [
      ...chunks.map((chunk) => chunk.split),
      split,
      ...chunks.map((chunk) => chunk.clean),
      clean,
    ];
    console.log(name.padEnd(24), figures.map((figure) => figure.toFixed(2).padStart(9)).join(""));
  }
  return { name, chunks, split, clean };
});
if (values.json) console.log(JSON.stringify(rows));
