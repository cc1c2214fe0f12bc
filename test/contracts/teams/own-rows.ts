import { callTool, say } from "../../../lab/support/model-script.ts";
import type { Act, SeenMessage } from "../platform-emulator.ts";
import type { Row } from "../row.ts";
import { Impossible } from "../stage.ts";
import type { Stage, Talk } from "../stage.ts";
import type { Drive } from "./drive.ts";
import { TeamsEmulator } from "./emulator.ts";

interface Chats {
  readonly messengerId: string;
  readonly chatId: string;
}

/** Asks for the report. Resolves with the card that asks for consent. */
async function askForReport(
  stage: Stage,
  cue: string,
): Promise<{ readonly card: SeenMessage; readonly drive: Drive; readonly talk: Talk }> {
  const { emulator } = stage;
  if (!(emulator instanceof TeamsEmulator)) throw new Impossible();
  const talk = stage.talk(stage.person("Ada"), "direct");
  stage.on(cue, [callTool("send_report", {})], [say("Here is the report.")]);
  await talk.write(`${cue} please`);
  await talk.reads("Here is the report.");
  const card = await stage.until(() => talk.bot().find(({ buttons }) => buttons.includes("Allow")));
  if (card === undefined) throw new Error("Nobody asks for consent.");
  return { card, drive: emulator.drive, talk };
}

function allowing({ by, place }: Talk, { id: messageId }: SeenMessage): Act {
  return { kind: "press", by, in: place, messageId, label: "Allow" };
}

/** Tells which files people see, and what else there is in place of the card. */
function seenOf(talk: Talk, card: SeenMessage): string {
  const messages = talk.bot();
  const files = messages.flatMap((message) => message.files);
  if (files.some(({ bytes, name }) => name !== "report.csv" || !Buffer.from(bytes).includes("1,50")))
    return "a broken file";
  const now = messages.find(({ id }) => id === card.id);
  const rest = now?.buttons.length === 0 ? now.text : (now?.buttons.join(", ") ?? "gone");
  return `${files.length} files${rest === "" ? "" : `; ${rest}`}`;
}

const hasFile = (talk: Talk): boolean => talk.bot().some(({ files }) => files.length > 0);

export const ownRowsAlone: readonly Row[] = [
  {
    key: "file-killed",
    title: "A process killed before it has uploaded a file, and between an upload and its card",
    async play(stage) {
      const late = await askForReport(stage, "cue-file-killed");
      const early = await askForReport(stage, "cue-file-killed-before");
      const { drive } = early;
      const before = drive.uploads.length;
      const tries = () => stage.server.calls().filter(({ kind }) => kind === "upload").length;
      const triesBefore = tries();
      stage.server.fail({ fault: { kind: "no-answer" }, on: ["upload"], times: 1 });
      await late.talk.press(late.card, "Allow");
      await stage.until(() => drive.uploads.length > before);
      stage.server.fail({ fault: { kind: "cut-before" }, on: ["upload"], times: 1 });
      await early.talk.press(early.card, "Allow");
      await stage.until(() => tries() > triesBefore + 1);
      await stage.bot.restart();
      await stage.until(() => hasFile(late.talk) && hasFile(early.talk));
      return () => {
        const seen = [late, early].map(({ card, talk }) => seenOf(talk, card));
        const count = drive.uploads.length - before;
        return count === 2 && seen.every((one) => one === "1 files")
          ? "works"
          : `${count}: ${seen.join("; ")}`;
      };
    },
  },
];

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
  {
    key: "file-accepted",
    title: "A file is put into the OneDrive of a person who allows it, once",
    async play(stage) {
      const { card, talk } = await askForReport(stage, "cue-file-accepted");
      // Pressed again before the first press has come through.
      const press = allowing(talk, card);
      const acted = await Promise.all([stage.act(press), stage.act(press)]);
      await stage.until(() => hasFile(talk));
      for (const webhook of acted.flatMap(({ webhooks }) => webhooks)) await stage.deliver(webhook);
      return () => (seenOf(talk, card) === "1 files" ? "works" : seenOf(talk, card));
    },
  },
  {
    key: "file-declined",
    title: "A file that a person declines is not sent",
    async play(stage) {
      const { card, talk } = await askForReport(stage, "cue-file-declined");
      const webhook = await stage.emulator.act(allowing(talk, card));
      await talk.press(card, "Decline");
      const isDeclined = () => seenOf(talk, card) === "0 files; report.csv";
      await stage.until(isDeclined);
      // A press that the platform delivers late.
      for (const late of webhook?.webhooks ?? []) await stage.deliver(late);
      return () => (isDeclined() ? "works" : seenOf(talk, card));
    },
  },
  {
    key: "file-refused",
    title: "A file whose upload is refused is told in words",
    async play(stage) {
      const { card, drive, talk } = await askForReport(stage, "cue-file-refused");
      const acted = await stage.emulator.act(allowing(talk, card));
      for (const webhook of acted?.webhooks ?? []) {
        await drive.expire(webhook.request(stage.webhookUrl));
        await stage.deliver(webhook);
      }
      await talk.reads("This file couldn't be sent.");
      return () => {
        const seen = seenOf(talk, card);
        return /^0 files; report.csv\s+This file couldn't be sent.$/.test(seen) ? "works" : seen;
      };
    },
  },
  {
    key: "file-elsewhere",
    title: "A press with the token of another chat's file gets no file",
    async play(stage) {
      const { card, talk } = await askForReport(stage, "cue-file-elsewhere");
      const other = await askForReport(stage, "cue-file-elsewhere-too");
      if (!(stage.emulator instanceof TeamsEmulator)) throw new Impossible();
      stage.emulator.forgeConsent(other.talk.place, card.id, talk.place);
      await other.talk.press(other.card, "Allow");
      await other.talk.reads("no longer in use");
      return () => {
        const seen = `${seenOf(other.talk, other.card)}; ${seenOf(talk, card)}`;
        const isTold = seen.startsWith("0 files; This button is no longer in use.");
        return isTold && seen.endsWith("0 files; Allow, Decline") ? "works" : seen;
      };
    },
  },
  {
    key: "file-in-channel",
    title: "A file is named in a channel, which takes none",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"), "shared");
      stage.on("cue-file-in-channel", [callTool("send_report", {})], [say("Here is the report.")]);
      await talk.write("cue-file-in-channel please");
      await talk.reads("Here is the report.");
      await talk.reads("report.csv");
      return () => {
        const [named = "nothing"] = talk
          .bot()
          .flatMap(({ text }) => (text.includes("report.csv") ? text : []));
        return named.split("\n")[0] === "report.csv" && !talk.bot().some(({ buttons }) => buttons.length > 0)
          ? "works"
          : named;
      };
    },
  },
];
