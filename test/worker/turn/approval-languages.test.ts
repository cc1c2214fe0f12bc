import { beforeEach, expect, it } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { createRefundBot, shown } from "../support/refund-bot.ts";

beforeEach(() => void captureLog());

const texts = {
  approvalQuestion: { en: "{summary}?", de: "Ist das in Ordnung: {summary}?" },
  moreButton: { en: "More", de: "Mehr" },
  approvalRejected: { en: "Rejected", de: "Abgelehnt" },
  approveButton: { en: "Approve", de: "Freigeben" },
  rejectButton: { en: "Reject", de: "Ablehnen" },
  grantButton: { en: "Allow {length}", de: "Ja, {length}" },
  grantForAnHour: { en: "for an hour", de: "eine Stunde lang" },
  approversLabel: { en: "Who can decide", de: "Wer entscheidet" },
  pressNotAllowed: { en: "It's up to {approvers}.", de: "Das entscheidet {approvers}." },
  pressRejected: { en: "Rejected.", de: "Abgelehnt." },
  youAsked: { en: "You asked for", de: "Du hast gebeten um" },
  waitsForYou: { en: "Waiting for your decision", de: "Wartet auf dich" },
  showButton: { en: "Show {number}", de: "Zeig {number}" },
  approvalsCommand: { en: "Show what waits", de: "Zeigt, was wartet" },
  subscribed: { en: "Welcome.", de: "Willkommen." },
} as const;
const german = { language: "de-AT" } as const;
const GROUP = { isGroup: true, mentions: true } as const;

it("shows a card in the language of the person who asked, and private words in that of the reader", async () => {
  const { effects, world } = createRefundBot(
    { grantable: true, approvers: ["bob"] },
    { settings: { texts } },
  );
  await world.write("g1", "Refund 7", { ...GROUP, ...german });
  await shown(world, "Ist das in Ordnung: Refund order 7?", "g1");
  await world.press("g1", "Mehr", { ...GROUP, ...german });
  await shown(world, "Wer entscheidet: people whom this bot's team has chosen", "g1");
  const labels = world.chats.messages("g1").flatMap(({ buttons }) => buttons.map(({ label }) => label));
  expect(labels).toContain("Ja, eine Stunde lang");
  expect(await world.press("g1", "Freigeben", { ...GROUP, ...german })).toMatch(/^Das entscheidet people/);
  expect(await world.press("g1", "Freigeben", { ...GROUP, user: "eve" })).toMatch(/^It's up to people/);
  await world.write("g1", "/approvals", { ...GROUP, ...german });
  await shown(world, "Du hast gebeten um", "g1");
  await world.write("g1", "/approvals", { ...GROUP, user: "bob" });
  await shown(world, "Waiting for your decision", "g1");
  expect(await world.press("g1", "Ablehnen", { ...GROUP, user: "bob" })).toBe("Rejected.");
  await shown(world, "Abgelehnt", "g1");
  expect(effects).toEqual([]);
});

it("describes the commands and answers subscribers in their language", async () => {
  const { world } = createRefundBot({}, { settings: { texts, subscribeCommands: true } });
  await world.write("c1", "/help", german);
  await shown(world, "/approvals – Zeigt, was wartet");
  await world.write("c1", "/subscribe", german);
  await shown(world, "Willkommen.");
  await world.write("c2", "/subscribe", { user: "bob" });
  await shown(world, "Welcome.", "c2");
  expect(world.chats.visible("c1").at(-1)).toBe("Willkommen.");
});
