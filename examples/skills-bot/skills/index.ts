/** Written by `switchboard skills add`, which shows a skill first. Changes here are lost. */
import { skills } from "switchboard/skills";

export const lock = {
  "polite-reply": "b5f2b6b5d8164754664a91037b639508d89f762668318bd9dfd616d1bea386ea",
  "receipt-table": "74d85ed957200ffc6b20e4cbb21ccf7e460566f6e34e2dff36f5fb8cd8f93288",
};

export default skills.fromManifest({
  id: "skills",
  skills: [
    {
      name: "polite-reply",
      description:
        "Writes an answer to a complaint. Use it when somebody asks how to answer an angry customer.",
      body: "Read `references/tone.md`. Then write at most five sentences: thanks, what went wrong, what happens now, by when.",
      resources: [
        {
          path: "references/tone.md",
          content:
            'No excuses, no "unfortunately", and no promise that the team has not made. Name the person.\n',
          encoding: "text",
        },
      ],
    },
    {
      name: "receipt-table",
      description:
        "Makes a table of receipts with a total. Use it when somebody sends or lists several receipts.",
      body: '1. Collect each receipt as an object with `shop`, `date` (such as 2026-11-28) and `cents`.\n2. Run `scripts/table.js` with `{ "receipts": [...] }`. It sorts them, adds them up and returns a CSV.\n3. Write the CSV to `/receipts.csv` and send it with `send_file`. Say the total in words.',
      resources: [
        {
          path: "scripts/table.js",
          content:
            '/** Sorts receipts by date, and adds them up. */\nexport default async function run(input, ctx) {\n  const receipts = [...input.receipts].sort((one, other) => (one.date < other.date ? -1 : 1));\n  const cents = receipts.reduce((sum, receipt) => sum + receipt.cents, 0);\n  const rows = receipts.map(({ date, shop, cents: own }) => [date, quoted(shop), amount(own)].join(","));\n  const csv = ["date,shop,amount", ...rows, `,total,${amount(cents)}`].join("\\n");\n  await ctx.output.writeFile("receipts.csv", csv);\n  return { count: receipts.length, total: amount(cents) };\n}\n\nfunction quoted(text) {\n  return `"${String(text).replaceAll(\'"\', \'""\')}"`;\n}\n\nfunction amount(cents) {\n  return (cents / 100).toFixed(2);\n}\n',
          encoding: "text",
        },
      ],
    },
  ],
});
