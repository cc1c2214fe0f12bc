import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SimChat } from "../../playground/telegram/simulator.ts";
import { createGate } from "../../lab/support/gate.ts";
import { callTool, holdAt, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { lastUserText } from "../../lab/support/scripted-model.ts";

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => {
  await rig.close();
});

const newChat = () => {
  const user = rig.simulator.addUser();
  return { user, chat: rig.simulator.privateChat(user) };
};
const fromBot = (chat: SimChat) =>
  rig.simulator
    .messages(chat)
    .filter((message) => message.from.isBot)
    .map((message) => message.text);
const until = (condition: () => boolean) => rig.simulator.waitFor(condition);
/** A moment at which a message is no longer part of the one before, in the seconds that a message carries. */
/** Lines are quick if they were written together, however slow this machine is. */
const sameMoment = () => ({ date: Math.floor(Date.now() / 1000) });
const later = () => Math.floor(Date.now() / 1000) + 60;
const echo = () => rig.model.script((request) => [say(`You said: ${lastUserText(request)}`)]);

describe("a bot to which nobody has written", () => {
  it("has told its commands", async () => {
    await until(() => rig.simulator.calls({ method: "setMyCommands" }).length === 2);
    expect(rig.simulator.updates()).toEqual([]);
  });
});

describe("several messages", () => {
  it("answers three quick lines with one message that answers them all", async () => {
    const { chat, user } = newChat();
    const gate = createGate();
    rig.model.script((request) => {
      const text = lastUserText(request);
      return [
        say(`Heard ${text.split("\n").length}: `),
        ...(text.includes("three") ? [] : [holdAt(gate)]),
        say(text.replaceAll("\n", ", ")),
      ];
    });
    const quickly = sameMoment();
    rig.simulator.sendText(chat, user, "one", quickly);
    await until(() => fromBot(chat).length > 0);
    rig.simulator.sendText(chat, user, "two", quickly);
    rig.simulator.sendText(chat, user, "three", quickly);
    await until(() => fromBot(chat).includes("Heard 3: one, two, three"));
    expect(fromBot(chat)).toEqual(["Heard 3: one, two, three"]);
    gate.open();
    echo();
    rig.simulator.sendText(chat, user, "and?", { date: later() });
    await until(() => fromBot(chat).length === 2);
    const transcript = rig.model
      .requests()
      .at(-1)
      ?.messages.filter((message) => message.role === "user");
    expect(transcript?.map((message) => message.content)).toEqual(["one\ntwo\nthree", "and?"]);
  });

  it("answers quick lines in one message also when the model is faster than the person", async () => {
    const { chat, user } = newChat();
    rig.model.script((request) => [say(`Re ${lastUserText(request).replaceAll("\n", "+")}`)]);
    const quickly = sameMoment();
    rig.simulator.sendText(chat, user, "one", quickly);
    await until(() => fromBot(chat).includes("Re one"));
    rig.simulator.sendText(chat, user, "two", quickly);
    await until(() => fromBot(chat).some((text) => text.includes("two")));
    expect(fromBot(chat)).toEqual(["Re one+two"]);
  });

  it("leaves an answer alone that the person replies to, however quickly", async () => {
    const { chat, user } = newChat();
    rig.model.script((request) => [say(`Re ${lastUserText(request).split("\n").at(-1)}`)]);
    rig.simulator.sendText(chat, user, "one");
    await until(() => fromBot(chat).includes("Re one"));
    const answer = rig.simulator.messages(chat).find((message) => message.from.isBot);
    rig.simulator.sendText(chat, user, "two", { replyTo: answer?.id });
    await until(() => fromBot(chat).includes("Re two"));
    expect(fromBot(chat)).toEqual(["Re one", "Re two"]);
  });

  it("answers a message that comes while a reply runs afterwards, in order", async () => {
    const { chat, user } = newChat();
    const gate = createGate();
    rig.model.script((request) => {
      const text = lastUserText(request);
      if (text !== "first") return [say(`Answer to ${text}.`)];
      return request.messages.some((message) => message.role === "tool")
        ? [holdAt(gate), say("Answer to first.")]
        : [say("One moment."), callTool("lookup_order", { id: "1" })];
    });
    rig.simulator.sendText(chat, user, "first");
    await gate.reached;
    rig.simulator.sendText(chat, user, "second", { date: later() });
    await rig.bot.logged(
      new RegExp(
        `m:${chat.id}:\\d+","thread":"telegram:${chat.id}","outcome":"queued"[^]*m:${chat.id}:\\d+","thread":"telegram:${chat.id}","outcome":"queued"`,
      ),
    );
    gate.open();
    await until(() => fromBot(chat).length === 2 && fromBot(chat)[1] === "Answer to second.");
    expect(fromBot(chat)).toEqual(["One moment.\n\nAnswer to first.", "Answer to second."]);
  });

  it("corrects a waiting message that is edited, and does not answer twice", async () => {
    const { chat, user } = newChat();
    const gate = createGate();
    rig.model.script((request) => {
      const text = lastUserText(request);
      if (text !== "first") return [say(`Answer to ${text}.`)];
      return request.messages.some((message) => message.role === "tool")
        ? [holdAt(gate), say("Answer to first.")]
        : [callTool("lookup_order", { id: "1" })];
    });
    rig.simulator.sendText(chat, user, "first");
    await gate.reached;
    const second = rig.simulator.sendText(chat, user, "secnod", { date: later() });
    rig.simulator.editText(chat, user, second.message_id, "second");
    await rig.bot.logged(new RegExp(`thread":"telegram:${chat.id}","outcome":"edit applied`));
    gate.open();
    await until(() => fromBot(chat).length === 2);
    await until(() => fromBot(chat)[1] === "Answer to second.");
    expect(fromBot(chat)).toEqual(["Answer to first.", "Answer to second."]);
  });
});

describe("commands", () => {
  it("/stop ends a running answer at once, leaves what is visible, and says so", async () => {
    const { chat, user } = newChat();
    const gate = createGate();
    rig.model.script(() => [say("This much was said before the stop."), holdAt(gate), say(" This was not.")]);
    rig.simulator.sendText(chat, user, "tell me");
    await gate.reached;
    await until(() => fromBot(chat)[0] === "This much was said before the stop.");
    const asked = rig.model.requests().at(-1);
    rig.simulator.sendText(chat, user, "/stop");
    await until(() => fromBot(chat)[0]?.includes("(stopped)") === true);
    await asked?.ended;
    expect(asked?.state).toBe("client-left");
    gate.open();
    echo();
    rig.simulator.sendText(chat, user, "go on", { date: later() });
    await until(() => fromBot(chat)[1] === "You said: go on");
    expect(fromBot(chat)).toEqual(["This much was said before the stop.\n\n(stopped)", "You said: go on"]);
  });

  it("/stop says so when there is nothing to stop", async () => {
    const { chat, user } = newChat();
    rig.simulator.sendText(chat, user, "/stop");
    await until(() => fromBot(chat).length === 1);
    expect(fromBot(chat)).toEqual(["There's nothing to stop right now."]);
  });

  it("/help lists the commands of the bot, /start greets, and neither asks the model", async () => {
    const { chat, user } = newChat();
    const asked = rig.model.requests().length;
    rig.simulator.sendText(chat, user, "/start ref42");
    rig.simulator.sendText(chat, user, "/help");
    await until(() => fromBot(chat).length === 2);
    expect(fromBot(chat)[0]).toMatch(/Hello/);
    for (const name of ["/start", "/help", "/stop", "/new", "/order", "/hours"])
      expect(fromBot(chat)[1]).toContain(name);
    expect(rig.model.requests().length).toBe(asked);
  });

  it("/new begins an empty transcript", async () => {
    const { chat, user } = newChat();
    echo();
    rig.simulator.sendText(chat, user, "remember 42");
    await until(() => fromBot(chat).length === 1);
    rig.simulator.sendText(chat, user, "/new");
    await until(() => fromBot(chat).length === 2);
    rig.simulator.sendText(chat, user, "what was it?", { date: later() });
    await until(() => fromBot(chat).length === 3);
    const text = JSON.stringify(rig.model.requests().at(-1)?.messages);
    expect(text).toContain("what was it?");
    expect(text).not.toContain("42");
  });

  it("hands text to the model where a command says so, and an unknown command in a private chat", async () => {
    const { chat, user } = newChat();
    echo();
    rig.simulator.sendText(chat, user, "/order 1001");
    await until(() => fromBot(chat).includes("You said: Where is my order 1001?"));
    rig.simulator.sendText(chat, user, "/weather Berlin", { date: later() });
    await until(() => fromBot(chat).length === 2 && fromBot(chat)[1]?.includes("Berlin") === true);
    expect(fromBot(chat)[1]).toBe("You said: /weather Berlin");
  });

  it("answers a command beside a running reply", async () => {
    const { chat, user } = newChat();
    const gate = createGate();
    rig.model.script(() => [say("A long answer begins"), holdAt(gate), say(" and ends.")]);
    rig.simulator.sendText(chat, user, "tell me");
    await gate.reached;
    rig.simulator.sendText(chat, user, "/hours");
    await until(() => fromBot(chat).some((text) => text.startsWith("Our shop and our team")));
    gate.open();
    await until(() => fromBot(chat).includes("A long answer begins and ends."));
    expect(fromBot(chat)).toHaveLength(2);
  });
});
