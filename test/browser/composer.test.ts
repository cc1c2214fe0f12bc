import { describe, expect, it } from "vitest";
import { usePage } from "./page-rig.ts";

const rig = usePage({ keeps: true });
const list = () => rig.page.getByRole("listbox", { name: "Bot commands" });
const options = () => list().getByRole("option");
const active = () => list().getByRole("option", { selected: true });
const sent = async (count = 1) => {
  await rig.simulator.waitFor(() => rig.webhook.received.length === count);
  return rig.webhook.received.map(({ update }) => update.message?.text);
};

const commands = [
  { command: "help", description: "Show the commands" },
  { command: "hours", description: "Support hours" },
  { command: "hour", description: "The hour" },
  { command: "stop", description: "End the reply" },
];

async function offerCommands(): Promise<void> {
  await rig.api.setMyCommands(commands, { scope: { type: "all_private_chats" } });
}

describe("the commands after a slash", () => {
  it("are chosen with the arrows and Enter, which sends", async () => {
    await offerCommands();
    await rig.field().pressSequentially("/h");
    await active().getByText("/help").waitFor();
    expect(await options().count()).toBe(3);
    await rig.field().press("ArrowDown");
    await active().getByText("/hours").waitFor();
    await rig.field().press("ArrowUp");
    await rig.field().press("ArrowUp");
    await active().getByText("/hour", { exact: true }).waitFor();
    await rig.field().press("ArrowUp");
    await active().getByText("/hours").waitFor();
    await rig.field().press("Enter");
    expect(await sent()).toEqual(["/hours"]);
    expect(await rig.field().inputValue()).toBe("");
    await list().waitFor({ state: "hidden" });
  });

  it("are completed by Tab, so that something can follow", async () => {
    await offerCommands();
    await rig.field().pressSequentially("/st");
    await active().getByText("/stop").waitFor();
    await rig.field().press("Tab");
    expect(await rig.field().inputValue()).toBe("/stop ");
    await list().waitFor({ state: "hidden" });
    await rig.page.locator("#message-input:focus").waitFor();
    await rig.field().pressSequentially("now");
    await rig.field().press("Enter");
    expect(await sent()).toEqual(["/stop now"]);
  });

  it("are closed by Escape, and then Enter sends what was typed", async () => {
    await offerCommands();
    await rig.field().pressSequentially("/ho");
    await active().waitFor();
    await rig.field().press("Escape");
    await list().waitFor({ state: "hidden" });
    expect(await rig.field().inputValue()).toBe("/ho");
    await rig.field().press("Enter");
    expect(await sent()).toEqual(["/ho"]);
  });

  it("prefer the one that is typed in full", async () => {
    await offerCommands();
    await rig.field().pressSequentially("/hour");
    await active().getByText("/hour", { exact: true }).waitFor();
    await rig.field().press("Enter");
    expect(await sent()).toEqual(["/hour"]);
  });

  it("are named by the field for a screen reader", async () => {
    await offerCommands();
    await rig.field().pressSequentially("/h");
    await active().waitFor();
    expect(await rig.field().getAttribute("aria-controls")).toBe(await list().getAttribute("id"));
    await rig.field().press("ArrowDown");
    const second = options().nth(1);
    expect(await second.getAttribute("aria-selected")).toBe("true");
    expect(await rig.field().getAttribute("aria-activedescendant")).toBe(await second.getAttribute("id"));
    await rig.field().press("Escape");
    expect(await rig.field().getAttribute("aria-activedescendant")).toBeNull();
  });

  it("in a group are those for groups, and name the bot", async () => {
    const alice = rig.simulator.users().find(({ id }) => id === rig.chat.id);
    if (alice === undefined) throw new Error("nobody is there");
    await offerCommands();
    await rig.api.setMyCommands([{ command: "new", description: "Start over" }], {
      scope: { type: "all_group_chats" },
    });
    rig.simulator.addGroup({ title: "Crew", members: [alice] });
    await rig.entry("Crew").click();
    await rig.page.getByRole("heading", { name: "Crew" }).waitFor();
    await rig.field().pressSequentially("/");
    await options().getByText("/new").waitFor();
    expect(await options().count()).toBe(1);
    await rig.field().press("Enter");
    await rig.simulator.waitFor(() => rig.webhook.received.some(({ update }) => update.message?.text));
    const command = rig.webhook.received.map(({ update }) => update.message).find((one) => one?.text);
    expect(command?.text).toBe(`/new@${rig.simulator.bot.username}`);
    expect(command?.entities).toEqual([{ type: "bot_command", offset: 0, length: command?.text?.length }]);
    await rig.field().pressSequentially(`/new@${String(rig.simulator.bot.username).slice(0, 4)}`);
    await rig.field().press("Tab");
    expect(await rig.field().inputValue()).toBe(`/new@${rig.simulator.bot.username} `);
  });
});

describe("a long text", () => {
  it("is sent in pieces of at most 4,096 units, in order", async () => {
    const words = Array.from({ length: 1200 }, (_, index) => `w${index}`);
    await rig.paste(words.join(" "));
    await rig.field().press("Enter");
    const texts = await sent(2);
    expect(texts.every((text) => text !== undefined && text.length <= 4096)).toBe(true);
    expect(texts.join(" ").split(" ")).toEqual(words);
    await expect.poll(() => rig.page.locator("#messages .own").count()).toBe(2);
  });

  it("comes back from the piece on that could not be sent", async () => {
    let count = 0;
    await rig.page.route("**/_sim/sendText", async (route) => {
      count += 1;
      if (count === 1) await route.continue();
      else await route.fulfill({ status: 200, contentType: "text/html", body: "not JSON" });
    });
    await rig.paste(`${"a".repeat(4000)} ${"b".repeat(4000)} ${"c".repeat(4000)}`);
    await rig.field().press("Enter");
    const rest = `${"b".repeat(4000)} ${"c".repeat(4000)}`;
    await expect.poll(() => rig.field().inputValue()).toBe(rest);
    expect(await sent()).toEqual(["a".repeat(4000)]);
  });
});

describe("the message field of a page that loads", () => {
  it("is there only as soon as a chat is open, so that no text is lost", async () => {
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>();
    await rig.page.route("**/_sim/view*", async (route) => {
      await asked;
      await route.continue();
    });
    await rig.page.reload();
    expect(await rig.field().isVisible()).toBe(false);
    answer();
    await rig.write("hello");
    expect(await sent()).toEqual(["hello"]);
  });
});
