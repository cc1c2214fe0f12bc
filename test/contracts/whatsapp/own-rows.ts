import { say } from "../../../lab/support/model-script.ts";
import type { Row } from "../row.ts";
import { Impossible } from "../stage.ts";
import { WhatsAppEmulator } from "./emulator.ts";

export const ownRows: readonly Row[] = [
  {
    key: "group",
    title: "A message of a group is left alone, and stays out of its author's private chat",
    async play(stage) {
      const { emulator } = stage;
      if (!(emulator instanceof WhatsAppEmulator)) throw new Impossible();
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-in-group", [say("To the group.")]);
      stage.on("cue-in-private", [say("In private.")]);
      const statuses: number[] = [];
      for (const webhook of emulator.writeInGroup(talk.by, "cue-in-group please").webhooks)
        statuses.push(await stage.deliver(webhook));
      await talk.write("cue-in-private please");
      await talk.reads("In private.");
      return () => {
        if (statuses.some((status) => status !== 200)) return `status ${statuses.join(", ")}`;
        if (stage.requests("cue-in-group").length > 0) return "answered";
        const [request] = stage.requests("cue-in-private");
        if (JSON.stringify(request?.messages).includes("cue-in-group")) return "in the private chat";
        return talk.bot().length === 1 ? "works" : `${talk.bot().length} messages`;
      };
    },
  },
];
