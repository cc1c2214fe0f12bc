import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say } from "../../../lab/support/model-script.ts";
import type { Row } from "../row.ts";
import { Impossible, Talk } from "../stage.ts";
import { GitHubEmulator } from "./emulator.ts";
import { OTHER_OWNER } from "./repository.ts";

/** Rows of an App that two organizations have installed. */
export const appRows: readonly Row[] = [
  {
    key: "two-organizations",
    title: "Both organizations are answered, one that uninstalled the App is not, and the other goes on",
    async play(stage) {
      const { emulator } = stage;
      if (!(emulator instanceof GitHubEmulator)) throw new Impossible();
      const install = async (action: "created" | "deleted"): Promise<void> => {
        for (const webhook of emulator.install(OTHER_OWNER, action).webhooks) await stage.deliver(webhook);
      };
      const stays = stage.talk(stage.person("Ada"));
      const by = stage.person("Grace");
      const leaves = new Talk(stage, by, emulator.shared(`place-of-${by.id}`, OTHER_OWNER), false);
      const gate = createGate();
      stage.on("cue-both", [say("Hello to both.")]);
      stage.on("cue-late", [holdAt(gate), say("Said too late.")]);
      stage.on("cue-goes-on", [say("It goes on.")]);
      stage.on("cue-is-back", [say("We are back.")]);
      await stays.write("cue-both please");
      await leaves.write("cue-both please");
      const first = await stays.reads("Hello to both.");
      const second = await leaves.reads("Hello to both.");
      await leaves.write("cue-late please");
      await gate.reached;
      await install("deleted");
      gate.open();
      await stays.write("cue-goes-on please");
      const goesOn = await stays.reads("It goes on.");
      await stage.rest(undefined, leaves.place);
      const wasTold = leaves.bot().some(({ text }) => text.includes("Said too late."));
      await install("created");
      await leaves.write("cue-is-back please");
      const isBack = await leaves.reads("We are back.");
      return () => {
        if (first === undefined || second === undefined) return "not both are answered";
        if (wasTold) return "answered after it has uninstalled";
        if (goesOn === undefined) return "the other ended, too";
        return isBack === undefined ? "not answered after it has installed again" : "works";
      };
    },
  },
];
