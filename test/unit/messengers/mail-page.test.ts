import { expect, it } from "vitest";
import { attachmentContent } from "../../../src/messengers/replies/attachment-content.ts";
import { answerMailPage, mailPageUrl } from "../../../src/messengers/root/mail-page.ts";

const DRAFT = {
  to: ["ann@example.com", "bob+shop@example.com"],
  cc: [],
  bcc: ["all@example.com"],
  subject: "Order 7 & 8",
  body: "Hello,\nit's paid.",
};

it("opens the mail program with the whole draft, of which no server sees anything", () => {
  const url = new URL(mailPageUrl("https://bot.example.com/any?x=1", DRAFT) ?? "");
  expect(`${url.origin}${url.pathname}${url.search}`).toBe("https://bot.example.com/messengers/mail");
  const mailto = new URL(`mailto:${url.hash.slice(1)}`);
  expect(mailto.pathname.split(",").map(decodeURIComponent)).toEqual(DRAFT.to);
  expect(Object.fromEntries(mailto.searchParams)).toEqual({
    bcc: "all@example.com",
    subject: "Order 7 & 8",
    body: "Hello,\r\nit's paid.",
  });
});

it("leaves out a body that is too long for an address, and has no address that is too long", () => {
  const long = mailPageUrl("https://bot.example.com", { ...DRAFT, body: "x".repeat(3000) }) ?? "";
  expect(long.length).toBeLessThanOrEqual(2000);
  expect(long).toContain("subject=");
  expect(mailPageUrl("https://bot.example.com", { ...DRAFT, subject: "x".repeat(3000) })).toBeUndefined();
  expect(mailPageUrl("no address", DRAFT)).toBeUndefined();
});

it("serves a page that can load nothing and opens only `mailto:`", async () => {
  const response = answerMailPage();
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  const page = await response.text();
  expect(page).toContain('"mailto:" + location.hash.slice(1)');
  expect(page.match(/location\.href = /g)).toHaveLength(1);
});

it("gives the card of a draft a button for the mail program if the bot has an address", () => {
  const draft = { type: "email_draft", to: "ann@example.com", subject: "A *b*", body: "One\nTwo\n\n# Three" };
  const abilities = { copyButtons: true, files: true };
  const withPage = attachmentContent(draft, abilities, "https://bot.example.com");
  expect(withPage).toMatchObject({
    kind: "card",
    buttons: [
      [{ kind: "link", label: "Open in mail program" }],
      [
        { kind: "copy", label: "Copy address", text: "ann@example.com" },
        { kind: "copy", label: "Copy subject" },
        { kind: "copy", label: "Copy text" },
      ],
    ],
  });
  const without = attachmentContent(draft, { copyButtons: false, files: true });
  expect(without).toMatchObject({ buttons: [] });
});
