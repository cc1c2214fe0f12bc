import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say } from "../../../lab/support/model-script.ts";
import type { Row } from "../row.ts";
import { Impossible, LATE_MS, type Stage } from "../stage.ts";

interface ListedChat {
  readonly messengerId: string;
  readonly chatId: string;
  readonly topics?: readonly { readonly topicId: string }[];
}

const chatsOf = (stage: Stage): Promise<readonly ListedChat[]> => stage.ask("/chats");

const sayTo = (
  stage: Stage,
  { messengerId, chatId }: ListedChat,
  content: string,
  topicId?: string,
): Promise<{ readonly id?: string; readonly code?: string }> =>
  stage.ask("/say", {
    content,
    to: { messenger: messengerId, chatId, ...(topicId !== undefined && { topicId }) },
  });

export const alone: readonly Row[] = [
  {
    key: "late",
    title: "A message whose webhook comes six hours late, and then again, is answered once",
    async play(stage) {
      // An interaction is void after seconds.
      if (stage.emulator.talksByCommand === true) throw new Impossible();
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-late", [say("Better late than never.")]);
      const acted = await stage.actBefore(LATE_MS, talk.writing("cue-late please"));
      const webhooks = acted?.webhooks ?? [];
      const statuses: number[] = [];
      for (const webhook of webhooks) statuses.push(await stage.deliver(webhook));
      await talk.reads("Better late than never.", 6000);
      for (const webhook of webhooks) statuses.push(await stage.deliver(webhook));
      await stage.rest();
      return () => {
        if (statuses.some((status) => status !== 200)) return `status ${statuses.join(", ")}`;
        const count = talk.bot().length;
        return count === 1 && stage.requests("cue-late").length === 1 ? "works" : `${count} answers`;
      };
    },
  },
  {
    key: "typing",
    title: "Shows that it is writing",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const gate = createGate();
      stage.on("cue-typing", [holdAt(gate), say("Thought about it.")]);
      await talk.write("cue-typing please");
      await gate.reached;
      const limitMs = stage.works("typing") ? 3000 : 500;
      const shown = await stage.until(() => stage.emulator.typingShown(talk.place) > 0, limitMs);
      gate.open();
      await talk.reads("Thought about it.");
      return () => (shown === true ? "works" : "not shown");
    },
  },
  {
    key: "kill",
    title: "A process killed in the middle of an answer, whose webhook then comes again",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const gate = createGate();
      stage.on(
        "cue-kill",
        [say("These are the first words. "), holdAt(gate), say("And these the last.")],
        [say("These are the first words. And these the last.")],
      );
      const { webhooks } = await talk.write("cue-kill please");
      await gate.reached;
      if (stage.works("answer")) await talk.reads("first words");
      await stage.bot.restart();
      for (const webhook of webhooks) await stage.deliver(webhook);
      gate.open();
      await talk.reads("And these the last.");
      for (const webhook of webhooks) await stage.deliver(webhook);
      return () => {
        const whole = talk.bot().filter(({ text }) => text.includes("And these the last.")).length;
        if (whole !== 1) return whole === 0 ? "lost" : `${whole} times`;
        return talk.bot().length === 1 ? "works" : `${talk.bot().length} messages`;
      };
    },
  },
  {
    key: "broadcast",
    title: "A broadcast reaches every chat, once",
    async play(stage) {
      const talks = ["Ada", "Bob", "Cleo"].map((name) => stage.talk(stage.person(name)));
      stage.on("cue-hello", [say("Hello.")]);
      await Promise.all(talks.map((talk) => talk.write("cue-hello")));
      await Promise.all(talks.map((talk) => talk.reads("Hello.")));
      await stage.ask("/broadcast", { text: "News for everybody." });
      await Promise.all(talks.map((talk) => talk.reads("News for everybody.", 6000)));
      return () => {
        const counts = talks.map(
          (talk) => talk.bot().filter(({ text }) => text === "News for everybody.").length,
        );
        return counts.every((count) => count === 1)
          ? "works"
          : `${counts.join(", ")} of ${counts.length} chats`;
      };
    },
  },
  {
    key: "say",
    title: "The bot speaks first in a chat that it knows",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const known = new Set((await chatsOf(stage)).map(({ chatId }) => chatId));
      stage.on("cue-say", [say("Hello.")]);
      await talk.write("cue-say");
      await talk.reads("Hello.");
      const chat = await stage.until(async () =>
        (await chatsOf(stage)).find(({ chatId }) => !known.has(chatId)),
      );
      if (chat === undefined) return () => "the chat is not listed";
      await sayTo(stage, chat, "By the way.");
      const seen = await talk.reads("By the way.", 4000);
      if (seen !== undefined) return () => "works";
      const topicId = chat.topics?.[0]?.topicId;
      if (topicId !== undefined) await sayTo(stage, chat, "By the way, here.", topicId);
      const inTopic = topicId === undefined ? undefined : await talk.reads("By the way, here.", 4000);
      return () => (inTopic === undefined ? "not seen" : "only with a topic");
    },
  },
  {
    key: "say-unknown",
    title: "The bot speaks first in a channel in which nobody wrote to it",
    async play(stage) {
      const known = stage.talk(stage.person("Ada"), "shared");
      const other = stage.talk(stage.person("Bob"), "shared");
      const before = new Set((await chatsOf(stage)).map(({ chatId }) => chatId));
      stage.on("cue-known", [say("Hello.")]);
      await known.write("cue-known");
      await known.reads("Hello.");
      const chat = await stage.until(
        async () => (await chatsOf(stage)).find(({ chatId }) => !before.has(chatId)),
        4000,
      );
      // The id of the other chat differs by the platform's own name for the place.
      if (chat === undefined || !chat.chatId.includes(known.place)) throw new Impossible();
      const chatId = chat.chatId.replace(known.place, other.place);
      const { code } = await sayTo(stage, { ...chat, chatId }, "A first word.");
      const seen = code === undefined ? await other.reads("A first word.", 4000) : undefined;
      return () => (seen === undefined ? (code ?? "not seen") : "works");
    },
  },
  {
    key: "closed",
    title: "A chat that is closed for the bot is left alone",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const known = new Set((await chatsOf(stage)).map(({ chatId }) => chatId));
      stage.on("cue-closed", [say("Hello.")]);
      await talk.write("cue-closed");
      await talk.reads("Hello.");
      const chat = await stage.until(async () =>
        (await chatsOf(stage)).find(({ chatId }) => !known.has(chatId)),
      );
      if (chat === undefined) return () => "the chat is not listed";
      stage.emulator.shut(talk.place);
      const { code: first } = await sayTo(stage, chat, "Are you there?");
      if (first !== undefined) return () => first;
      const code = await stage.until(async () => (await sayTo(stage, chat, "Still there?")).code, 4000);
      return () => (code === "chat-gone" ? "works" : (code ?? "not noticed"));
    },
  },
  {
    key: "health",
    title: "/health tells of a refused token, and the answer comes later",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-health", [say("Better late.")]);
      let isRefused = true;
      stage.server.fail({ fault: { kind: "token" }, times: 1000, while: () => isRefused });
      await talk.write("cue-health please");
      const status = async (): Promise<number> => (await fetch(`${stage.bot.url}/health`)).status;
      const noticed = await stage.until(async () => (await status()) === 503, 5000);
      isRefused = false;
      if (noticed === undefined) {
        const late = await talk.reads("Better late.", 4000);
        return () => (late === undefined ? "not noticed, and lost" : "not noticed");
      }
      const late = await talk.reads("Better late.", 12_000);
      return () => (late === undefined ? "lost" : "works");
    },
  },
  {
    key: "long-wait",
    title: "Waits as long as the platform asks (20 s)",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-wait", [say("Not before 20 s.")]);
      stage.server.fail({ fault: { kind: "flood", retryAfterMs: 20_000 }, on: ["post"], in: talk.place });
      const before = stage.bot.logs().length;
      await talk.write("cue-wait please");
      // The answer comes after the end of the test: the log tells when the bot will try again.
      const wait = await stage.until(() => {
        const line = stage.bot
          .logs()
          .slice(before)
          .split("\n")
          .findLast((one) => one.includes('"kind":"retry-after"'));
        return line === undefined ? undefined : Number(/"retryAfterMs":(\d+)/.exec(line)?.[1]);
      }, 5000);
      if (wait === undefined) return () => "not waited";
      return () => (wait >= 20_000 ? "works" : `${wait / 1000} s`);
    },
  },
];
