import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say } from "../../../lab/support/model-script.ts";
import type { Row } from "../row.ts";

export const ownRows: readonly Row[] = [
  {
    key: "command-after-command",
    title: "Commands that are given while the bot is busy are all completed",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"), "shared");
      const gate = createGate();
      stage.on("cue-busy", [holdAt(gate), say("The first answer.")]);
      stage.on("cue-second", [say("The second answer.")]);
      stage.on("cue-third", [say("The third answer.")]);
      await talk.command("ask", "cue-busy");
      await gate.reached;
      await talk.command("ask", "cue-second");
      await talk.command("ask", "cue-third");
      gate.open();
      await talk.reads("The third answer.");
      return () => {
        const said = talk.bot().map(({ text }) => text);
        const isWhole = said.join(" ") === "The first answer. The second answer. The third answer.";
        return isWhole ? "works" : said.join(" ");
      };
    },
  },
  {
    key: "command-without-answer",
    title: "A command that nothing answers shows no sign for long",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"), "shared");
      await talk.command("quiet");
      const isShown = (): boolean => talk.bot().length > 0;
      await stage.until(isShown);
      await stage.until(() => !isShown());
      return () => (isShown() ? "shows a sign" : "works");
    },
  },
];
