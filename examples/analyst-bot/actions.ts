import { action, ActionError, type Action } from "switchboard";
import type { Workspace } from "switchboard/workspace";
import { z } from "zod";
import { money, reportPdf, sumOf } from "./report-pdf.ts";

/** A page has room for so many rows. */
const MOST_ROWS = 30;

const reportSchema = z.object({ path: z.string(), total: z.string() });

/** Makes a report of receipts, and shows it in the chat. */
export function makeReport(files: () => Workspace): Action {
  return action({
    description: "Makes a PDF with a table and a chart of amounts, and shows it in the chat.",
    inputSchema: z.object({
      title: z.string().min(1).max(60),
      rows: z
        .array(z.object({ name: z.string().min(1), amountCents: z.number().int().positive() }))
        .min(1)
        .max(MOST_ROWS)
        .describe("One row for each receipt"),
    }),
    returns: reportSchema,
    approvalSummary: ({ input }) => `The report “${input.title}”`,
    execute: async ({ rows, title }, ctx) => {
      const path = `/reports/${title.replaceAll(/[^\p{L}\p{N}]+/gu, "-")}.pdf`;
      await files().writeFile(path, await reportPdf(title, rows));
      ctx.attachReply(await files().attachment(path));
      return { path, total: money(sumOf(rows)) };
    },
    revert: async ({ output }) => void (await files().deleteFiles(reportSchema.parse(output).path)),
  });
}

const mailSchema = z.object({ mailId: z.string() });

/**
 * Sends a mail, after somebody has agreed: `POST <baseUrl>/mails` with an `idempotency-key`. The mail server holds each
 * mail back for some minutes: `DELETE /mails/<id>` recalls it, and answers 409 when it has left.
 */
export function sendMail(baseUrl: string | undefined, files: () => Workspace): Action {
  return action({
    description: "Sends a mail, with a file of the workspace.",
    inputSchema: z.object({
      to: z.email(),
      subject: z.string().min(1),
      text: z.string().min(1),
      file: z.string().optional().describe("Path of a file in the workspace"),
    }),
    returns: mailSchema,
    labels: { to: "To", subject: "Subject", text: "Text", file: "File" },
    idempotencyKey: ({ ctx }) => ctx.toolCallId,
    approval: true,
    approvalSummary: ({ input }) => `Mail “${input.subject}” to ${input.to}`,
    execute: async ({ file, ...mail }, { signal, toolCallId }) => {
      const attached = file === undefined ? {} : { pdf: base64(await files().readFile(file)) };
      const response = await mails(baseUrl, "/mails", {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": toolCallId },
        body: JSON.stringify({ ...mail, ...attached }),
        signal,
      });
      return mailSchema.parse(await response.json());
    },
    revert: async ({ output }) => {
      await mails(baseUrl, `/mails/${mailSchema.parse(output).mailId}`, { method: "DELETE" });
    },
  });
}

async function mails(baseUrl: string | undefined, path: string, request: RequestInit): Promise<Response> {
  if (!baseUrl) throw new ActionError("No mail server is set. The operator sets MAIL_API_URL.");
  const response = await fetch(new URL(path, baseUrl), request);
  if (response.status === 409) throw new ActionError("The mail has left already.");
  if (!response.ok) throw new Error(`The mail server answered ${response.status}.`);
  return response;
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(""));
}
