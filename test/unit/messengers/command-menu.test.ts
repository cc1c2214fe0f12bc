import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import type { CommandEntry } from "../../../src/core/chat/messenger.ts";
import { SwitchboardError } from "../../../src/core/base/errors.ts";
import { CommandMenu } from "../../../src/messengers/root/command-menu.ts";
import { menuOf } from "../../../src/messengers/declare/commands.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { createRootStore } from "../../../src/messengers/root/root-store.ts";
import { definitionOf } from "../../../lab/support/messenger-events.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const HOUR_MS = 3_600_000;

/** A root and its platform; `restart` is the same root after its object has died. */
function createRig() {
  const clock = createVirtualClock();
  const store = createRootStore(createNodeDatabase());
  const told: (readonly CommandEntry[])[] = [];
  const former: (readonly string[])[] = [];
  const log: string[] = [];
  const state = {
    commands: (): readonly CommandEntry[] => [{ name: "help", description: "Show the commands" }],
    answer: (): Promise<void> => Promise.resolve(),
    account: "the first token's hash",
  };
  const deps = { clock, newId: () => "id", random: () => 0, fetch };
  const context = {
    messengerId: "telegram",
    deps,
    log: createLog((_level, line) => log.push(line), { now: () => clock.now() }),
    identity: () => Promise.reject(new Error("not needed")),
    root: <Calls extends object>() => ({}) as Calls,
  };
  const { platform } = definitionOf();
  const [definition] = normalizeMessengers({
    telegram: definitionOf({
      platform: {
        ...platform,
        account: () => Promise.resolve(state.account),
        setCommands: async (commands, _context, _signal, formerLanguages) => {
          told.push(commands);
          former.push(formerLanguages);
          await state.answer();
        },
      },
    }),
  });
  if (definition === undefined) throw new Error("no definition");
  const start = () => {
    const menu = new CommandMenu({ deps, log: context.log, store, commands: () => state.commands() });
    /** What the root does after each webhook. */
    return async (): Promise<void> => {
      if (menu.isDue(definition)) await menu.tell(definition, context);
    };
  };
  return { clock, store, told, former, log, state, start };
}

describe("the menu of commands", () => {
  it("has the built-in commands and the bot's own, which may stand in for one", () => {
    const own = {
      start: { description: "Begin", handler: () => "Hi" },
      hours: { description: "When we are open", handler: () => "9 to 5" },
    };
    expect(menuOf(own).map(({ name, description }) => [name, description])).toEqual([
      ["start", "Begin"],
      ["help", "Show the commands"],
      ["stop", "Stop the answer that is being written"],
      ["new", "Start a new conversation"],
      ["hours", "When we are open"],
    ]);
  });

  it("describes a built-in command in the bot's words", () => {
    const description = { en: "What I can do", de: "Was ich kann" };
    expect(menuOf({ help: { description } })[1]).toEqual({ name: "help", description });
    expect(menuOf({ new: { text: "Gut." } })[3]).toEqual({
      name: "new",
      description: "Start a new conversation",
    });
  });

  it("refuses a command of the bot without a handler, by its name", () => {
    expect(() => menuOf({ hours: { description: "Hours" } })).toThrow(/\/hours .* has no handler/);
  });

  it.each(["Hours", "opening hours", "/hours", "hours@bot", ""])(
    "refuses a command that nobody can write: %j",
    (name) => {
      expect(() => menuOf({ [name]: { description: "Hours", handler: () => "9 to 5" } })).toThrow(
        expect.objectContaining({
          code: "command-name-invalid",
          message: expect.stringContaining(`"${name}"`),
        }),
      );
    },
  );

  it("is told to the bot of a new token, too", async () => {
    const { start, state, told } = createRig();
    await start()();
    state.account = "the second token's hash";
    await start()();
    await start()();
    expect(told).toHaveLength(2);
  });

  it("is told once, also over restarts, and again when the list has changed", async () => {
    const { told, state, start } = createRig();
    for (let life = 0; life < 3; life += 1) {
      const webhook = start();
      for (let message = 0; message < 3; message += 1) await webhook();
    }
    expect(told).toHaveLength(1);
    state.commands = () => [{ name: "help", description: "What I can do" }];
    await start()();
    expect(told).toHaveLength(2);
  });

  it("is told again to a platform that was told the same list for private chats alone", async () => {
    const { store, told, start } = createRig();
    // What was stored for this list before groups had a menu: the hash of the list by itself.
    const hash = "a0e921074327ed28bdc842b075614f0d9df69bad451124289bffe599850089b5";
    store.setMenu("telegram", { hash, tryAgainAt: undefined, languages: [] });
    await start()();
    await start()();
    expect(told).toHaveLength(1);
  });

  it("is tried again an hour after the platform has refused it, also over restarts, and harms nothing", async () => {
    const { clock, told, log, state, start } = createRig();
    state.answer = () => Promise.reject(new TypeError("psst"));
    const webhook = start();
    await webhook();
    await webhook();
    await start()();
    expect(told).toHaveLength(1);
    expect(log).toEqual([
      expect.stringContaining('"event":"menu.not-set","messenger":"telegram","code":"TypeError"'),
    ]);
    expect(log.join()).not.toContain("psst");
    await clock.advance(HOUR_MS);
    state.answer = () => Promise.resolve();
    await webhook();
    await start()();
    expect(told).toHaveLength(2);
  });

  it("says why the platform refused it, without the places of our own code", async () => {
    const { log, state, start } = createRig();
    state.answer = () =>
      Promise.reject(new SwitchboardError("token-refused", "The Bot API call setMyCommands failed."));
    await start()();
    expect(JSON.parse(log[0] ?? "")).toEqual({
      time: expect.any(String) as unknown,
      level: "warn",
      event: "menu.not-set",
      messenger: "telegram",
      code: "token-refused",
      message: "The Bot API call setMyCommands failed.",
    });
  });

  it("is taken back in a language that it has no longer, also if the platform refused that at first", async () => {
    const { clock, former, state, start } = createRig();
    const help = (description: CommandEntry["description"]) => () => [{ name: "help", description }];
    state.commands = help({ en: "Help", de: "Hilfe" });
    await start()();
    state.commands = help({ en: "Help", fr: "Aide" });
    state.answer = () => Promise.reject(new TypeError("no"));
    await start()();
    state.answer = () => Promise.resolve();
    await clock.advance(HOUR_MS);
    await start()();
    state.commands = help("Help");
    await start()();
    expect(former).toEqual([[], ["de"], ["de"], ["en", "fr"]]);
  });

  it("is not told twice at the same moment", async () => {
    const { told, start } = createRig();
    const webhook = start();
    await Promise.all([webhook(), webhook()]);
    expect(told).toHaveLength(1);
  });

  it("does without a bot whose getCommands() throws", async () => {
    const { told, log, state, start } = createRig();
    state.commands = () => {
      throw new TypeError("psst");
    };
    await start()();
    expect(told).toEqual([]);
    expect(log).toEqual([expect.stringContaining('"event":"bot.failed","method":"getCommands"')]);
  });
});
