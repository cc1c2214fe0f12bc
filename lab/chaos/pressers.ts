import type { SimChat, Simulator, VisibleMessage } from "../../playground/telegram/simulator.ts";

/** A person who asks for cards and files, and presses the buttons of the cards. */
export interface Presser {
  readonly name: string;
  readonly chat: SimChat;
  readonly userId: number;
  readonly threadId: number | undefined;
  /** Written before each command, in groups. */
  readonly mention: string;
  readonly cards: string[];
  readonly files: string[];
  readonly presses: Press[];
}

export interface Press {
  readonly cue: string;
  readonly queryId: string;
}

export function createPressers(simulator: Simulator): readonly Presser[] {
  const [pia, rosa, sven] = ["Pia", "Rosa", "Sven"].map((name) => simulator.addUser({ first_name: name }));
  if (pia === undefined || rosa === undefined || sven === undefined) throw new Error("Nobody presses.");
  const group = simulator.addGroup({ title: "By person, cards", members: [rosa] });
  const forum = simulator.addGroup({ title: "Forum of cards", forum: true, members: [sven] });
  const mention = `@${simulator.bot.username ?? ""}`;
  const create = (name: string, chat: SimChat, userId: number, more: Partial<Presser> = {}): Presser => ({
    name,
    chat,
    userId,
    threadId: undefined,
    mention: "",
    cards: [],
    files: [],
    presses: [],
    ...more,
  });
  return [
    create("cards of Pia", simulator.privateChat(pia), pia.id),
    create("cards by person", group, rosa.id, { mention }),
    create("cards in a topic", forum, sven.id, { mention, threadId: simulator.addTopic(forum, "Cards") }),
  ];
}

/** Asks for a card or a file. Returns its name, which no other has. */
export function askFor(simulator: Simulator, presser: Presser, kind: "card" | "file"): string {
  const { cards, chat, files, mention, name, threadId, userId } = presser;
  const all = kind === "card" ? cards : files;
  const cue = `${kind}-${name.replaceAll(" ", "-")}-${all.length}-end`;
  all.push(cue);
  simulator.sendText(chat, userId, `/${kind}${mention} ${cue}`, threadId === undefined ? {} : { threadId });
  return cue;
}

/** Returns the messages that show a card. */
export function cardsOf(simulator: Simulator, { chat, threadId }: Presser, cue: string): VisibleMessage[] {
  return messagesOf(simulator, chat, threadId).filter(({ text }) => text.includes(`card ${cue},`));
}

/** Returns the messages with a file. */
export function filesOf(simulator: Simulator, { chat, threadId }: Presser, cue: string): VisibleMessage[] {
  return messagesOf(simulator, chat, threadId).filter(({ attachments }) =>
    attachments.some(({ fileName }) => fileName === `${cue}.txt`),
  );
}

/** Presses the button of a card. Returns false if there is none to press. */
export function press(simulator: Simulator, presser: Presser, cue: string): boolean {
  const card = cardsOf(simulator, presser, cue).at(-1);
  const label = card?.buttons[0]?.[0]?.text;
  if (card === undefined || label === undefined) return false;
  const { id: queryId } = simulator.pressButton(presser.chat, presser.userId, card.id, label);
  presser.presses.push({ cue, queryId });
  return true;
}

/** True if no card or file is missing, and every press was answered. */
export function isServed(simulator: Simulator, presser: Presser): boolean {
  return (
    presser.cards.every((cue) => cardsOf(simulator, presser, cue).length > 0) &&
    presser.files.every((cue) => filesOf(simulator, presser, cue).length > 0) &&
    presser.presses.every(({ queryId }) => answerTo(simulator, queryId) !== undefined)
  );
}

/** Returns the words that a press was answered with. Undefined while it is not answered. */
export function answerTo(simulator: Simulator, queryId: string): string | undefined {
  const answer = simulator.callbackAnswers().find((each) => each.queryId === queryId);
  return answer?.answeredAt === undefined ? undefined : (answer.text ?? "");
}

function messagesOf(simulator: Simulator, chat: SimChat, threadId: number | undefined): VisibleMessage[] {
  return simulator
    .messages(chat, threadId === undefined ? {} : { threadId })
    .filter(({ from }) => from.isBot);
}
