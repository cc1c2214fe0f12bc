import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say } from "../../../lab/support/model-script.ts";
import type { Row } from "../row.ts";
import { Impossible, type Stage, type Talk } from "../stage.ts";

/**
 * Writes a message that waits for the end of an answer, and does something to it before that.
 *
 * @throws {Impossible} if a message has no id
 */
async function whileWaiting(
  stage: Stage,
  cue: string,
  change: (talk: Talk, messageId: string) => Promise<unknown>,
): Promise<Talk> {
  const talk = stage.talk(stage.person("Ada"));
  const gate = createGate();
  stage.on(`${cue}-first`, [holdAt(gate), say("First answer.")]);
  const { messageId } = await talk.write(`${cue}-first`);
  await stage.until(() => stage.requests(`${cue}-first`).length > 0);
  const thread = talk.isDirect || messageId === undefined ? {} : { inThreadOf: messageId };
  const second = await talk.write(`${cue}-second`, thread);
  try {
    if (second.messageId === undefined) throw new Impossible();
    await change(talk, second.messageId);
  } finally {
    gate.open();
  }
  await talk.reads("First answer.");
  return talk;
}

export const changes: readonly Row[] = [
  {
    key: "edit",
    title: "An edit of a waiting message counts",
    async play(stage) {
      stage.on("cue-changed", [say("To the changed one.")]);
      const talk = await whileWaiting(stage, "cue-edit", ({ by, place }, messageId) =>
        stage.act({ kind: "edit", by, in: place, messageId, text: "cue-changed" }),
      );
      await stage.until(() => talk.bot().length > 1, 5000);
      return () => {
        if (stage.requests("cue-edit-second").length > 0) return "the old text is answered";
        return stage.requests("cue-changed").length === 1 ? "works" : "no answer";
      };
    },
  },
  {
    key: "delete",
    title: "A deleted waiting message is not answered",
    async play(stage) {
      await whileWaiting(stage, "cue-delete", ({ by, place }, messageId) =>
        stage.act({ kind: "delete", by, in: place, messageId }),
      );
      return () => (stage.requests("cue-delete-second").length === 0 ? "works" : "answered all the same");
    },
  },
];
