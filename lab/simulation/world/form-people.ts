import type { QuotedMessage } from "../../../src/core/chat/messenger-event.ts";
import type { FormFace } from "../oracle/form-face.ts";
import { writtenAs } from "../oracle/written-as.ts";
import type { WrittenMessage } from "../oracle/written-as.ts";
import type { Place } from "../plan/plan.ts";
import type { QuestionItem } from "../plan/question-items.ts";
import type { PlatformMessage } from "../platform/platform.ts";
import type { Random } from "../../support/random.ts";
import type { CardUpdates } from "./card-people.ts";
import type { World } from "./world.ts";

type FillIn = Extract<QuestionItem, { kind: "fill-in" }>;

export interface FormHands extends Pick<CardUpdates, "tellPress"> {
  /** Writes a message as this person. */
  readonly write: (
    place: Place,
    token: string,
    message: WrittenMessage,
    userId: string,
    quoted: QuotedMessage | undefined,
  ) => void;
}

/** The question as the person sees it. */
interface SeenQuestion {
  readonly place: Place;
  readonly message: PlatformMessage;
  readonly face: FormFace;
  /** The person who is asked, and another one. In a private chat there is only one. */
  readonly asked: string;
  readonly other: string;
}

interface Progress {
  acts: number;
  looks: number;
  presses: number;
  written: number;
  /** Everything that the person has reacted to, and when. */
  last: string;
  lastLook: number;
}

const MOST_LOOKS = 400;
const LOOK_EVERY_MS = 300;
/** The person waits so long for the chat to show what has changed. */
const PATIENT_LOOKS = 25;
const READING_MS = 1_200;
const ASIDE = new Set(["Back", "Not now", "Send", "Change"]);

/** The person who is asked by an action, and fills in what it asks for; and another one who joins in. */
export class FormPeople {
  readonly #world: World;
  readonly #hands: FormHands;

  constructor(world: World, hands: FormHands) {
    this.#world = world;
    this.#hands = hands;
  }

  fillIn(item: FillIn): void {
    const random = this.#world.random.fork(`fill-in/${item.questions}`);
    this.#look(item, random, { acts: 0, looks: 0, presses: 0, written: 0, last: "", lastLook: 0 });
  }

  #look(item: FillIn, random: Random, progress: Progress): void {
    progress.looks += 1;
    if (progress.acts >= item.acts || progress.looks > MOST_LOOKS) return;
    const seen = this.#seen(item, random);
    const shown = seen === undefined ? "" : `${seen.message.id} ${seen.message.text}`;
    const isWaiting =
      shown === progress.last && progress.looks < progress.lastLook + PATIENT_LOOKS && random.chance(0.93);
    let delayMs = LOOK_EVERY_MS;
    if (seen !== undefined && !isWaiting) {
      progress.acts += 1;
      progress.last = shown;
      progress.lastLook = progress.looks;
      delayMs = random.int(100, 3_000);
      this.#act(item, random, progress, seen);
    }
    this.#world.scheduler.after(delayMs, () => this.#look(item, random, progress));
  }

  /** An open question that is lowest in one of the chats in which people are asked. */
  #seen({ questions }: FillIn, random: Random): SeenQuestion | undefined {
    const { oracle, plan, platform } = this.#world;
    const asking = oracle.questions.newestOf(questions);
    if (asking === undefined) return undefined;
    const { forms } = oracle.questions;
    const seen = [...asking.places, ...asking.secretPlaces].flatMap(
      ({ person, threadId }): SeenQuestion[] => {
        const place = plan.places.find((one) => one.threadId === threadId);
        const message = platform
          .visible(threadId)
          .findLast((one) => forms.faceIn(one)?.question.endsWith(` ${asking.effect}`) === true);
        const face = message && forms.faceIn(message);
        if (place === undefined || message === undefined || face === undefined) return [];
        const asked = person ?? "7";
        const other = place.isDirectMessage ? asked : asked === "7" ? "8" : "7";
        return [{ place, message, face, asked, other }];
      },
    );
    return seen[random.int(0, seen.length - 1)];
  }

  #act(item: FillIn, random: Random, progress: Progress, seen: SeenQuestion): void {
    const { face } = seen;
    const labels = (seen.message.buttons ?? []).flat().map(({ label }) => label);
    const press = (label: string | undefined, person = seen.asked): void => {
      if (label !== undefined) this.#press(item, progress, seen, label, person);
    };
    const write = (field: string, chance: number, person = seen.asked): void => {
      const isQuote = random.chance(chance);
      // A person reads what a secret is for.
      this.#world.scheduler.after(field === "Pin" ? READING_MS : 0, () =>
        this.#write(item, progress, seen, { field, person, isQuote }),
      );
    };
    const options = labels.filter((label) => !ASIDE.has(label) && !label.startsWith("Keep "));
    const keep = labels.find((label) => label.startsWith("Keep "));
    const { questions } = this.#world.oracle;
    const asked = questions.fieldOf(face);
    const isGroup = !seen.place.isDirectMessage;
    const isAtHome = questions.askingOf(face.question)?.home === seen.place.threadId;
    const toQuote = isGroup || (!isAtHome && asked !== "Pin") ? 0.85 : 0.25;
    if (isGroup && random.chance(0.2)) {
      if (random.chance(0.4)) press(labels[random.int(0, labels.length - 1)], seen.other);
      else write(asked, 0.7, seen.other);
      return;
    }
    const mood = random.next();
    if (mood < 0.02) press("Not now");
    else if (mood < 0.12 && labels.includes("Back")) press("Back");
    else if (mood < 0.22 && keep !== undefined) press(keep);
    // Where no text is asked, that is no answer.
    else if (mood < 0.27) write("Note", toQuote);
    else if (labels.includes("Send")) {
      press(random.chance(0.3) ? "Change" : "Send");
      // A second tap.
      if (random.chance(0.15)) press("Send");
    } else if (options.length > 0) press(options[random.int(0, options.length - 1)]);
    else write(asked, toQuote);
  }

  #press({ questions }: FillIn, progress: Progress, seen: SeenQuestion, label: string, person: string): void {
    const { oracle, trace } = this.#world;
    const { face, message, place } = seen;
    const button = (message.buttons ?? []).flat().find((one) => one.label === label);
    if (button?.kind !== "callback") return;
    progress.presses += 1;
    const token = `f${questions}x${progress.presses}`;
    trace.add(
      "person",
      () => `${person} presses ${token}: ${label} of ${face.question} in ${place.threadId}`,
    );
    oracle.presses.pressed(token, place.threadId, undefined, true);
    oracle.questions.pressed(token, face, label, person);
    const pressed = { data: button.token, messageId: String(message.id) };
    this.#hands.tellPress(place, token, pressed, person);
  }

  #write(
    { first }: FillIn,
    progress: Progress,
    { face, message, place }: SeenQuestion,
    how: { readonly field: string; readonly person: string; readonly isQuote: boolean },
  ): void {
    const { oracle, platform } = this.#world;
    const number = first + progress.written;
    progress.written += 1;
    const { id, text } = message;
    const seen = platform.keyboards
      .filter(({ threadId }) => threadId === place.threadId)
      .flatMap((one) => oracle.questions.forms.faceIn(one) ?? []);
    // Between two cards of a form the gate of another conversation's chat hears nothing of the next one.
    const isForm = face.field === "Pin" && oracle.questions.askingOf(face.question)?.home !== place.threadId;
    if (how.field === "Pin") oracle.questions.secrets.wrote(number, isForm ? undefined : face.question);
    oracle.questions.forms.wrote(number, {
      threadId: place.threadId,
      person: how.person,
      quotes: how.isQuote ? face.question : undefined,
      seenCards: new Set(seen.map(({ cardId }) => cardId)),
      seenQuestions: new Set(seen.map(({ question }) => question)),
    });
    const quoted = how.isQuote ? { id: String(id), text, isFromBot: true, attachments: [] } : undefined;
    this.#hands.write(place, `m${number}`, writtenAs(how.field, number), how.person, quoted);
  }
}
