import type { BotObject } from "../../../src/agent/bot-object.ts";
import { APPROVALS } from "../../../src/agent/features.ts";
import { factsOfApproval } from "../../../src/approvals/chat/outcome-facts.ts";
import type { Decisions } from "../../../src/approvals/consent/decisions.ts";
import type { CardBody, Delivery } from "../../../src/core/chat/delivery.ts";
import { approvedOwner } from "../../../src/messengers/turns/turn-attachments.ts";
import type { Mutant } from "../machine/mutant.ts";
import { withoutWrites } from "./without-writes.ts";

/** Defects of actions, and of people's consent to them. */
export const approvalMutants: readonly Mutant[] = [
  {
    name: "bystander-decides",
    what: "a press counts whoever makes it",
    needs: "decide",
    actions: (actions) =>
      Object.fromEntries(
        Object.entries(actions).map(([name, action]) => [
          name,
          action.approvers === undefined ? action : { ...action, approvers: () => true },
        ]),
      ),
  },
  {
    name: "effect-before-yes",
    what: "an approved action runs before its yes is stored",
    needs: "decide",
    object: runsFirst,
  },
  {
    name: "yes-lost-by-crash",
    what: "a yes is forgotten if the process dies before the end of the action",
    needs: "decide",
    onThreadStart: (database) => {
      const tables = database.all("SELECT 1 FROM sqlite_master WHERE name = 'approval_v1'");
      if (tables.length === 0) return;
      database.run(
        `UPDATE approval_v1 SET state = 'waiting', decided_at = NULL, decided_by = NULL, drawn_state = NULL
         WHERE state IN ('approved', 'running')`,
      );
    },
  },
  {
    name: "one-is-enough",
    what: "an action runs when the first of several people has agreed",
    needs: "decide",
    actions: (actions) =>
      Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, { ...action, quorum: 1 }])),
  },
  {
    name: "one-counts-twice",
    what: "somebody who presses twice counts as two people",
    needs: "decide",
    object: countsTwice,
  },
  {
    name: "edit-runs-as-before",
    what: "a changed input is shown, and the input of the model runs",
    needs: "change-input",
    object: runsAsBefore,
  },
  {
    name: "claims-not-stored",
    what: "the root forgets what calls have used of a consent",
    needs: "proposal",
    rootDatabase: (database) =>
      withoutWrites(database, (statement) => statement.includes("INSERT INTO allowance_v1")),
  },
  {
    name: "run-not-stored",
    what: "an action begins before its run is stored",
    needs: "proposal",
    threadDatabase: (database) =>
      withoutWrites(database, (statement) => statement.includes("INSERT INTO action_v1")),
  },
  {
    name: "buttons-outlive-decision",
    what: "a card keeps its buttons after the decision",
    needs: "decide",
    delivery: keepsButtons,
  },
  {
    name: "attachment-not-stored",
    what: "a file that an action attaches is not stored with its result",
    needs: "proposal",
    threadDatabase: (database) =>
      withoutWrites(database, (statement) => statement.includes("INSERT INTO attachment_v1")),
  },
];

function runsFirst({ actions, features }: BotObject): void {
  const { approvals } = features.get(APPROVALS);
  const { decisions } = approvals;
  const decide = decisions.decide.bind(decisions);
  const changed: Pick<Decisions, "decide"> = {
    decide: async (id, decision, by) => {
      const asked = approvals.get(id);
      if (asked?.state === "waiting" && decision.kind === "approve" && by.person?.userId === "7") {
        const { action: name, input, inputHash, ledgerKey, requestId, toolCallId } = asked;
        await actions.runConsented({
          name,
          input,
          requestId,
          toolCallId,
          consent: { approver: by.person, inputHash, ledgerKey },
          facts: factsOfApproval(asked),
          owner: approvedOwner(id),
        });
      }
      return decide(id, decision, by);
    },
  };
  Object.assign(decisions, changed);
}

function countsTwice({ features }: BotObject): void {
  const { decisions } = features.get(APPROVALS).approvals;
  const decide = decisions.decide.bind(decisions);
  let presses = 0;
  const changed: Pick<Decisions, "decide"> = {
    decide: (id, decision, by) => {
      presses += 1;
      const { person } = by;
      const other = person && { ...person, userId: `${person.userId}/${presses}` };
      return decide(id, decision, other === undefined ? by : { ...by, person: other });
    },
  };
  Object.assign(decisions, changed);
}

function runsAsBefore({ features }: BotObject): void {
  const { approvals } = features.get(APPROVALS);
  const { edited } = approvals;
  const replace = edited.replace.bind(edited);
  const changed: Pick<typeof edited, "replace"> = {
    replace: (id, number, call, withIt) => {
      const { input = call.input, inputHash = call.inputHash } = approvals.get(id) ?? {};
      return replace(id, number, { ...call, input, inputHash }, withIt);
    },
  };
  Object.assign(edited, changed);
}

function keepsButtons(delivery: Delivery): void {
  const sendCard = delivery.sendCard.bind(delivery);
  const revise = delivery.revise.bind(delivery);
  const kept = new Map<string, CardBody["buttons"]>();
  const changed: Pick<Delivery, "sendCard" | "revise"> = {
    sendCard: (start, body, options) => {
      kept.set(start.id, body.buttons);
      sendCard(start, body, options);
    },
    revise: (id, body, ifDeleted) =>
      revise(id, { ...body, buttons: body.buttons ?? kept.get(id) }, ifDeleted),
  };
  Object.assign(delivery, changed);
}
