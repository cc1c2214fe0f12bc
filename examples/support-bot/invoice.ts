import { PageSizes, PDFDocument, StandardFonts } from "@cantoo/pdf-lib";
import type { FilesContent } from "switchboard";
import type { Order } from "./lookup-order.ts";

/** The invoice of an order as a file. Like all that the bot tells, it has no name and no address of the customer. */
export async function invoice(order: Order): Promise<FilesContent> {
  const { currency = "EUR", id, items = [], totalCents = 0 } = order;
  const pdf = await PDFDocument.create();
  pdf.setTitle(`Invoice for order ${id}`);
  const regular = await pdf.embedFont(StandardFonts.Helvetica);
  const bold = await pdf.embedFont(StandardFonts.HelveticaBold);
  const page = pdf.addPage(PageSizes.A4);
  let y = 760;
  const write = (left: string, right = "", font = regular, size = 12) => {
    // The standard fonts know Western European letters only.
    const [start, end] = [left, right].map((text) => text.replace(/[^\x20-\x7e\xa0-\xff]/g, "?")) as [
      string,
      string,
    ];
    page.drawText(start, { x: 60, y, font, size });
    page.drawText(end, { x: 535 - font.widthOfTextAtSize(end, size), y, font, size });
    y -= size * 1.8;
  };
  const amount = (cents: number) => `${(cents / 100).toFixed(2)} ${currency}`;
  write("Coffee & Tea", "shop.example", bold, 20);
  write(`Invoice for order ${id}`, "", regular, 14);
  y -= 20;
  for (const { name, priceCents, quantity } of items)
    write(`${quantity} × ${name}`, amount(quantity * priceCents));
  y -= 10;
  write("Total", amount(totalCents), bold);
  const source = await pdf.save();
  return {
    kind: "files",
    files: [{ kind: "document", source, name: `invoice-${id}.pdf`, mediaType: "application/pdf" }],
    caption: `Invoice for order **${id}**: ${amount(totalCents)}`,
  };
}
