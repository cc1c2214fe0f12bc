import { expect, it } from "vitest";
import { createCrashWorld, startOf } from "./crash-world.ts";
import type { CrashProcess } from "./crash-world.ts";
import { expectedMessages, MARK } from "./engine-harness.ts";

/** Only whole parts are posted, and the text of a message is final. */
const LIMITS = { maxLength: 160, maxEntities: 100 };
const UNEDITED = { limits: LIMITS, capabilities: { edit: false, remove: false } };

const textOf = (word: string): string =>
  Array.from(
    { length: 8 },
    (_, index) => `Paragraph ${index} of the ${word} answer fills half a message.`,
  ).join("\n\n");

/** Streams the beginning of a text, whose first part is whole. */
async function begin({ delivery, advance }: CrashProcess, word: string, runForMs: number): Promise<void> {
  delivery.open(startOf("r1", { policy: { editEveryMs: 100, callTimeoutMs: 1_000 } }));
  delivery.replace("r1", "");
  delivery.append("r1", textOf(word));
  await advance(runForMs);
}

/** How long after its start the post of the first part is answered, and how many other messages the chat may hold. */
const ANSWERS: readonly (readonly [string, number, number])[] = [
  ["before it is sent again", 1_500, 0],
  ["while it is sent again", 3_030, 1],
];

it.each(ANSWERS)(
  "shows the whole text of a call made again after a crash where a lost post was answered %s",
  async (_name, answerAfterMs, duplicates) => {
    const world = createCrashWorld(UNEDITED);
    world.platform.fault("post", { kind: "hang", answerAfterMs });
    const first = world.boot(0);
    await begin(first, "void", answerAfterMs + 20);
    first.kill();

    const second = world.boot(0);
    await begin(second, "true", 1_000);
    second.delivery.finish("r1", textOf("true"));
    await second.advance(60_000);

    const visible = world.platform.visible("7");
    const isVoid = (text: string): boolean => text.includes("the void answer");
    expect(visible.filter((text) => !isVoid(text)).join("\n\n")).toBe(textOf("true"));
    expect(visible.filter(isVoid).length).toBe(1 + duplicates);
    expect(second.delivery.receipt("r1")?.state).toBe("delivered");
  },
);

it("keeps the newer text of a post that was made twice", async () => {
  const world = createCrashWorld(UNEDITED);
  world.platform.fault("post", { kind: "hang", answerAfterMs: 3_500 });
  const process = world.boot(0);
  await begin(process, "void", 500);
  process.delivery.replace("r1", "");
  process.delivery.append("r1", textOf("true"));
  await process.advance(3_500);
  process.delivery.finish("r1", textOf("true"));
  await process.advance(60_000);

  const [first = "", ...rest] = expectedMessages(textOf("true"), LIMITS);
  const [lost] = expectedMessages(textOf("void"), LIMITS);
  const visible = world.platform.visible("7");
  expect(visible.filter((text) => text !== lost)).toEqual([`${MARK}\n${first}`, ...rest]);
  expect(visible.filter((text) => text === lost).length).toBe(1);
  expect(process.delivery.receipt("r1")?.state).toBe("delivered");
});
