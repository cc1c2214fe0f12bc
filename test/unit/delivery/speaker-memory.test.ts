import { expect, it } from "vitest";
import { BudgetStore } from "../../../delivery/budget-store.ts";
import { SpeakerMemory } from "../../../delivery/speaker-memory.ts";
import { createNodeDatabase } from "../../support/node-database.ts";
import { ADDRESS } from "./engine-harness.ts";

const NORTH = { ...ADDRESS, chatId: "-1007", threadId: "telegram:-1007:5", isDirectMessage: false };
const SOUTH = { ...NORTH, threadId: "telegram:-1007:6" };

it("knows over a start whether a chat has one speaker", () => {
  const store = new BudgetStore(createNodeDatabase());
  const speakers = new SpeakerMemory(store);
  expect(speakers.isAlone(NORTH)).toBe(true);
  speakers.add(NORTH);
  expect(speakers.isAlone(NORTH)).toBe(true);
  expect(speakers.isAlone(SOUTH)).toBe(false);
  const restarted = new SpeakerMemory(store);
  expect(restarted.isAlone(NORTH)).toBe(true);
  restarted.add(SOUTH);
  expect(restarted.isAlone(NORTH)).toBe(false);
  expect(new SpeakerMemory(store).isAlone(NORTH)).toBe(false);
  expect(new SpeakerMemory(store).isAlone({ ...NORTH, chatId: "-1008" })).toBe(true);
});
