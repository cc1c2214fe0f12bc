/** Sorts receipts by date, and adds them up. */
export default async function run(input, ctx) {
  const receipts = [...input.receipts].sort((one, other) => (one.date < other.date ? -1 : 1));
  const cents = receipts.reduce((sum, receipt) => sum + receipt.cents, 0);
  const rows = receipts.map(({ date, shop, cents: own }) => [date, quoted(shop), amount(own)].join(","));
  const csv = ["date,shop,amount", ...rows, `,total,${amount(cents)}`].join("\n");
  await ctx.output.writeFile("receipts.csv", csv);
  return { count: receipts.length, total: amount(cents) };
}

function quoted(text) {
  return `"${String(text).replaceAll('"', '""')}"`;
}

function amount(cents) {
  return (cents / 100).toFixed(2);
}
