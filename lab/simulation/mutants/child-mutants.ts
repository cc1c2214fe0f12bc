import type { Mutant } from "../machine/mutant.ts";
import { changingInserts } from "./bindings.ts";

let begun = 0;

/** Defects of agents that work for others. */
export const childMutants: readonly Mutant[] = [
  {
    name: "child-begins-again",
    what: "an agent that is asked again after a crash begins another run",
    needs: "child",
    innerCall: (method, args) => {
      if (method !== "agent-tools.begin") return args;
      const [request] = args as [{ readonly id: string }];
      begun += 1;
      return [{ ...request, id: `${request.id}/${begun}` }];
    },
  },
  {
    name: "child-outlives-stop",
    what: "an agent does not hear that its run is over",
    needs: "child",
    innerCall: (method, args) => (method === "agent-tools.end" ? ["nobody"] : args),
  },
  {
    name: "child-asks-nobody",
    what: "a call of an agent needs no consent",
    needs: "child",
    actions: (actions) =>
      Object.fromEntries(
        Object.entries(actions).map(([name, action]) => [
          name,
          name.startsWith("ask_m3") ? { ...action, approval: undefined, kind: "server" } : action,
        ]),
      ),
  },
  {
    name: "child-asks-anybody",
    what: "a press answers the question of an agent whoever makes it",
    needs: "child",
    threadDatabase: (database) =>
      changingInserts(database, "question_v1", "asked_in", (askedIn) =>
        askedIn.replaceAll(/"userId":"\d+",?/g, ""),
      ),
  },
  {
    name: "child-works-for-another",
    what: "an agent works with the rights of somebody who has not asked",
    needs: "child",
    innerCall: (method, args) => {
      if (method !== "agent-tools.begin") return args;
      const [request] = args as [{ readonly run: { readonly delegation?: object } }];
      const people = [{ userId: "9", fullName: "Eve" }];
      const run = { ...request.run, requester: people[0], delegation: { ...request.run.delegation, people } };
      return [{ ...request, run }];
    },
  },
  {
    name: "child-paid-by-another",
    what: "the tokens of an agent are counted at somebody who has not asked",
    needs: "child",
    innerCall: (method, args) => {
      if (method !== "agent-tools.begin") return args;
      const [request] = args as [{ readonly run: { readonly delegation?: { readonly payer?: object } } }];
      const { delegation } = request.run;
      const payer = { ...delegation?.payer, userId: "9" };
      return [{ ...request, run: { ...request.run, delegation: { ...delegation, payer } } }];
    },
  },
  {
    name: "child-end-not-told",
    what: "the end of an agent's run is forgotten by a crash",
    needs: "child",
    onThreadStart: (database) => {
      const tables = database.all("SELECT 1 FROM sqlite_master WHERE name = 'agent_run_v1'");
      if (tables.length > 0) database.run("UPDATE agent_run_v1 SET is_told = 1 WHERE after_end IS NOT NULL");
    },
  },
];
