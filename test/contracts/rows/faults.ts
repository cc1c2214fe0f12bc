import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say } from "../../../lab/support/model-script.ts";
import type { FaultRule } from "../emulator-server.ts";
import type { Row } from "../row.ts";
import { Impossible, type Stage, type Talk } from "../stage.ts";

const RESENT = "sent again after a connection problem";

/** An answer, of which a first post or all of a time fail. */
function answered(
  key: string,
  title: string,
  rule: (talk: Talk) => FaultRule,
  judge: (talk: Talk, stage: Stage) => string = copies,
): Row {
  return {
    key,
    title,
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      stage.on(`cue-${key}`, [say("The one answer.", { chunkSize: 100 })]);
      stage.server.fail({ on: ["post"], in: talk.place, ...rule(talk) });
      await talk.write(`cue-${key} please`);
      await talk.reads("The one answer.", 25_000);
      return () => judge(talk, stage);
    },
  };
}

/** An answer that grows, and whose changes fail for a while. */
function growing(key: string, title: string, rule: FaultRule): Row {
  return {
    key,
    title,
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const gate = createGate();
      const cue = `cue-${key}`;
      stage.on(cue, [say("The one "), holdAt(gate), say("answer.")]);
      stage.server.fail({ on: ["edit"], in: talk.place, ...rule });
      await talk.write(`${cue} please`);
      await gate.reached;
      if (stage.works("answer")) await talk.reads("The one");
      gate.open();
      await talk.reads("The one answer.", 25_000);
      return () => copies(talk);
    },
  };
}

/** A growing answer whose first post is made, and its response lost. */
const lostWords: Row = {
  key: "lost-words",
  title: "The first words of a lost post do not stay above its repetition",
  async play(stage) {
    const talk = stage.talk(stage.person("Ada"));
    const gate = createGate();
    stage.on("cue-lost-words", [say("The first words. "), holdAt(gate), say("And the last.")]);
    stage.server.fail({ fault: { kind: "cut-after" }, on: ["post"], in: talk.place });
    await talk.write("cue-lost-words please");
    await gate.reached;
    if (stage.works("answer")) await talk.reads("The first words.");
    gate.open();
    await talk.reads("And the last.", 25_000);
    return () => {
      const messages = talk.bot();
      if (!messages.some(({ text }) => text.includes("And the last."))) return "lost";
      return messages.length === 1 ? "works" : `${messages.length} messages`;
    };
  },
};

/** An answer whose message the platform lets nobody change any more. */
const editLimit: Row = {
  key: "edit-limit",
  title: "An answer whose message can no longer be changed goes on below",
  async play(stage) {
    if (stage.emulator.refuseEdit === undefined) throw new Impossible();
    const talk = stage.talk(stage.person("Ada"));
    const gate = createGate();
    stage.on("cue-edit-limit", [say("The first words. "), holdAt(gate), say("And the last.")]);
    stage.server.fail({ fault: { kind: "edit-limit" }, on: ["edit"], in: talk.place, times: 1000 });
    await talk.write("cue-edit-limit please");
    await gate.reached;
    await stage.until(() => talk.bot().length > 0);
    gate.open();
    await talk.reads("And the last.", 15_000);
    return () => {
      const text = talk
        .bot()
        .map((message) => message.text)
        .join("\n");
      if (!text.includes("And the last.")) return "the rest is lost";
      const times = text.split("The first words.").length - 1;
      return times === 1 ? "works" : `the first words ${times} times`;
    };
  },
};

/** Tells how often an answer is seen, and whether a repetition is marked as one. */
function copies(talk: Talk): string {
  const seen = talk.bot().filter(({ text }) => text.includes("The one answer."));
  const marked = seen.filter(({ text }) => text.includes(RESENT)).length;
  if (seen.length === 0) return "lost";
  const mark = marked > 0 ? ", marked as sent again" : "";
  const others = talk.bot().length - seen.length;
  if (others > 0) return `${seen.length} times and ${others} other messages${mark}`;
  if (seen.length === 1) return marked === 0 ? "works" : "once, marked as sent again";
  return `${seen.length} times${mark}`;
}

/** Also counts calls during the waiting time that the platform has set. */
function patiently(waitMs: number): (talk: Talk, stage: Stage) => string {
  return (talk, stage) => {
    const calls = stage.server.calls(talk.place);
    const refused = calls.find(({ status, kind }) => status >= 400 && kind === "post");
    if (refused === undefined) return "not refused";
    const early = calls.filter(({ at }) => at > refused.at && at < refused.at + waitMs - 100);
    return early.length > 0 ? `calls during the waiting time; ${copies(talk)}` : copies(talk);
  };
}

/** A call may take effect until its limit has passed: the bot is not done with a lost one before that. */
export const lostCalls: readonly Row[] = [
  growing("edit-error", "An answer whose changes fail for a while", {
    fault: { kind: "error", status: 500 },
    times: 3,
  }),
  answered("error-500", "An answer refused with the status 500", () => ({
    fault: { kind: "error", status: 500 },
  })),
  lostWords,
  answered("cut", "An answer made, and the connection cut", () => ({ fault: { kind: "cut-after" } })),
  answered("no-answer", "An answer made, and no response", () => ({ fault: { kind: "no-answer" } })),
];

/** Platforms that count the calls of an account refuse them in all of its chats. */
export const floods: readonly Row[] = [
  answered(
    "flood",
    "Waits as long as the platform asks (3 s)",
    () => ({ fault: { kind: "flood", retryAfterMs: 3000 } }),
    patiently(3000),
  ),
  answered("long-flood", "A rate limit for 6 s delays the answer, and no more", () => {
    let end: number | undefined;
    const isFlooded = (): boolean => Date.now() < (end ??= Date.now() + 6500);
    return { fault: { kind: "flood", retryAfterMs: 1000 }, times: 100, while: isFlooded };
  }),
  growing("edit-flood", "A rate limit in the middle of an answer (2 s)", {
    fault: { kind: "flood", retryAfterMs: 2000 },
  }),
];

export const faults: readonly Row[] = [
  answered("error-503", "An answer refused with the status 503", () => ({
    fault: { kind: "error", status: 503 },
  })),
  editLimit,
];
