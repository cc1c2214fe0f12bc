/** Figures of the chart: the row of the table in `docs/performance.md`, and which of its numbers. */
const FIGURES = [
  { row: "first text after the message, known chat", at: 0, title: "First text after a message", unit: "ms" },
  { row: "CPU a reply", at: 0, title: "CPU time of a reply", unit: "ms" },
  { row: "webhook to 200, 1 client", at: 0, title: "Webhook to its answer", unit: "ms" },
  { row: "memory, idle", at: 2, title: "Memory with 20 chats", unit: "MiB" },
];

const ROW_HEIGHT = 64;
const LABEL_WIDTH = 210;
const BAR_WIDTH = 380;

/** Returns an SVG with the figures of Switchboard beside the peer's, as they stand in the page on performance. */
export function figuresChart(performancePage: string): string {
  const rows = FIGURES.map((figure, index) => {
    const [ours, peers] = numbersOf(performancePage, figure.row, figure.at);
    return { ...figure, ours, peers, y: 8 + index * ROW_HEIGHT };
  });
  const height = rows.length * ROW_HEIGHT + 8;
  const bars = rows.flatMap(({ title, unit, ours, peers, y }) => {
    const most = Math.max(ours, peers);
    return [
      `<text x="0" y="${y + 28}" class="title">${title}</text>`,
      bar(y + 4, ours / most, "ours", `${ours} ${unit}`),
      bar(y + 30, peers / most, "peer", `${peers} ${unit}, think`),
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 ${height}" width="760" height="${height}" role="img" aria-label="Switchboard beside @cloudflare/think: ${rows.map(({ title, ours, peers, unit }) => `${title} ${ours} and ${peers} ${unit}`).join("; ")}">
<style>text { font: 13px system-ui, sans-serif; fill: #7d8590 } .title { font-weight: 600 } .ours { fill: #2f81f7 } .peer { fill: #9aa4b2 }</style>
${bars.join("\n")}
</svg>
`;
}

function bar(y: number, share: number, kind: "ours" | "peer", label: string): string {
  const width = Math.max(2, Math.round(share * BAR_WIDTH));
  return `<rect x="${LABEL_WIDTH}" y="${y}" width="${width}" height="20" rx="3" class="${kind}"/><text x="${LABEL_WIDTH + width + 8}" y="${y + 15}">${label}</text>`;
}

function numbersOf(page: string, row: string, at: number): [number, number] {
  const line = page.split("\n").find((one) => one.startsWith(`| ${row}`));
  const cells = line?.split("|").slice(3, 5) ?? [];
  const [ours, peers] = cells.map((cell) => Number(cell.split("/")[at]?.trim()));
  if (ours === undefined || peers === undefined || !(ours > 0) || !(peers > 0))
    throw new Error(`docs/performance.md has no figures in the row "${row}".`);
  return [ours, peers];
}
