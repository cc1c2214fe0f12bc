import { say } from "../../../lab/support/model-script.ts";
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
