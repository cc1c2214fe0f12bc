import { expect, it } from "vitest";
import type { FetchableAttachment } from "../../../src/core/chat/messenger-context.ts";
import { Transcripts } from "../../../src/messengers/turns/transcripts.ts";
import { createTranscriptStore } from "../../../src/turn/transcript-store.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const audio: FetchableAttachment = {
  kind: "voice",
  reference: {},
  fetch: () => Promise.reject(new Error("not asked for")),
  fetchMetadata: () => Promise.resolve({ kind: "voice" }),
};

function rig(transcribe: () => string | undefined | Promise<string | undefined>) {
  const clock = createVirtualClock();
  const database = createNodeDatabase();
  const { log, lines } = recordLog();
  const start = () =>
    new Transcripts({ clock, log: () => log, store: createTranscriptStore(database), transcribe });
  return { clock, lines, start, transcripts: start() };
}

it("goes on without a transcript after 30 seconds, says so, and does not try again", async () => {
  let asked = 0;
  const { clock, lines, start, transcripts } = rig(() => {
    asked += 1;
    return new Promise(() => undefined);
  });
  const text = transcripts.of("a", audio);
  await clock.advance(30_000);
  expect(await text).toBeUndefined();
  expect(lines).toMatchObject([
    { event: "bot.failed", fields: { method: "transcribe", code: "took-too-long" } },
  ]);
  expect(await start().of("a", audio)).toBeUndefined();
  expect(asked).toBe(1);
});

it("asks once for a file that two turns wait for", async () => {
  let asked = 0;
  const answer = Promise.withResolvers<string>();
  const { transcripts } = rig(() => {
    asked += 1;
    return answer.promise;
  });
  const both = Promise.all([transcripts.of("a", audio), transcripts.of("a", audio)]);
  answer.resolve("hello");
  expect(await both).toEqual(["hello", "hello"]);
  expect(asked).toBe(1);
});

it("keeps an empty text, and asks again where there was no answer", async () => {
  const answers = [undefined, "", "never asked"];
  const { start, transcripts } = rig(() => answers.shift());
  expect(await transcripts.of("a", audio)).toBeUndefined();
  expect(await start().of("a", audio)).toBe("");
  expect(await start().of("a", audio)).toBe("");
});
