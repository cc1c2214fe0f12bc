import { describe, expect, it } from "vitest";
import { useAskingBot } from "./asking-bot-rig.ts";
import { PICTURE } from "./person-page.ts";

const rig = useAskingBot();
const { log, screenshot, write } = rig;
/** The newest message with these words. */
const card = (words: string) => log().getByRole("article").filter({ hasText: words }).last();
const button = (words: string, name: string) => card(words).getByRole("button", { name, exact: true });
/** Whether the bot has said that it got this answer. */
const answered = async (words: string): Promise<boolean> => {
  await log().getByText(words).last().waitFor();
  return true;
};

/** Moves through the page with the tab key, as a person does without a mouse, until a button has the focus. */
async function tabTo(name: string): Promise<void> {
  for (let tab = 0; tab < 60; tab += 1) {
    await rig.page.keyboard.press("Shift+Tab");
    const focused = await rig.page.locator(":focus").textContent();
    if (focused?.trim() === name) return;
  }
  throw new Error(`The tab key does not reach "${name}".`);
}

describe("a question on the page", () => {
  it("is answered with the tab key and enter", async () => {
    await write("/call confirm {}");
    await button("Shall I?", "Yes").waitFor();
    await tabTo("No");
    await rig.page.keyboard.press("Enter");
    expect(await answered("Answer: no")).toBe(true);
    expect(await card("Shall I?").getByRole("button", { name: "No", exact: true }).count()).toBe(0);
  });

  it("has a button with its words as its name for each option", async () => {
    await write("/call choose {}");
    await button("Which size?", "Medium").waitFor();
    const names = await card("Which size?").ariaSnapshot();
    expect(names).toMatch(/button "S"[^]*button "Medium"[^]*button "Not now"/);
    await screenshot("question-choose");
    await button("Which size?", "Medium").press("Enter");
    expect(await answered("Answer: M")).toBe(true);
  });

  it.each([
    ["text", ["no"], "Please write at least 3 characters", "a kite", '"a kite"'],
    ["number", ["51"], "At most 50", "2,5", "2.5"],
    ["date", ["30.2.2027"], "I don't see which day that is", "24.12.2027", '"2027-12-24"'],
    ["time", ["24.12.2027"], "I don't see which time that is", "24.12.2027 18:30", '"2027-12-24T18:30:00Z"'],
    ["mail", ["ann at home"], "That's not an e-mail address", "ann@example.com", '"ann@example.com"'],
    ["page", ["my page"], "That's not a web address", "example.com/a", '"https://example.com/a"'],
    ["place", ["here"], "Please send a place", "57.7072, 11.9668", '"latitude":57.7072'],
  ])("is answered by a message: %s", async (kind, wrong, hint, right, value) => {
    await write(`/call elicit {"kind":"${kind}"}`);
    await button(`The ${kind}, please`, "Not now").waitFor();
    for (const text of wrong) await write(text);
    await log().getByText(hint).first().waitFor();
    await screenshot(`question-${kind}`);
    await write(right);
    expect(await answered(value)).toBe(true);
  });

  it.each([
    ["yes", "Yes", "true"],
    ["option", "green", '"green"'],
  ])("is answered by a button: %s", async (kind, name, value) => {
    await write(`/call elicit {"kind":"${kind}"}`);
    await button(`The ${kind}, please`, name).press("Enter");
    expect(await answered(`Answer: ${value}`)).toBe(true);
  });

  it("is answered by a photo, and by a file, which the keyboard attaches", async () => {
    const attach = async (file: typeof PICTURE): Promise<void> => {
      const chosen = rig.page.waitForEvent("filechooser");
      await rig.page.getByRole("button", { name: "Attach a photo, a voice note or a file" }).press("Enter");
      await (await chosen).setFiles(file);
      await rig.page.getByRole("textbox", { name: "Message" }).press("Enter");
    };
    await write('/call elicit {"kind":"photo"}');
    await card("The photo, please").waitFor();
    await attach(PICTURE);
    expect(await answered('"kind":"image"')).toBe(true);
    await write('/call elicit {"kind":"file"}');
    await card("The file, please").waitFor();
    await attach({ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("hello") });
    expect(await answered('"name":"note.txt"')).toBe(true);
  });

  it("asks an object field by field, with a way back and a summary, all by the keyboard", async () => {
    await write('/call elicit {"kind":"party"}');
    await card("How many guests").waitFor();
    await screenshot("question-form");
    await write("7");
    await button("On the terrace", "Back").press("Enter");
    await button("How many guests", "Keep 7").waitFor();
    await write("8");
    await button("On the terrace", "Yes").press("Enter");
    await button("Anything else", "Skip").press("Enter");
    await button("Is this right?", "Change").press("Enter");
    await button("What would you like to change?", "On the terrace").press("Enter");
    await button("On the terrace", "No").press("Enter");
    await button("Is this right?", "Send").waitFor();
    await screenshot("question-summary");
    await button("Is this right?", "Send").press("Enter");
    expect(await answered('{"guests":8,"outside":false}')).toBe(true);
  });

  it("is cancelled in its summary, with the tab key, and names each choice", async () => {
    await write('/call elicit {"kind":"party"}');
    await card("How many guests").waitFor();
    await write("7");
    await button("On the terrace", "Yes").press("Enter");
    await button("Anything else", "Skip").press("Enter");
    await button("Is this right?", "Send").waitFor();
    const names = await card("Is this right?").ariaSnapshot();
    expect(names).toMatch(/button "Send"[^]*button "Change"[^]*button "Not now"/);
    // A pressed button that is gone leaves the focus nowhere.
    await rig.page.getByRole("textbox", { name: "Message" }).focus();
    await tabTo("Not now");
    await rig.page.keyboard.press("Enter");
    expect(await answered('"declined"')).toBe(true);
  });

  it("is declined by a button", async () => {
    await write('/call elicit {"kind":"number"}');
    await button("The number, please", "Not now").press("Enter");
    expect(await answered('"declined"')).toBe(true);
  });
});
