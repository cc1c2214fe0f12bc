import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGate } from "../../lab/support/gate.ts";
import { callTool, holdAt, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { lastUserText, textOf } from "../../lab/support/scripted-model.ts";
import { newcomer } from "./rehearsal.ts";

let rig: Rig;

beforeAll(async () => {
  rig = await startRig({ config: "test/e2e/bots/attentive/wrangler.jsonc" });
});
afterAll(async () => {
  await rig.close();
});

/** Sends what follows to another webhook of the bot. */
const through = (path: string) => rig.simulator.setWebhook(`${rig.bot.url}${path}`, rig.secret);
const until = (condition: () => boolean) => rig.simulator.waitFor(condition);
const toolResults = (messages: readonly { role: string }[]) =>
  messages.filter((message) => message.role === "tool").length;

describe("steer", () => {
  it("lets the model hear a new message before its next step, with what the tools found out", async () => {
    through("/steered");
    const person = newcomer(rig);
    const gate = createGate();
    rig.model.script((request) => {
      if (lastUserText(request) === "no, the blue one")
        return [say(`Blue, with ${toolResults(request.messages)} look-up.`)];
      return [say("Let me see."), holdAt(gate), callTool("look_up", { what: "the red one" })];
    });
    person.write("find the red one");
    await gate.reached;
    person.write("no, the blue one");
    await rig.bot.logged(
      new RegExp(`m:${person.chat.id}:\\d+[^]*m:${person.chat.id}:\\d+[^]*"outcome":"queued"`),
    );
    gate.open();
    await person.reads("Let me see.", "Blue, with 1 look-up.");
    const roles = rig.model
      .requests()
      .at(-1)
      ?.messages.map((message) => message.role);
    expect(roles?.slice(1)).toEqual(["user", "assistant", "tool", "user"]);
  });
});

describe("interrupt", () => {
  it("stops the running reply where it is and answers the new message", async () => {
    through("/interrupted");
    const person = newcomer(rig);
    const gate = createGate();
    rig.model.script((request) =>
      lastUserText(request) === "wait, stop"
        ? [say("Yes?")]
        : [say("A long story begins "), holdAt(gate), say("and ends.")],
    );
    person.write("tell me a story");
    await gate.reached;
    await until(() => person.replies().length === 1);
    person.write("wait, stop");
    await until(() => person.replies().length === 2 && person.replies()[1]?.text === "Yes?");
    expect(person.replies()[0]?.text).toMatch(/^A long.*\n\n\(stopped\)$/s);
    gate.open();
  });
});

describe("edits", () => {
  it("answers the last message again, in place, when it is edited and the messenger wants that", async () => {
    through("/edited");
    const person = newcomer(rig);
    rig.model.script((request) => [say(`Re ${lastUserText(request)}`)]);
    const question = person.write("tow");
    await person.reads("Re tow");
    rig.simulator.editText(person.chat, person.user, question.message_id, "two");
    await person.reads("Re two");
    person.write("and?");
    await person.reads("Re two", "Re and?");
    const texts = rig.model
      .requests()
      .at(-1)
      ?.messages.filter((message) => message.role === "user");
    expect(texts?.map((message) => message.content)).toEqual(["two", "and?"]);
  });

  it("leaves an answered message alone where that was not asked for, and never runs a command by an edit", async () => {
    through("/messengers/telegram/webhook");
    const person = newcomer(rig);
    rig.model.script((request) => [say(`Re ${lastUserText(request)}`)]);
    const question = person.write("one");
    await person.reads("Re one");
    rig.simulator.editText(person.chat, person.user, question.message_id, "/help");
    await rig.bot.logged(new RegExp(`e:${person.chat.id}:[^]*"outcome":"ignored: edit`));
    expect(person.replies().map(({ text }) => text)).toEqual(["Re one"]);
  });
});

describe("an action with an effect", () => {
  it("is not begun while more of the message may come", async () => {
    through("/messengers/telegram/webhook");
    const person = newcomer(rig);
    rig.model.script((request) => {
      const text = lastUserText(request);
      const last = request.messages.at(-1);
      if (last?.role === "tool") return [say(`Ordered: ${JSON.parse(textOf(last)).placed.join(", ")}.`)];
      return [callTool("place_order", { item: text.includes("cocoa") ? "cocoa" : "coffee" })];
    });
    person.write("coffee please");
    await rig.model.request(rig.model.requests().length);
    person.write("no, cocoa");
    await person.reads("Ordered: cocoa.");
    expect(person.replies()).toHaveLength(1);
  });
});

describe("what people see of a model's text", () => {
  it("is without leaked thinking, also while it streams, changed and signed as the messenger says", async () => {
    through("/filtered");
    const person = newcomer(rig);
    const gate = createGate();
    rig.model.script(() => [
      say("<think>They ask for a colour. I must not", { chunkSize: 3 }),
      say(" show this.</think>The colour", { chunkSize: 3 }),
      holdAt(gate),
      say(" is blue.<|im_end|>", { chunkSize: 3 }),
    ]);
    person.write("which colour?");
    await gate.reached;
    await until(() => person.replies().length === 1);
    gate.open();
    await person.reads("The color is blue.\n\nYour shop");
    const shown = person.replies()[0]?.history.map(({ text }) => text) ?? [];
    for (const text of shown) expect("The color is blue.\n\nYour shop").toContain(text);
  });

  it("is nothing where the model chooses silence in a group", async () => {
    through("/filtered");
    const ada = rig.simulator.addUser({ first_name: "Ada" });
    const group = rig.simulator.addGroup({ title: "Lunch", members: [ada] });
    rig.model.script((request) =>
      lastUserText(request).includes("pizza") ? [say("[[silence]]", { chunkSize: 2 })] : [say("I am here.")],
    );
    const answers = () =>
      rig.simulator
        .messages(group)
        .filter(({ from }) => from.isBot)
        .map(({ text }) => text);
    rig.simulator.sendText(group, ada, `@${rig.simulator.bot.username} are you here?`);
    await until(() => answers()[0]?.endsWith("Your shop") === true);
    rig.simulator.sendText(group, ada, "pizza, anyone?");
    await rig.model.request(rig.model.requests().length);
    rig.simulator.sendText(group, ada, "and you, bot?");
    await until(() => answers()[1]?.endsWith("Your shop") === true);
    expect(answers()).toEqual(["I am here.\n\nYour shop", "I am here.\n\nYour shop"]);
    const posts = rig.simulator.calls({ method: "sendMessage", chatId: group.id });
    expect(posts).toHaveLength(2);
    const prompt = textOf(
      rig.model
        .requests()
        .at(-1)
        ?.messages.find((message) => message.role === "system"),
    );
    expect(prompt).toContain("[[silence]]");
  });
});
