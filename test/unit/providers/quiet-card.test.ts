import fc from "fast-check";
import { expect, it } from "vitest";
import { quietCard } from "../../../providers/telegram/quiet-card.ts";

const MENTION = /(?<![\p{L}\p{N}_])@[a-z]/iu;
const shown = (text: string): string => text.replaceAll("\u200b", "").replaceAll("\uff20", "@");

it("breaks mentions in a card, and leaves addresses, commands and code alone", () => {
  const text = "Ask @bob or a@b.example, /help@a_bot, @x";
  const entities = [{ type: "code", offset: text.length - 2, length: 2 }] as const;
  const quiet = quietCard({ text, entities, isCard: true });
  expect(quiet.text).toBe("Ask @\u200bbob or a@b.example, /help@a_bot, @x");
  expect(quiet.entities).toEqual([{ type: "code", offset: text.length - 1, length: 2 }]);
});

it("leaves mentions in an answer alone", () => {
  const answer = { text: "Ask @bob.", entities: [] };
  expect(quietCard(answer)).toBe(answer);
});

it("breaks mentions in a card that has no room for more characters", () => {
  const text = "@bob ".repeat(819);
  const quiet = quietCard({ text, entities: [], isCard: true });
  expect(quiet.text).toHaveLength(text.length);
  expect(shown(quiet.text)).toBe(text);
  expect(quiet.text).not.toMatch(MENTION);
});

it("keeps any text, and each entity over its own part", () => {
  const part = fc.constantFrom("@", "bob", " ", "é", "_", "🙂", "@ann ");
  const property = fc.property(
    fc.array(part, { maxLength: 30 }),
    fc.nat(40),
    fc.nat(40),
    (parts, from, size) => {
      const text = parts.join("");
      const offset = Math.min(from, text.length);
      const length = Math.min(size, text.length - offset);
      const card = { text, entities: [{ type: "bold", offset, length }] as const, isCard: true };
      const quiet = quietCard(card);
      expect(quiet.text).not.toMatch(MENTION);
      expect(shown(quiet.text)).toBe(text);
      const [entity] = quiet.entities;
      const covered = quiet.text.slice(entity?.offset, (entity?.offset ?? 0) + (entity?.length ?? 0));
      expect(shown(covered)).toBe(text.slice(offset, offset + length));
      expect((entity?.offset ?? 0) + (entity?.length ?? 0)).toBeLessThanOrEqual(quiet.text.length);
    },
  );
  fc.assert(property);
});
