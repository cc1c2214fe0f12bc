import { expect, it } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";

it("lets a bot's own /stop and /new do what the built-in ones do, in its own words", async () => {
  const gate = createGate();
  const world = createWorld({
    messenger: { delivery: { stoppedResponseText: "(angehalten)", editEveryMs: 0 } },
    script: ({ prompt, said }) =>
      said === "Warte" ? [holdAt(gate)] : [say(`${prompt.filter(({ role }) => role === "user").length}`)],
    commands: {
      stop: {
        description: "Hält die Antwort an",
        handler: ({ stop }) => (stop() ? undefined : "Es läuft keine Antwort."),
      },
      new: {
        description: "Beginnt von vorn",
        handler: ({ beginAnew }) => {
          beginAnew();
          return "Von vorn.";
        },
      },
    },
  });
  await world.write("c1", "/stop");
  await world.shows("c1", "Es läuft keine Antwort.");
  await world.write("c1", "Warte");
  await untilReached(gate);
  await world.write("c1", "/stop");
  await world.shows("c1", "Es läuft keine Antwort.", "(angehalten)");
  await world.write("c1", "/new");
  await world.write("c1", "Hallo");
  await world.shows("c1", "Es läuft keine Antwort.", "(angehalten)", "Von vorn.", "1");
  expect(world.requests.map(({ said }) => said)).toEqual(["Warte", "Hallo"]);
  gate.open();
});

it("lists commands and answers in the language of the reader, in the bot's words", async () => {
  const german = (locale: string | undefined): boolean => locale === "de";
  const world = createWorld({
    commands: {
      help: {
        description: { en: "Show the commands", de: "Zeigt die Befehle" },
        text: ({ locale }) => (german(locale) ? "Ich kenne diese Befehle:" : "I know these commands:"),
      },
      new: { text: ({ locale }) => (german(locale) ? "Gut, von vorn." : "Fine, from the start.") },
      hours: { description: { en: "Opening hours", de: "Öffnungszeiten" }, handler: () => "9 to 5" },
    },
  });
  const ask = async (chat: string, language: string, text: string): Promise<string> => {
    const before = world.chats.visible(chat).length;
    await world.write(chat, text, { language });
    await expect.poll(() => world.chats.visible(chat).length).toBe(before + 1);
    return world.chats.visible(chat).at(-1) ?? "";
  };
  const help = await ask("c1", "de", "/help");
  expect(help).toMatch(/^Ich kenne diese Befehle:/);
  expect(help).toContain("/help – Zeigt die Befehle");
  expect(help).toContain("/hours – Öffnungszeiten");
  expect(help).toContain("/stop – Stop the answer that is being written");
  expect(await ask("c1", "de", "/new")).toBe("Gut, von vorn.");
  expect(await ask("c2", "fr", "/help")).toContain("/hours – Opening hours");
});
