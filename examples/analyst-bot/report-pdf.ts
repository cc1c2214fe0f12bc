import type { PDFFont } from "@cantoo/pdf-lib";

/** One row of a report. */
export interface ReportRow {
  readonly name: string;
  readonly amountCents: number;
}

const LEFT = 60;
const RIGHT = 535;
const NAME_WIDTH = 230;
const BAR_WIDTH = 170;

/** Makes a report of one page as PDF: a table with a bar for each amount, and the sum. */
export async function reportPdf(title: string, rows: readonly ReportRow[]): Promise<Uint8Array> {
  // Loaded with the first report: the bot starts faster without it.
  const { PageSizes, PDFDocument, rgb, StandardFonts } = await import("@cantoo/pdf-lib");
  const pdf = await PDFDocument.create();
  pdf.setTitle(title);
  const regular = await pdf.embedFont(StandardFonts.Helvetica);
  const bold = await pdf.embedFont(StandardFonts.HelveticaBold);
  const page = pdf.addPage(PageSizes.A4);
  const most = Math.max(...rows.map(({ amountCents }) => amountCents));
  let y = 760;
  const write = (left: string, right: string, font: PDFFont, size = 12) => {
    page.drawText(fitting(latin(left), font, size), { x: LEFT, y, font, size });
    page.drawText(right, { x: RIGHT - font.widthOfTextAtSize(right, size), y, font, size });
  };
  page.drawText(latin(title), { x: LEFT, y, font: bold, size: 20 });
  y -= 50;
  for (const { amountCents, name } of rows) {
    write(name, money(amountCents), regular);
    const width = (BAR_WIDTH * amountCents) / most;
    page.drawRectangle({ x: LEFT + NAME_WIDTH + 10, y: y - 2, width, height: 12, color: rgb(0.2, 0.5, 0.8) });
    y -= 22;
  }
  write("Total", money(sumOf(rows)), bold);
  return pdf.save();
}

export function sumOf(rows: readonly ReportRow[]): number {
  return rows.reduce((sum, { amountCents }) => sum + amountCents, 0);
}

export function money(cents: number): string {
  return `${(cents / 100).toFixed(2)} EUR`;
}

function fitting(text: string, font: PDFFont, size: number): string {
  let shown = text;
  while (font.widthOfTextAtSize(shown, size) > NAME_WIDTH) shown = shown.slice(0, -1);
  return shown;
}

/** The standard fonts of PDF have Western European letters only. */
function latin(text: string): string {
  return text.replace(/[^\x20-\x7e\xa0-\xff]/g, "?");
}
