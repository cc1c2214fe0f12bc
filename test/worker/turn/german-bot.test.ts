import { beforeEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { action, ENGLISH_TEXTS } from "../../../src/index.ts";
import { german } from "../../../src/texts/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, failWith, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { found, shown } from "../support/refund-bot.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

const bob = { user: "bob" } as const;

const refund = action({
  description: "Erstattet Geld.",
  inputSchema: z.object({ amountCents: z.number(), reason: z.string().describe("Grund") }),
  approval: true,
  approvalSummary: ({ input }) => `${(input.amountCents / 100).toFixed(2).replace(".", ",")} € erstatten`,
  approvalRisk: "high",
  grantable: () => ({ scope: "all", words: "Erstattungen", evenHighRisk: true }),
  labels: { amountCents: "Betrag in Cent" },
  execute: () => ({ erstattet: true }),
});

const script: ModelScript = ({ prompt, said }) => {
  if (prompt.at(-1)?.role === "tool" || said.includes("Decision:")) return [say("Gut.")];
  if (said === "kaputt") return [failWith(new Error("broken"))];
  if (said.startsWith("erinnere"))
    return [callTool("remind_me", { text: "Tee", when: "every day at 09:00", timezone: "Europe/Berlin" })];
  if (said.startsWith("erstatte"))
    return [callTool("refund", { amountCents: 5_000, reason: said.slice(9) || "kaputt" })];
  return [say("Wie bitte?")];
};

/** Parts of the English texts between their values, if they are long enough to be recognized. */
const ENGLISH = Object.entries(ENGLISH_TEXTS).flatMap(([name, text]) =>
  name === "weekdays"
    ? []
    : text
        .split(/\{\w+\}|\n/)
        .map((part) => part.trim())
        .filter((part) => /[a-z]{2}.*[a-z]{2}/i.test(part) && part.length >= 6),
);

/** All words that people read in a chat: texts in all their versions, buttons, and answers to presses. */
function readIn(world: World, chat: string): string {
  return world.chats
    .messages(chat)
    .flatMap(({ buttons, texts }) => [...texts, ...buttons.map(({ label }) => label)])
    .join("\n");
}

it("says nothing in English: approvals, grants, schedules, subscriptions, commands and failures", async () => {
  const world = createWorld({
    script,
    getActions: () => ({ refund }),
    settings: { texts: german, chatSchedules: true, subscribeCommands: true },
  });
  const answers: (string | undefined)[] = [];
  const press = async (label: string, rest: Parameters<World["press"]>[2] = {}): Promise<void> => {
    answers.push(await world.press("c1", label, rest));
  };
  const write = async (text: string, answer: string): Promise<void> => {
    await world.write("c1", text);
    await shown(world, answer);
  };

  await write("/start", "Hallo! Schreib mir");
  await write("/help", "/approvals – Zeigt, was auf eine Entscheidung wartet");
  await write("/stop", "Gerade gibt es nichts anzuhalten.");
  await write("/approvals", "Nichts wartet auf deine Entscheidung");
  await write("erstatte bitte", "50,00 € erstatten?");
  // The question says the amount; the reason has the name that its schema gives it.
  expect(found(world, "50,00 € erstatten?").texts.at(-1)).toBe(
    "50,00 € erstatten?\n\nRisiko: hoch\nGrund: bitte",
  );
  await press("Mehr");
  await shown(world, "Du kannst auch erlauben: Erstattungen, in diesem Chat, gefragt von ada");
  await press("Freigeben", bob);
  await press("Ändern lassen");
  await shown(world, "Änderungen gewünscht");
  await write("erstatte jetzt", "Grund: jetzt");
  await write("/new", "Eine Anfrage wartet noch auf eine Entscheidung.");
  await press("Mehr");
  await press("Erlauben: eine Stunde lang");
  await shown(world, "Auch erlaubt, eine Stunde lang");
  await shown(world, "Erledigt");
  await write("/grants", "Ohne Frage erlaubt");
  await press("1 beenden");

  await write("erinnere mich", "Ich erinnere dich: Tee");
  await write("/schedules", "Als Nächstes:");
  await press("#1 pausieren");
  await press("#1 fortsetzen");
  await write("/subscribe", "Du bekommst jetzt Neuigkeiten.");
  await write("/unsubscribe", "Du bekommst keine Neuigkeiten mehr.");
  await write("kaputt", "Das hat leider nicht geklappt.");

  const all = [readIn(world, "c1"), ...answers].join("\n");
  expect(ENGLISH.filter((part) => all.includes(part))).toEqual([]);
  expect(answers).toContain("Das kannst du nicht entscheiden. Das darf nur ada.");
  await vi.waitFor(() => expect(all).toContain("Beendet. Ab jetzt frage ich wieder."));
});
