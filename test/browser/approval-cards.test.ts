import { expect, it } from "vitest";
import { approvalCard } from "../../src/approvals/rules/approval-card.ts";
import type { Approval } from "../../src/approvals/rules/approval.ts";
import type { CardFace } from "../../src/approvals/rules/card-view.ts";
import { sayIn } from "../../src/core/text/bot-texts.ts";
import { arabic } from "../../src/texts/index.ts";
import { measure, OF_GROUP, picture, REQUEST, showCard } from "./approval-cards.ts";
import { usePage } from "./page-rig.ts";

const ARABIC_REQUEST: Approval = {
  ...OF_GROUP,
  requester: { userId: "1", fullName: "ليلى حداد", language: "ar" },
  risk: "high",
  summary: "إرجاع 50.00 € عن الطلب 1001",
  input: { orderId: "1001", amountCents: 5_000, reason: "وصلت القهوة تالفة" },
  labels: { reason: "السبب" },
  preview: undefined,
  offer: { scope: "small", words: "مبالغ حتى 100.00 €" },
};

/** A common phone. */
const PHONE = { width: 390, height: 844 };
const rig = usePage({ keeps: true });
const timeIn = (): string => "Sun 2026-11-29 18:13 (Europe/Berlin)";

interface Kind {
  readonly approval: Approval;
  readonly face?: CardFace;
  /** Lines that it has at most, with the line of the time. */
  readonly lines: number;
  readonly buttons: number;
  readonly says: readonly string[];
}

const TRANSFER = {
  amountCents: 120_000,
  iban: "DE89 3704 0044 0532 0130 00",
  recipient: "Kaffeerösterei Nord GmbH",
  reference: "Invoice 2026-1187",
  executeOn: "2026-12-01",
  costCentre: "4711",
  isExpress: true,
  notify: ["ada@shop.example", "bob@shop.example"],
};

const KINDS: Readonly<Record<string, Kind>> = {
  simple: { approval: REQUEST, lines: 3, buttons: 3, says: ["Refund 50.00 € for order 1001?"] },
  "many-inputs": {
    approval: {
      ...OF_GROUP,
      input: TRANSFER,
      summary: "Transfer 1,200.00 € to Kaffeerösterei Nord GmbH",
      summaryReads: ["amountCents", "recipient"],
      preview: undefined,
    },
    lines: 12,
    buttons: 3,
    says: [
      "DE89 3704 0044 0532 0130 00",
      "Invoice 2026-1187",
      "2026-12-01",
      "4711",
      "Is express: yes",
      "bob@",
    ],
  },
  "high-risk": {
    approval: {
      ...OF_GROUP,
      risk: "high",
      offer: undefined,
      input: { environment: "production", branch: "release/42" },
      summary: "Deploy release/42 to production",
      summaryReads: ["branch", "environment"],
      preview: "The shop is away for about two minutes.",
    },
    lines: 6,
    buttons: 3,
    says: ["Risk: high", "Asked by: Anna Berg"],
  },
  schedule: {
    approval: {
      ...OF_GROUP,
      requester: undefined,
      schedule: { keeper: "root", taskId: "night-refunds", revision: "1" },
    },
    lines: 5,
    buttons: 3,
    says: ["Scheduled task: night-refunds"],
  },
  "grant-possible": {
    approval: OF_GROUP,
    face: "more",
    lines: 13,
    buttons: 9,
    says: [
      "You can also allow: Refunds up to 100.00 €, in this chat, asked by Anna Berg",
      "Dana, Eli",
      "Until",
    ],
  },
  "grant-decided": {
    approval: {
      ...OF_GROUP,
      state: "done",
      outcome: { refund: "R-1" },
      decidedBy: { surface: "chat", person: { userId: "2", fullName: "Dana" }, granted: "hour" },
    },
    lines: 10,
    buttons: 0,
    says: ["Done", "Decided by: Dana", "Also allowed for an hour"],
  },
};

it.each(Object.entries(KINDS))("decides at one look on a phone: %s", async (name, kind) => {
  await rig.page.setViewportSize(PHONE);
  const { approval, buttons, face, lines, says } = kind;
  const view = { approvers: "Dana, Eli", time: timeIn };
  const message = await showCard(rig, approvalCard(approval, { ...view, ...(face && { face }) }));
  await picture(rig, `card-${name}`);
  const text = (await message.textContent()) ?? "";
  for (const words of says) expect(text).toContain(words);
  const size = await measure(rig, message);
  expect(size).toMatchObject({ messages: 1, buttons, isCut: false });
  expect(size.lines).toBeLessThanOrEqual(lines);
  // The question and all of its buttons are on the screen at once.
  expect((await message.boundingBox())?.height).toBeLessThan(PHONE.height - 120);
});

it.each<[CardFace, number]>([
  ["first", 3],
  ["more", 9],
])("reads from right to left in Arabic: %s", async (face, buttons) => {
  await rig.page.setViewportSize(PHONE);
  const view = { approvers: "دانا، إيلي", time: timeIn, face, say: sayIn(arabic, undefined) };
  const message = await showCard(rig, approvalCard(ARABIC_REQUEST, view));
  await picture(rig, `card-arabic-${face}`);
  expect(await measure(rig, message)).toMatchObject({ messages: 1, buttons, isCut: false });
  const style = await rig.page.evaluate<string>(`(() => {
    const text = [...document.querySelectorAll("article .text")].at(-1);
    return getComputedStyle(text).direction + " " + getComputedStyle(text).textAlign;
  })()`);
  expect(style).toBe("rtl right");
});
