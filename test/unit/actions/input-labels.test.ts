import { expect, it } from "vitest";
import { z } from "zod";
import { inputLabels } from "../../../src/actions/declare/input-labels.ts";

const inputSchema = z.object({
  orderId: z.string().describe("The order's number, e.g. 1001"),
  amountCents: z.number().describe("Amount in cents"),
  to: z.object({ city: z.string().describe("City") }),
  note: z.string().optional().describe("A note for the customer that is far too long for a label"),
});

it("names inputs by short descriptions, and never by words for the model", async () => {
  expect(await inputLabels({ inputSchema }, "de")).toEqual({
    amountCents: "Amount in cents",
    "to.city": "City",
  });
});

it("prefers the labels of the action, in the language of the person who asks", async () => {
  const labels = { amountCents: { en: "Amount in cents", de: "Betrag in Cent" }, orderId: "Bestellung" };
  expect(await inputLabels({ inputSchema, labels }, "de-AT")).toEqual({
    amountCents: "Betrag in Cent",
    orderId: "Bestellung",
    "to.city": "City",
  });
});
