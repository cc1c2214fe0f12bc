import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say } from "../../../lab/support/model-script.ts";
import type { Acted } from "../platform-emulator.ts";
import type { Row } from "../row.ts";
import { Impossible, type Stage, type Talk } from "../stage.ts";

/** Writes a message that waits for the end of an answer. */
async function waiting(
  stage: Stage,
  cue: string,
): Promise<{ readonly talk: Talk; readonly second: Acted; readonly open: () => void }> {
  const talk = stage.talk(stage.person("Ada"));
  const gate = createGate();
  stage.on(`${cue}-first`, [holdAt(gate), say("First answer.")]);
  const { messageId } = await talk.write(`${cue}-first`);
  await stage.until(() => stage.requests(`${cue}-first`).length > 0);
  const thread = talk.isDirect || messageId === undefined ? {} : { inThreadOf: messageId };
  const second = await talk.write(`${cue}-second`, thread);
  return { talk, second, open: () => gate.open() };
}

export const changes: readonly Row[] = [
  {
    key: "edit",
    title: "An edit of a waiting message counts",
    async play(stage) {
      const { talk, second, open } = await waiting(stage, "cue-edit");
      if (second.messageId === undefined) throw new Impossible();
      stage.on("cue-changed", [say("To the changed one.")]);
      const { by, place } = talk;
      await stage
        .act({ kind: "edit", by, in: place, messageId: second.messageId, text: "cue-changed" })
        .finally(open);
      await talk.reads("First answer.");
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
      const { talk, second, open } = await waiting(stage, "cue-delete");
      if (second.messageId === undefined) throw new Impossible();
      const { by, place } = talk;
      await stage.act({ kind: "delete", by, in: place, messageId: second.messageId }).finally(open);
      await talk.reads("First answer.");
      return () => (stage.requests("cue-delete-second").length === 0 ? "works" : "answered all the same");
    },
  },
];
