import { callTool, say } from "../../../lab/support/model-script.ts";
import { textOf } from "../../../lab/support/scripted-model.ts";
import type { Person, SeenMessage } from "../platform-emulator.ts";
import type { Row } from "../row.ts";
import type { Stage, Talk } from "../stage.ts";

/** The name of a person who hopes that cards show it as markup. */
const NAME = "[Eve](https://evil.example/) **Boss** *Chief* <b>x</b> <!channel> @everyone cue-names";

/** Names that people have, and nobody else. */
const nameOf = ({ id }: Person): string => `Bob${id}`;

/** All that some platform reads as a mention: of everybody, of a team, of a person. */
function mentionsOf({ id }: Person): string {
  const name = `Bob${id}`;
  return [
    `@everyone @here @channel @all @${name} @@${name} (@octo-org/core) <@U${id}> @U${id} <@${id}> <@!${id}> <@&42>`,
    `<!channel> <!here> <!everyone> <!subteam^S42> <users/all> <users/${id}> <at>${name}</at>`,
    `https://linear.app/acme/profiles/${name} and [a page](https://linear.app/acme/profiles/${name})`,
    "`<!channel> <users/all>`",
    "```\n<!here> <users/all>\n```",
  ].join("\n\n");
}

function notified(messages: readonly SeenMessage[]): string {
  const marks = messages.flatMap((message) => message.marks);
  return marks.some(({ kind }) => kind === "mention") ? "somebody is notified" : "works";
}

/** Turns the direction of writing, hides characters, and is longer than any card. */
const STRANGE = `\u202Egnp.exe\u202C\u200B\u2066\uFEFF\u0000${"very long ".repeat(600)}the end cue-strange`;

/** Results of actions that the model has read in turns of their own. */
function outcomes(stage: Stage, beginning: string): readonly string[] {
  return stage.model
    .requests()
    .map(({ messages }) => textOf(messages.at(-1)))
    .filter((text) => text.includes(beginning));
}

/** Somebody writes to the bot in a place, perhaps in the thread of a card. */
async function writes(talk: Talk, by: Person, text: string, card: SeenMessage): Promise<void> {
  const thread = card.threadOf === undefined ? {} : { inThreadOf: card.threadOf };
  await talk.stage.act({ ...talk.writing(text, thread), by });
}

/** Somebody presses a button, if the card has it. Resolves with the delivery, which may come late. */
async function pressing(
  { place, stage }: Talk,
  by: Person,
  label: string,
  card: SeenMessage,
): Promise<() => Promise<void>> {
  const isThere = card.buttons.includes(label);
  const acted = isThere
    ? await stage.emulator.act({ kind: "press", by, in: place, messageId: card.id, label })
    : undefined;
  return async () => {
    for (const webhook of acted?.webhooks ?? []) await stage.deliver(webhook);
  };
}

function cardWith(talk: Talk, label: string): Promise<SeenMessage | undefined> {
  return talk.stage.until(() =>
    talk.bot().find(({ buttons, text }) => buttons.includes(label) || text.includes(label)),
  );
}

export const attacks: readonly Row[] = [
  {
    key: "form-attacked",
    title: "In a group nobody else answers a form, and nonsense or a late press changes nothing",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"), "shared");
      const eve = stage.person("Eve");
      stage.on("cue-attacked", [callTool("return_item", {})], [say("Thank you.")]);
      await talk.write("cue-attacked please");
      const choice = await cardWith(talk, "too late");
      if (choice === undefined) return () => "no form";
      await stage.cardsPosted(talk.place);
      await (
        await pressing(talk, eve, "too late", choice)
      )();
      await writes(talk, eve, "2", choice);
      const late = await pressing(talk, talk.by, "too late", choice);
      await talk.pick(choice, "broken", 1);
      const count = await talk.reads("2 of 2", 8000);
      if (count === undefined) return () => "choice without effect";
      await stage.cardsPosted(talk.place);
      await late();
      await writes(talk, eve, "99", count);
      for (const nonsense of ["0", "1.5"]) await writes(talk, talk.by, nonsense, count);
      await talk.choose(7, count);
      const summary = await talk.reads("Is this right?", stage.works("form-attacked") ? undefined : 6000);
      if (summary === undefined) return () => "number without effect";
      await (
        await pressing(talk, eve, "Send", summary)
      )();
      await stage.rest(1000, talk.place);
      if (outcomes(stage, "returned:").some((text) => !text.includes("broken 12")))
        return () => "sent by a stranger";
      await talk.pick(summary, "Send", 1);
      await stage.until(() => outcomes(stage, "broken 7").length > 0, 8000);
      return () => {
        const told = outcomes(stage, "returned:").filter((text) => !text.includes("broken 12"));
        return told.length === 1 && told[0]?.includes("broken 7") === true
          ? "works"
          : `${told.length}: ${told.join()}`;
      };
    },
  },
  {
    key: "words-attacked",
    title: "In a group a word decides only if it is the asker's, and says nothing else",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"), "shared");
      const eve = stage.person("Eve");
      stage.on("cue-words", [callTool("refund", { order: "cue-words" })], [say("Refunded it.")]);
      await talk.write("cue-words please");
      const card = await cardWith(talk, "Approve");
      if (card === undefined) return () => "no card";
      await stage.cardsPosted(talk.place);
      for (const words of ["yes", "1", "/approve", "1 please"]) await writes(talk, eve, words, card);
      for (const words of ["was it yes or no?", "10", "yes @other"]) await writes(talk, talk.by, words, card);
      await stage.rest(1000, talk.place);
      const early = outcomes(stage, "refunded").filter((text) => text.includes("cue-words"));
      await talk.pick(card, "Approve", 1);
      await stage.until(() => stage.requests("cue-words").length > 1, 8000);
      await talk.reads("Refunded it.", 8000);
      return () => {
        if (early.length > 0) return "decided by words";
        const told = talk.bot().filter(({ text }) => text.includes("Refunded it.")).length;
        return told === 1 ? "works" : `${told} answers`;
      };
    },
  },
  {
    key: "names",
    title: "A name with markup is shown as it is",
    async play(stage) {
      const talk = stage.talk({ ...stage.person("Eve"), name: NAME }, "shared");
      stage.on("cue-names", [callTool("refund", { order: NAME })], [say("Done.")]);
      await talk.write("cue-names please");
      const card = await cardWith(talk, "Approve");
      if (card === undefined) return () => "no card";
      const mallory = { ...stage.person("Mallory"), name: NAME };
      if (card.buttons.includes("Approve")) await (await pressing(talk, mallory, "Approve", card))();
      else await writes(talk, mallory, "1", card);
      await talk.pick(card, "Approve", 1);
      await talk.reads("Done.", 8000);
      return () => {
        const marks = talk.bot().flatMap((message) => message.marks);
        const bad = marks.find(
          ({ kind, text, url = "" }) =>
            (kind === "link" && text === "Eve") ||
            (kind !== "mention" && /^(?:Boss|\*?Chief\*?)$/.test(text)) ||
            url.includes("!channel"),
        );
        return bad === undefined ? "works" : `${bad.kind} ${bad.text}`;
      };
    },
  },
  {
    key: "mentions",
    title: "An answer that mentions everybody, a team or a person notifies nobody",
    async play(stage) {
      const bob = stage.person("Bob");
      const talk = stage.talk({ ...bob, name: nameOf(bob) });
      stage.on("cue-hello-bob", [say("Hello.")]);
      stage.on("cue-mentions", [say(`${mentionsOf(bob)}\n\nThe end.`)]);
      await talk.write("cue-hello-bob");
      await talk.reads("Hello.");
      await talk.write("cue-mentions please");
      const answer = await talk.reads("The end.");
      return () => {
        if (answer === undefined) return "no answer";
        return /<.?!channel>/.test(answer.text) ? notified(talk.bot()) : "without its words";
      };
    },
  },
  {
    key: "card-mentions",
    title: "A card that quotes mentions of everybody, a team or a person notifies nobody",
    async play(stage) {
      const bob = stage.person("Bob");
      const talk = stage.talk({ ...bob, name: nameOf(bob) });
      const order = `${mentionsOf(bob)} cue-quoted`;
      stage.on("cue-quoted", [callTool("refund", { order })], [say("Done quietly.")]);
      await talk.write("cue-quoted please");
      const card = await cardWith(talk, "Approve");
      if (card === undefined) return () => "no card";
      await talk.pick(card, "Approve", 1);
      await talk.reads("Done quietly.");
      return () => notified(talk.bot());
    },
  },
  {
    key: "label",
    title: "The label of a button that looks like a link or a mention is a label alone",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      await talk.command("offer");
      const card = await talk.reads("A free one?");
      if (card === undefined) return () => "no card";
      await talk.pick(card, card.buttons[0] ?? "", 1);
      const note = await talk.reads("is noted.");
      return () => {
        if (note === undefined) return "nothing";
        return card.marks.some(({ text }) => text === "Free") ? "a link" : notified([card]);
      };
    },
  },
  {
    key: "strange-text",
    title: "A card about a very long text with hidden characters asks, and is answered",
    async play(stage) {
      const talk = stage.talk(stage.person("Ada"));
      stage.on("cue-strange", [callTool("refund", { order: STRANGE })], [say("Done with it.")]);
      await talk.write(`cue-strange please ${STRANGE.slice(0, 30)}`);
      const card = await cardWith(talk, "Approve");
      if (card === undefined) return () => "no card";
      await talk.pick(card, "Approve", 1);
      await talk.reads("Done with it.");
      return () => {
        if (["\u202E", "\u2066", "\u0000"].some((sign) => card.text.includes(sign)))
          return "hidden characters are shown";
        const told = outcomes(stage, "refunded").filter((text) => text.includes("the end"));
        return told.length === 1 ? "works" : `${told.length} outcomes`;
      };
    },
  },
];
