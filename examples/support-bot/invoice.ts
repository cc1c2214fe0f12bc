import type { Order } from "./lookup-order.ts";

/** Makes the invoice of an order as PDF. Like everything that the bot sends, it leaves out the customer's name. */
export async function invoicePdf(order: Order): Promise<Uint8Array> {
  const { currency = "EUR", id, items = [], totalCents = 0 } = order;
  // Loaded with the first invoice: the bot starts faster without it.
  const { PageSizes, PDFDocument, StandardFonts } = await import("@cantoo/pdf-lib");
  const pdf = await PDFDocument.create();
  pdf.setTitle(`Invoice for order ${id}`);
  const regular = await pdf.embedFont(StandardFonts.Helvetica);
  const bold = await pdf.embedFont(StandardFonts.HelveticaBold);
  const page = pdf.addPage(PageSizes.A4);
  let y = 760;
  const write = (left: string, right = "", font = regular, size = 12) => {
    page.drawText(latin(left), { x: 60, y, font, size });
    page.drawText(right, { x: 535 - font.widthOfTextAtSize(right, size), y, font, size });
    y -= size * 1.8;
  };
  const amount = (cents: number) => latin(`${(cents / 100).toFixed(2)} ${currency}`);
  write("Coffee & Tea", "shop.example", bold, 20);
  write(`Invoice for order ${id}`, "", regular, 14);
  y -= 20;
  for (const { name, priceCents, quantity } of items)
    write(`${quantity} × ${name}`, amount(quantity * priceCents));
  y -= 10;
  write("Total", amount(totalCents), bold);
  return pdf.save();
}

/** The words below an invoice, in Markdown. */
export function invoiceCaption({ currency = "EUR", id, totalCents = 0 }: Order): string {
  return `Invoice for order **${id}**: ${(totalCents / 100).toFixed(2)} ${currency}`;
}

/** The standard fonts of PDF have Western European letters only. */
function latin(text: string): string {
  return text.replace(/[^\x20-\x7e\xa0-\xff]/g, "?");
}
