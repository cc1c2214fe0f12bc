import { say } from "../../../lab/support/model-script.ts";
import type { Row } from "../row.ts";
import { Impossible } from "../stage.ts";
import { TeamsEmulator } from "./emulator.ts";

interface Chats {
  readonly messengerId: string;
  readonly chatId: string;
}

export const ownRows: readonly Row[] = [
  {
    key: "service-address",
    title: "A chat goes on when the address of its service changes",
    async play(stage) {
      const { emulator } = stage;
      if (!(emulator instanceof TeamsEmulator)) throw new Impossible();
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-here", [say("Here.")]);
      stage.on("cue-elsewhere", [say("And there.")]);
      await talk.write("cue-here: my order is 4711");
      await talk.reads("Here.");
      emulator.moveService(talk.place, "emea");
      await talk.write("cue-elsewhere please");
      await talk.reads("And there.");
      const chats = await stage.ask<readonly Chats[]>("/chats");
      const name = Buffer.from(talk.place).toString("base64url");
      const own = chats.filter(({ chatId }) => chatId.split(":")[1] === name);
      const [chat] = own;
      const to = { messenger: chat?.messengerId, chatId: chat?.chatId };
      await stage.ask("/say", { content: "By the way.", to });
      await talk.reads("By the way.");
      return () => {
        if (own.length !== 1) return `${own.length} chats`;
        const [request] = stage.requests("cue-elsewhere");
        if (!JSON.stringify(request?.messages).includes("4711")) return "without memory";
        const said = talk.bot().map(({ text }) => text);
        return said.join(" ") === "Here. And there. By the way." ? "works" : said.join(" ");
      };
    },
  },
];
