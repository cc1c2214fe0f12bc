import type { Place } from "../plan/plan.ts";
import type { QuestionItem } from "../plan/question-items.ts";
import type { Random } from "../../support/random.ts";
import type { World } from "./world.ts";

/** The bot's own code asks something, again until it hears that a question is stored. Earlier ones may be asked, too. */
export function askUntilStored(
  world: World,
  random: Random,
  item: Extract<QuestionItem, { kind: "bot-question" }>,
  place: Place,
): void {
  const { isDown, oracle, plan, scheduler, trace } = world;
  const speaker = plan.places[item.from] ?? place;
  const retry = (delayMs: number): void => {
    scheduler.after(delayMs, () => askUntilStored(world, random, item, place));
  };
  if (isDown) return retry(500);
  const question = oracle.botAnswers.asks(item, speaker, place);
  trace.add("bot", () => `asks ${question.message} in ${place.threadId} by ${speaker.threadId}`);
  let isSettled = false;
  const settle = (id: string | undefined): void => {
    if (id !== undefined) oracle.botAnswers.stored(question.message, id);
    else if (!isSettled) retry(random.int(50, 800));
    isSettled = true;
  };
  const { chatId, isDirectMessage, userId = "7" } = place;
  const to = isDirectMessage ? { messenger: "sim", userId } : { messenger: "sim", chatId };
  world
    .thread(speaker)
    .ask(to, question)
    .then(settle, () => settle(undefined));
  // Its process may have died during the call.
  scheduler.after(3_000, () => settle(undefined));
}
