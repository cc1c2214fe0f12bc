import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say } from "../../../lab/support/model-script.ts";
import type { Row } from "../row.ts";
import { Impossible } from "../stage.ts";
import { LinearEmulator } from "./emulator.ts";

export const ownRows: readonly Row[] = [
  {
    key: "outside",
    title: "A mention by a person outside of the workspace is answered, and one by an app is not",
    async play(stage) {
      const { emulator } = stage;
      if (!(emulator instanceof LinearEmulator)) throw new Impossible();
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-by-person", [say("Hello from inside.")]);
      stage.on("cue-by-app", [say("Hello, app.")]);
      const app = emulator.writeFromOutside(talk.place, "@shop-bot cue-by-app please", "app");
      const person = emulator.writeFromOutside(talk.place, "@shop-bot cue-by-person please", "person");
      const statuses: number[] = [];
      for (const webhook of [...app.webhooks, ...person.webhooks, ...person.webhooks])
        statuses.push(await stage.deliver(webhook));
      const answer = await talk.reads("Hello from inside.");
      return () => {
        if (statuses.some((status) => status !== 200)) return `status ${statuses.join(", ")}`;
        if (stage.requests("cue-by-app").length > 0) return "an app is answered";
        if (answer?.threadOf !== person.messageId) return answer === undefined ? "no answer" : "elsewhere";
        return talk.bot().length === 1 ? "works" : `${talk.bot().length} messages`;
      };
    },
  },
];

/** People read of a session without an activity within this time that the agent does not respond. */
const RESPONDS_WITHIN_MS = 10_000;

/**
 * A session whose model says nothing until the first activity is seen: it comes in time, however long the model takes.
 *
 * @param isKilled whether the process is killed before its first activity. The time in which no process runs is not
 *   counted
 */
function firstActivity(key: string, title: string, isKilled: boolean): Row {
  return {
    key,
    title,
    async play(stage) {
      const { bot, emulator, server } = stage;
      if (!(emulator instanceof LinearEmulator)) throw new Impossible();
      const talk = stage.talk(stage.person("Ada"));
      const gate = createGate();
      stage.on(`cue-${key}`, [holdAt(gate), say("Thought about it.")]);
      let isCut = isKilled;
      server.fail({
        fault: { kind: "cut-before" },
        on: ["typing"],
        in: talk.place,
        times: 1000,
        while: () => isCut,
      });
      await talk.write(`cue-${key} please`);
      await gate.reached;
      let downMs = 0;
      if (isKilled) {
        const killedAt = Date.now();
        await bot.kill();
        isCut = false;
        await bot.restart();
        downMs = Date.now() - killedAt;
      }
      await stage.until(() => emulator.firstActivityMs(talk.place) !== undefined);
      const firstMs = emulator.firstActivityMs(talk.place);
      const isSilent = talk.bot().length === 0;
      gate.open();
      await talk.reads("Thought about it.");
      return () => {
        if (firstMs === undefined || !isSilent) return "no activity before the answer";
        if (firstMs - downMs > RESPONDS_WITHIN_MS) return `after ${firstMs - downMs} ms`;
        return talk.bot().length === 1 ? "works" : `${talk.bot().length} messages`;
      };
    },
  };
}

export const sessionRows: readonly Row[] = [
  firstActivity(
    "first-activity",
    "A session has an activity within 10 s, however long the model takes",
    false,
  ),
];

export const sessionRowsAlone: readonly Row[] = [
  firstActivity("killed-session", "So does one whose process was killed before the first activity", true),
];
