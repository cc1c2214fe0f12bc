import { callTool, say } from "../../../lab/support/model-script.ts";
import { textOf } from "../../../lab/support/scripted-model.ts";
import type { Act, SeenMessage } from "../platform-emulator.ts";
import type { Row } from "../row.ts";
import { Impossible, LATE_MS, type Stage, type Talk } from "../stage.ts";

/** Asks for something that somebody has to approve. Resolves with the card. */
async function asked(stage: Stage, talk: Talk, cue: string): Promise<SeenMessage | undefined> {
  stage.on(cue, [callTool("refund", { order: cue })], [say(`Refunded ${cue}.`)]);
  await talk.write(`${cue} please`);
  return stage.until(() => talk.bot().find(({ text, buttons }) => buttons.length > 0 || /\b1\b/.test(text)));
}

/** @throws {Impossible} if the card has no buttons */
function pressing({ by, place }: Talk, card: SeenMessage, label: string): Act {
  if (!card.buttons.includes(label)) throw new Impossible();
  return { kind: "press", by, in: place, messageId: card.id, label };
}

export const cards: readonly Row[] = [
  {
    key: "card",
    title: "A card asks, and a press decides",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const card = await asked(stage, talk, "cue-card");
      if (card === undefined) return () => "no card";
      const hasButtons = card.buttons.includes("Approve");
      if (hasButtons) await talk.press(card, "Approve");
      else await talk.choose(1, card);
      const isDone = await stage.until(() => stage.requests("cue-card").length > 1, 6000);
      await stage.until(() => talk.bot().every(({ buttons }) => buttons.length === 0), 3000);
      return () => {
        if (isDone === undefined) return hasButtons ? "press without effect" : "number without effect";
        if (!hasButtons) return "by number";
        return talk.bot().some(({ buttons }) => buttons.includes("Approve")) ? "old buttons stay" : "works";
      };
    },
  },
  {
    key: "double-press",
    title: "A press that comes four times, two at once, acts once",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const card = await asked(stage, talk, "cue-double");
      if (card === undefined) return () => "no card";
      const hasButtons = card.buttons.includes("Approve");
      if (!hasButtons) await stage.cardsPosted(talk.place);
      const acted = await stage.emulator.act(
        hasButtons
          ? { kind: "press", by: talk.by, in: talk.place, messageId: card.id, label: "Approve" }
          : talk.choosing(1, card),
      );
      const webhooks = acted?.webhooks ?? [];
      await Promise.all([...webhooks, ...webhooks].map((webhook) => stage.deliver(webhook)));
      await talk.reads("Refunded cue-double.");
      for (const webhook of [...webhooks, ...webhooks]) await stage.deliver(webhook);
      return () => {
        const told = talk.bot().filter(({ text }) => text.includes("Refunded cue-double.")).length;
        const calls = stage.requests("cue-double").length;
        return told === 1 && calls === 2 ? "works" : `${told} answers, ${calls} calls of the model`;
      };
    },
  },
  {
    key: "late-press",
    title: "A press that comes six hours late, and then again, acts once",
    async play(stage) {
      // An interaction is void after seconds.
      if (stage.emulator.talksByCommand === true) throw new Impossible();
      const talk = stage.talk(stage.person("Ada"));
      const card = await asked(stage, talk, "cue-late-press");
      if (card === undefined) return () => "no card";
      const pressed = await stage.actBefore(LATE_MS, pressing(talk, card, "Approve"));
      const deliver = async (): Promise<number[]> => {
        const statuses: number[] = [];
        for (const webhook of pressed?.webhooks ?? []) statuses.push(await stage.deliver(webhook));
        return statuses;
      };
      const statuses = await deliver();
      await talk.reads("Refunded cue-late-press.", 6000);
      statuses.push(...(await deliver()));
      return () => {
        if (statuses.some((status) => status !== 200)) return `status ${statuses.join(", ")}`;
        const told = talk.bot().filter(({ text }) => text.includes("Refunded cue-late-press.")).length;
        const calls = stage.requests("cue-late-press").length;
        return told === 1 && calls === 2 ? "works" : `${told} answers, ${calls} calls of the model`;
      };
    },
  },
  {
    key: "reordered-presses",
    title: "Two presses that come in the wrong order decide once",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const card = await asked(stage, talk, "cue-two-presses");
      if (card === undefined) return () => "no card";
      const refusal = card.buttons.find((label) => label !== "Approve") ?? "";
      const approve = await stage.emulator.act(pressing(talk, card, "Approve"));
      const refuse = await stage.emulator.act(pressing(talk, card, refusal));
      for (const webhook of [...(refuse?.webhooks ?? []), ...(approve?.webhooks ?? [])])
        await stage.deliver(webhook);
      await talk.reads("Refunded cue-two-presses.", 6000);
      return () => {
        const lasts = stage.requests("cue-two-presses").map(({ messages }) => textOf(messages.at(-1)));
        const outcomes = lasts.slice(1);
        if (outcomes.length !== 1) return `${outcomes.length} outcomes`;
        return outcomes[0]?.includes("refunded") === true ? "the later press decides" : "works";
      };
    },
  },
  {
    key: "strangers-press",
    title: "A stranger who presses gets a private word",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"), "shared");
      const card = await asked(stage, talk, "cue-stranger");
      if (card === undefined) return () => "no card";
      if (!card.buttons.includes("Approve")) throw new Impossible();
      const before = new Set(stage.emulator.seen(talk.place).map(({ id }) => id));
      const eve = stage.person("Eve");
      await talk.press(card, "Approve", eve);
      // Other messages may be gone meanwhile.
      const newer = () => stage.emulator.seen(talk.place).filter(({ id }) => !before.has(id));
      await stage.until(() => newer().length > 0, 4000);
      return () => {
        const added = newer();
        if (stage.requests("cue-stranger").length > 1) return "a stranger decides";
        if (added.length === 0) return "nothing";
        return added.every(({ onlyFor }) => onlyFor === eve.id) ? "works" : "everybody reads it";
      };
    },
  },
  {
    key: "press-note",
    title: "A press in a private chat is answered by a note",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      await talk.command("menu");
      const card = await stage.until(() => talk.bot().find(({ text }) => text.includes("Your order?")));
      if (card === undefined) return () => "no card";
      await talk.pick(card, "Coffee", 1);
      const note = await talk.reads("Coffee is noted.");
      return () => {
        if (note === undefined) return "nothing";
        if (note.onlyFor !== undefined) return "works";
        return note.threadOf === card.id ? "in a new thread" : "as a message";
      };
    },
  },
  {
    key: "command",
    title: "A command",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      const way = await talk.command("ping", "cue-command");
      const pong = await talk.reads("Pong cue-command", 8000);
      return () => {
        if (pong === undefined) return "no answer";
        return way === "command" ? "works" : "typed";
      };
    },
  },
];
