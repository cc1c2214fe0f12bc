import { albumMutants } from "./album-mutants.ts";
import { approvalMutants } from "./approval-mutants.ts";
import { childMutants } from "./child-mutants.ts";
import { codeMutants } from "./code-mutants.ts";
import { askMutants } from "./ask-mutants.ts";
import { cardMutants } from "./card-mutants.ts";
import { conversationMutants } from "./conversation-mutants.ts";
import { deliveryMutants } from "./delivery-mutants.ts";
import { extensionMutants } from "./extension-mutants.ts";
import { formMutants } from "./form-mutants.ts";
import { gateMutants } from "./gate-mutants.ts";
import { promptMutants } from "./prompt-mutants.ts";
import { questionMutants } from "./question-mutants.ts";
import { scheduleMutants } from "./schedule-mutants.ts";
import { searchMutants } from "./search-mutants.ts";
import type { Mutant } from "../machine/mutant.ts";

export const mutants: readonly Mutant[] = [
  ...deliveryMutants,
  ...gateMutants,
  ...conversationMutants,
  ...promptMutants,
  ...cardMutants,
  ...albumMutants,
  ...approvalMutants,
  ...questionMutants,
  ...formMutants,
  ...askMutants,
  ...codeMutants,
  ...childMutants,
  ...extensionMutants,
  ...scheduleMutants,
  ...searchMutants,
];

/** @throws {Error} if there is no mutant of this name */
export function mutantNamed(name: string | undefined): Mutant | undefined {
  if (name === undefined) return undefined;
  const found = mutants.find((mutant) => mutant.name === name);
  if (found !== undefined) return found;
  throw new Error(
    `There is no mutant "${name}". There are: ${mutants.map((known) => known.name).join(", ")}.`,
  );
}
