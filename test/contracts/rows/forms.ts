import { callTool, say } from "../../../lab/support/model-script.ts";
import type { ModelRequest } from "../../../lab/support/model-request.ts";
import { textOf } from "../../../lab/support/scripted-model.ts";
import type { Row } from "../row.ts";

const BOXES = 12;
/** The result of the action, which the model reads in a turn of its own. */
const OUTCOME = `returned: broken ${BOXES}`;
const lastText = (request: ModelRequest): string => textOf(request.messages.at(-1));

export const forms: readonly Row[] = [
  {
    key: "form",
    title: "A form asks for a choice and a number, and its answers count once",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-form", [callTool("return_item", {})], [say("Thank you.")]);
      await talk.write("cue-form please");
      const choice = await stage.until(() =>
        talk.bot().find(({ buttons, text }) => buttons.includes("too late") || text.includes("too late")),
      );
      if (choice === undefined) return () => "no form";
      await talk.pick(choice, "broken", 1);
      const count = await talk.reads("2 of 2", 6000);
      if (count === undefined) return () => "choice without effect";
      await talk.choose(BOXES, count);
      const summary = await talk.reads("Is this right?", 6000);
      if (summary === undefined) return () => "number without effect";
      await talk.pick(summary, "Send", 1);
      const told = (): number =>
        stage.model.requests().filter((one) => lastText(one).includes(OUTCOME)).length;
      await stage.until(() => told() > 0, 6000);
      return () => (told() === 1 ? "works" : `${told()} outcomes`);
    },
  },
];
