import { describe, expect, it } from "vitest";
import type { SimChat } from "../../playground/telegram/simulator.ts";
import { usePage } from "./page-rig.ts";

const rig = usePage();

function addPerson(name: string): SimChat {
  return rig.simulator.privateChat(rig.simulator.addUser({ first_name: name }));
}

const names = () => rig.page.locator("#chat-list strong").allTextContents();

describe("the list of chats", () => {
  it("shows the chat with the newest message first, whatever was there before", async () => {
    const people = ["Bea", "Cleo", "Dora"].map(addPerson);
    const [bea, cleo, dora] = people;
    if (bea === undefined || cleo === undefined || dora === undefined) throw new Error("nobody is there");
    const say = async (chat: SimChat, text: string) => {
      rig.simulator.sendText(chat, chat.id, text);
      await rig.page.locator("#chat-list").getByText(text, { exact: true }).waitFor();
      return names();
    };
    expect((await say(bea, "one")).slice(0, 1)).toEqual(["Bea"]);
    expect((await say(cleo, "two")).slice(0, 2)).toEqual(["Cleo", "Bea"]);
    expect((await say(dora, "three")).slice(0, 3)).toEqual(["Dora", "Cleo", "Bea"]);
    expect(await say(rig.chat, "four")).toEqual(["Alice Moss", "Dora", "Cleo", "Bea"]);
    expect(await say(bea, "five")).toEqual(["Bea", "Alice Moss", "Dora", "Cleo"]);
    expect(await say(cleo, "six")).toEqual(["Cleo", "Bea", "Alice Moss", "Dora"]);
  });

  it("shows typing in a chat that is not open, and no longer than it lasts", async () => {
    const bea = addPerson("Bea");
    rig.timeMs = Date.now();
    await rig.api.sendChatAction(bea.id, "typing");
    await rig.entry("Bea").getByText("typing…").waitFor();
    rig.timeMs += 6000;
    const preview = rig.entry("Bea").locator(".chat-preview");
    await expect.poll(() => preview.textContent()).toBe("No messages yet");
  });

  it("keeps the focus on an entry that moves", async () => {
    const bea = addPerson("Bea");
    rig.simulator.sendText(rig.chat, rig.chat.id, "earlier");
    await rig.entry("Bea").focus();
    rig.simulator.sendText(bea, bea.id, "later");
    await rig.page.locator("#chat-list").getByText("later").waitFor();
    expect(await names()).toEqual(["Bea", "Alice Moss"]);
    expect(await rig.page.locator("#chat-list :focus strong").textContent()).toBe("Bea");
  });
});

describe("the field", () => {
  it("has the focus when the page opens, and after a chat is opened", async () => {
    addPerson("Bea");
    await rig.page.locator("#message-input:focus").waitFor();
    await rig.entry("Bea").click();
    await rig.page.locator("#chat-subtitle").getByText("as Bea").waitFor();
    await rig.page.locator("#message-input:focus").waitFor();
    await rig.page.keyboard.type("typed at once");
    expect(await rig.field().inputValue()).toBe("typed at once");
  });
});

describe("the address", () => {
  it("opens the chat that is written there, and keeps it when the link to the field is used", async () => {
    const bea = addPerson("Bea");
    await rig.page.evaluate(`location.hash = "${bea.id}"`);
    await rig.page.locator("#chat-subtitle").getByText("as Bea").waitFor();
    await rig.page.getByRole("link", { name: "Skip to the message field" }).press("Enter");
    await rig.page.locator("#message-input:focus").waitFor();
    await rig.write("Still here");
    await rig.simulator.waitFor(() => rig.webhook.received.length === 1);
    expect(rig.webhook.received[0]?.update.message?.chat.id).toBe(bea.id);
  });
});

describe("a half-written message", () => {
  const open = async (name: string) => {
    await rig.entry(name).click();
    await rig.page.locator("#chat-subtitle").getByText(`as ${name}`).waitFor();
  };

  it("waits in its own chat, and is named in the list", async () => {
    addPerson("Bea");
    await rig.field().fill("Half a tho");
    await open("Bea");
    expect(await rig.field().inputValue()).toBe("");
    await rig.entry("Alice Moss").getByText("Draft: Half a tho").waitFor();
    await rig.field().fill("For Bea");
    await open("Alice Moss");
    expect(await rig.field().inputValue()).toBe("Half a tho");
    await rig.entry("Bea").getByText("Draft: For Bea").waitFor();
    expect(await rig.page.locator("#chat-list").getByText("Draft: Half").count()).toBe(0);
    await rig.field().press("Enter");
    await open("Bea");
    await rig.entry("Alice Moss").getByText("Half a tho", { exact: true }).waitFor();
    expect(await rig.field().inputValue()).toBe("For Bea");
  });

  it("is named in the list of a phone, too", async () => {
    await rig.page.setViewportSize({ width: 390, height: 800 });
    await rig.entry("Alice Moss").click();
    await rig.field().fill("Half a tho");
    await rig.page.getByRole("button", { name: "Back to the chats" }).click();
    await rig.entry("Alice Moss").getByText("Draft: Half a tho").waitFor();
    await rig.entry("Alice Moss").click();
    expect(await rig.field().inputValue()).toBe("Half a tho");
  });

  it("keeps the message that it replies to, and its file", async () => {
    addPerson("Bea");
    await rig.api.sendMessage(rig.chat.id, "Question");
    await rig.page.locator("#messages .bubble").hover();
    await rig.page.getByRole("button", { name: "Message actions" }).click();
    await rig.page.getByRole("menuitem", { name: "Reply" }).click();
    await rig.page
      .locator("#file")
      .setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hi") });
    await rig.page.locator("#context-text").getByText("Question · notes.txt").waitFor();
    await open("Bea");
    await rig.page.locator("#composer-context").waitFor({ state: "hidden" });
    await rig.entry("Alice Moss").getByText("Draft: notes.txt").waitFor();
    await open("Alice Moss");
    await rig.page.locator("#context-text").getByText("Question · notes.txt").waitFor();
    await rig.write("Here");
    await rig.simulator.waitFor(() => rig.webhook.received.length === 1);
    expect(rig.webhook.received[0]?.update.message).toMatchObject({
      caption: "Here",
      document: { file_name: "notes.txt" },
      reply_to_message: { text: "Question" },
    });
  });

  it("comes back when an edit is cancelled", async () => {
    rig.simulator.sendText(rig.chat, rig.chat.id, "Sent long ago");
    await rig.field().fill("Half a tho");
    await rig.page.locator(".own .bubble").hover();
    await rig.page.getByRole("button", { name: "Message actions" }).click();
    await rig.page.getByRole("menuitem", { name: "Edit" }).click();
    expect(await rig.field().inputValue()).toBe("Sent long ago");
    await rig.field().press("Escape");
    expect(await rig.field().inputValue()).toBe("Half a tho");
  });

  it("waits in its own topic", async () => {
    const [alice] = rig.simulator.users();
    if (alice === undefined) throw new Error("nobody is there");
    const forum = rig.simulator.addGroup({ title: "Crew", forum: true, members: [alice] });
    rig.simulator.addTopic(forum, "Returns");
    await rig.entry("Crew").click();
    const topics = rig.page.getByRole("group", { name: "Topics" });
    await topics.getByRole("button", { name: "General", pressed: true }).waitFor();
    await rig.field().fill("For all");
    await topics.getByRole("button", { name: "Returns" }).click();
    await topics.getByRole("button", { name: "Returns", pressed: true }).waitFor();
    expect(await rig.field().inputValue()).toBe("");
    await topics.getByRole("button", { name: "General" }).click();
    await topics.getByRole("button", { name: "General", pressed: true }).waitFor();
    expect(await rig.field().inputValue()).toBe("For all");
  });

  it("comes back to its chat when it could not be sent, wherever the person is by then", async () => {
    addPerson("Bea");
    const gate = Promise.withResolvers<void>();
    await rig.page.route("**/_sim/sendText", async (route) => {
      await gate.promise;
      await route.fulfill({ status: 200, contentType: "text/html", body: "not JSON" });
    });
    await rig.write("Precious");
    await open("Bea");
    gate.resolve();
    await rig.entry("Alice Moss").getByText("Draft: Precious").waitFor();
    expect(await rig.field().inputValue()).toBe("");
  });
});
