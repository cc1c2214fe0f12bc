import path from "node:path";
import { InlineKeyboard } from "grammy";
import type { MessageEntity } from "grammy/types";
import type { Locator } from "playwright-core";
import { telegramEntities } from "../../delivery/text/render/index.ts";
import { splitText } from "../../delivery/text/split/index.ts";
import { cardText } from "../../delivery/outbox/card-text.ts";
import type { Approval } from "../../src/approvals/rules/approval.ts";
import type { CardContent } from "../../src/core/message/content.ts";
import type { PageRig } from "./page-rig.ts";

const ANNA = { userId: "1", fullName: "Anna Berg" };

/** A request of Anna in her private chat, in which she decides. */
export const REQUEST: Approval = {
  id: "a1",
  action: "refund_order",
  toolCallId: "c1",
  requestId: "t1",
  ledgerKey: "k",
  input: { orderId: "1001", amountCents: 5_000 },
  inputHash: "hash",
  summary: "Refund 50.00 € for order 1001",
  summaryReads: ["orderId", "amountCents"],
  risk: "medium",
  permissions: [],
  kind: "approval-gated",
  sensitive: [],
  isTool: false,
  rootRequest: "t1",
  offer: { scope: "small", words: "Refunds up to 100.00 €" },
  isInline: false,
  modelWords: "One moment.",
  preview: [{ label: "Refunded of 53.70 €", from: "0.00 €", to: "50.00 €" }],
  people: [ANNA],
  requester: ANNA,
  origin: { messengerId: "telegram", chatId: "1", threadId: "telegram:1", isDirectMessage: true },
  approvers: { kind: "requester" },
  requesterMayApprove: true,
  messageId: undefined,
  askedIn: [],
  unreached: [],
  remindAt: undefined,
  createdAt: 0,
  expiresAt: 1,
  state: "waiting",
  decidedAt: undefined,
  decidedBy: undefined,
  reason: undefined,
  isExplained: false,
  successor: undefined,
  outcome: undefined,
  endedAt: undefined,
  drawnState: undefined,
  isTold: false,
};

/** The same request in a group whose team decides. */
export const OF_GROUP: Approval = {
  ...REQUEST,
  origin: { messengerId: "telegram", chatId: "-5", threadId: "telegram:-5", isDirectMessage: false },
  approvers: { kind: "people", userIds: ["2", "3"], names: ["Dana", "Eli"] },
};

/** Posts a card to the open chat, as the bot's delivery does. Returns its message. */
export async function showCard({ api, chat, page }: PageRig, card: CardContent): Promise<Locator> {
  const buttons = (card.buttons ?? []).map((row) => row.map(({ label }) => label));
  const markdown = cardText({ key: "k", text: card.text, fields: card.fields ?? [] }, { buttons: true });
  const parts = splitText(markdown, {
    renderer: telegramEntities,
    limits: { maxLength: 4_096, maxEntities: 100 },
    final: true,
  });
  for (const [index, { content }] of parts.entries()) {
    const isLast = index === parts.length - 1;
    await api.sendMessage(chat.id, content.text, {
      entities: content.entities as MessageEntity[],
      ...(isLast && {
        reply_markup: new InlineKeyboard(
          buttons.map((row) => row.map((text) => InlineKeyboard.text(text, text))),
        ),
      }),
    });
  }
  const messages = page.getByRole("log").getByRole("article");
  await messages.nth(parts.length - 1).waitFor();
  return messages.last();
}

/** The sizes of a card as a person sees it. */
export interface CardSize {
  readonly messages: number;
  readonly lines: number;
  readonly buttons: number;
  /** Whether something is wider than the place for it. */
  readonly isCut: boolean;
}

/** Runs in the page, about its newest message. */
const MEASURE = `(() => {
  const article = [...document.querySelectorAll("article")].at(-1);
  const bottoms = [];
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() !== null) {
    const node = walker.currentNode;
    if (node.parentElement.closest("button") !== null || node.textContent.trim() === "") continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const { bottom, height } of range.getClientRects()) if (height > 4) bottoms.push(bottom);
  }
  bottoms.sort((a, b) => a - b);
  const lines = bottoms.filter((bottom, index) => index === 0 || bottom - bottoms[index - 1] > 6).length;
  const all = [article, ...article.querySelectorAll("*")].filter((one) => one.clientWidth > 1);
  return { lines, isCut: all.some((one) => one.scrollWidth > one.clientWidth + 1) };
})()`;

/** Measures a card in the browser. */
export async function measure({ page }: PageRig, message: Locator): Promise<CardSize> {
  const messages = await page.getByRole("log").getByRole("article").count();
  const buttons = await message.locator(".keyboard button").count();
  const { isCut, lines } = await page.evaluate<Pick<CardSize, "isCut" | "lines">>(MEASURE);
  return { messages, lines, buttons, isCut };
}

/** Writes a picture for a person who looks at it, where `SCREENSHOTS` names a folder. */
export async function picture({ page }: PageRig, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS ?? "";
  if (folder !== "") await page.screenshot({ path: path.join(folder, `${name}.png`) });
}
