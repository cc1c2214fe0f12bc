import { forgeriesOf } from "../forgeries.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { callTool, holdAt, say } from "../../../lab/support/model-script.ts";
import type { Acted } from "../platform-emulator.ts";
import type { Row } from "../row.ts";

/** The smallest PNG. */
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const MARKDOWN = `This is **important** and \`precise\`, see [the page](https://example.com/page).

- first thing
- second thing

| Day | Seats |
| --- | --- |
| Monday | 12 |
`;

/** Longest wait for the first words after the model has said them, where they are not expected. */
const FIRST_WORDS_MS = 2000;

export const answers: readonly Row[] = [
  {
    key: "start",
    title: "The bot starts, and is healthy",
    async play(stage) {
      const { status } = await fetch(`${stage.bot.url}/health`);
      return () => (status === 200 ? "works" : `status ${status}`);
    },
  },
  {
    key: "answer",
    title: "An answer grows while it is written",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const gate = createGate();
      stage.on("cue-answer", [say("These are the first words. "), holdAt(gate), say("And these the last.")]);
      await talk.write("cue-answer please");
      await gate.reached;
      const first = await talk.reads("first words", stage.works("answer") ? undefined : FIRST_WORDS_MS);
      gate.open();
      const whole = await talk.reads("And these the last.");
      return () => {
        if (whole === undefined) return first === undefined ? "no answer" : "only the first words";
        if (talk.bot().length !== 1) return `${talk.bot().length} messages`;
        return first === undefined ? "in one piece" : "works";
      };
    },
  },
  {
    key: "long-answer",
    title: "15,000 characters arrive once, in order",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const paragraphs = Array.from(
        { length: 100 },
        (_none, index) => `Paragraph ${index} of 100. ${"So it goes on. ".repeat(8).trim()}`,
      );
      stage.on("cue-long", [say(paragraphs.join("\n\n"), { chunkSize: 5000 })]);
      await talk.write("cue-long please");
      await talk.reads("Paragraph 99 of 100.");
      return () => {
        const seen = talk.bot().map(({ text }) => text);
        const found = [...seen.join("\n").matchAll(/Paragraph (\d+) of/g)].map(([, index]) => Number(index));
        const isWhole = found.length === 100 && found.every((value, index) => value === index);
        return isWhole ? "works" : `${new Set(found).size} of 100 paragraphs`;
      };
    },
  },
  {
    key: "markdown",
    title: "Markdown: bold, code, link, list, table",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-markdown", [say(MARKDOWN)]);
      await talk.write("cue-markdown please");
      await talk.reads("Monday");
      return () => {
        const text = talk
          .bot()
          .map((message) => message.text)
          .join("\n");
        const marks = talk.bot().flatMap((message) => message.marks);
        const has = (kind: string, part: string): boolean =>
          marks.some((mark) => mark.kind === kind && mark.text.includes(part));
        if (!text.includes("Monday")) return "no answer";
        const missing = [
          ...(has("bold", "important") ? [] : ["bold"]),
          ...(has("code", "precise") ? [] : ["code"]),
          ...(marks.some(({ kind, url }) => kind === "link" && url === "https://example.com/page")
            ? []
            : ["link"]),
          ...(has("item", "second thing") ? [] : ["list"]),
          ...(has("table", "Monday") ? [] : ["table"]),
        ];
        const source = /\*\*|\]\(|\\[\n_*]|^\| /m.exec(text);
        if (source !== null) return `source is shown: ${JSON.stringify(source[0])}`;
        return missing.length === 0 ? "works" : `without ${missing.join(", ")}`;
      };
    },
  },
  {
    key: "file-in",
    title: "The model sees a picture that somebody sends",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const bytes = new Uint8Array(Buffer.from(PICTURE, "base64"));
      const files = [{ name: "look.png", mediaType: "image/png", bytes }];
      stage.on("cue-file-in", [say("I see it.")]);
      await talk.write("cue-file-in: look", { files });
      await talk.reads("I see it.");
      return () => {
        const [request] = stage.requests("cue-file-in");
        if (request === undefined) return "no answer";
        return JSON.stringify(request.messages).includes(PICTURE) ? "works" : "not seen";
      };
    },
  },
  {
    key: "file-out",
    title: "A file of the bot's can be opened",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-file-out", [callTool("send_report", {})], [say("Here is the report.")]);
      await talk.write("cue-file-out please");
      const hasFile = (): boolean => talk.bot().some(({ files }) => files.length > 0);
      await stage.until(() => hasFile() || talk.bot().some(({ text }) => text.includes("report.csv")), 8000);
      await talk.reads("Here is the report.");
      const asks = talk.bot().find(({ buttons }) => buttons.includes("Allow"));
      if (asks !== undefined) {
        await talk.press(asks, "Allow");
        await stage.until(hasFile, 8000);
      }
      return () => {
        const file = talk.bot().flatMap(({ files }) => files)[0];
        if (file !== undefined) {
          const isRight = Buffer.from(file.bytes).toString() === "id,amount\n1,50\n";
          if (!isRight || file.name !== "report.csv") return "a broken file";
          return asks === undefined ? "works" : "after consent";
        }
        return talk.bot().some(({ text }) => text.includes("report.csv")) ? "named" : "nothing";
      };
    },
  },
  {
    key: "addressing",
    title: "Answers private messages, mentions and follow-ups in their thread, and leaves chatter alone",
    async play(stage) {
      const missing: string[] = [];
      const ada = stage.person("Ada");
      const direct = stage.emulator.direct(ada);
      stage.on("cue-direct", [say("Direct answer.")]);
      stage.on("cue-mention", [say("Mention answer.")]);
      stage.on("cue-follow", [say("Follow-up answer.")]);
      stage.on("cue-chatter", [say("Chatter answer.")]);
      if (direct !== undefined) {
        const acted = await stage.emulator.act({
          kind: "write",
          by: ada,
          in: direct,
          text: "cue-direct hello",
        });
        for (const webhook of acted?.webhooks ?? []) await stage.deliver(webhook);
      }
      const place = stage.emulator.shared("addressing");
      const inDirect = (text: string): boolean =>
        direct !== undefined &&
        stage.emulator.seen(direct).some((message) => message.by === "bot" && message.text.includes(text));
      const inShared = (text: string): boolean =>
        place !== undefined &&
        stage.emulator.seen(place).some((message) => message.by === "bot" && message.text.includes(text));
      if (place !== undefined) {
        const write = async (text: string, more: object): Promise<Acted | undefined> => {
          const acted = await stage.emulator.act({ kind: "write", by: ada, in: place, text, ...more });
          for (const webhook of acted?.webhooks ?? []) await stage.deliver(webhook);
          return acted;
        };
        await write("cue-chatter among us", {});
        const mention = await write("cue-mention hello", { isMention: true });
        // Nobody waits for an answer to a message that the platform does not report.
        if (mention?.messageId !== undefined && mention.webhooks.length > 0) {
          await stage.until(() => inShared("Mention answer."));
          await write("cue-follow and then?", { inThreadOf: mention.messageId });
        }
      }
      return () => {
        if (!inDirect("Direct answer.")) missing.push("private messages");
        if (!inShared("Mention answer.")) missing.push("mentions");
        if (!inShared("Follow-up answer.")) missing.push("follow-ups");
        if (inShared("Chatter answer.")) return "answers chatter";
        return missing.length === 0 ? "works" : `without ${missing.join(", ")}`;
      };
    },
  },
  {
    key: "own-messages",
    title: "Leaves alone what the platform reports of the bot's own messages",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-mirror", [say("Do you mean cue-own-words?")]);
      stage.on("cue-own-words", [say("Yes, I do.")]);
      await talk.write("cue-mirror please");
      await talk.reads("cue-own-words");
      return () => {
        if (stage.requests("cue-own-words").length > 0) return "answers itself";
        return talk.bot().length === 1 ? "works" : `${talk.bot().length} messages`;
      };
    },
  },
  {
    key: "forged",
    title: "A webhook that the platform did not sign, or not for this bot, is refused",
    async play(stage) {
      const talk = stage.talk(stage.person("Mallory"));
      const acted = await stage.emulator.act(talk.writing("cue-forged please"));
      const statuses: number[] = [];
      for (const webhook of acted?.webhooks ?? []) {
        const forgeries = [
          ...(await forgeriesOf(webhook.request(stage.webhookUrl), stage.emulator.name)),
          ...(webhook.forOthers?.(stage.webhookUrl) ?? []),
        ];
        for (const request of forgeries) statuses.push((await fetch(request)).status);
      }
      return () => {
        const taken = statuses.filter((status) => status < 400 || status >= 500);
        if (taken.length > 0) return `${taken.length} of ${statuses.length} get ${taken.join(", ")}`;
        return stage.requests("cue-forged").length === 0 && talk.bot().length === 0 ? "works" : "answered";
      };
    },
  },
  {
    key: "duplicates",
    title: "A webhook that comes three times, two at once, is answered once",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-duplicate", [say("Only once.")]);
      const acted = await stage.emulator.act(talk.writing("cue-duplicate please"));
      const webhooks = acted?.webhooks ?? [];
      await Promise.all([...webhooks, ...webhooks].map((webhook) => stage.deliver(webhook)));
      await talk.reads("Only once.");
      for (const webhook of webhooks) await stage.deliver(webhook);
      return () => {
        const count = talk.bot().filter(({ text }) => text.includes("Only once.")).length;
        return count === 1 && stage.requests("cue-duplicate").length === 1 ? "works" : `${count} answers`;
      };
    },
  },
  {
    key: "reordered",
    title: "Messages that come in the wrong order are all answered",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-earlier", [say("To the earlier one.")]);
      stage.on("cue-later", [say("To the later one.")]);
      const earlier = await stage.emulator.act(talk.writing("cue-earlier"));
      const later = await stage.emulator.act(talk.writing("cue-later"));
      for (const webhook of later?.webhooks ?? []) await stage.deliver(webhook);
      await stage.until(() => stage.requests("cue-later").length > 0);
      for (const webhook of earlier?.webhooks ?? []) await stage.deliver(webhook);
      await talk.reads("To the earlier one.");
      return () => {
        // The two may be one question, which then has one answer.
        const unheard = ["earlier", "later"].filter((one) => stage.requests(`cue-${one}`).length === 0);
        if (unheard.length > 0) return `the ${unheard.join(", ")} one is not heard`;
        return talk.bot().length === 0 ? "no answer" : "works";
      };
    },
  },
];
