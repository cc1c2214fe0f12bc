import type { ThinkActions } from "../../../src/actions/declare/action.ts";
import type { LogFields } from "../../../src/core/base/log.ts";
import type { Feature } from "../../../src/feature/feature.ts";
import type { Mutant } from "../machine/mutant.ts";
import { withoutWrites } from "./without-writes.ts";

/** Defects of extensions. */
export const extensionMutants: readonly Mutant[] = [
  {
    name: "extension-asks-nobody",
    what: "the tool of an extension needs no consent",
    needs: "extension",
    object: ({ features }) => {
      const feature = features.imported<Feature>("extensions");
      const before = feature.actions?.bind(feature);
      const actions = (): ThinkActions => before?.() ?? {};
      feature.actions = () =>
        Object.fromEntries(
          Object.entries(actions()).map(([name, action]) => [
            name,
            { ...action, approval: undefined, kind: "server" },
          ]),
        );
    },
  },
  {
    name: "extension-change-not-recorded",
    what: "the changes of an extension are made before they are recorded",
    needs: "extension",
    threadDatabase: (database) =>
      withoutWrites(
        database,
        (statement, bindings) => statement.includes("INSERT INTO run_log_v1") && bindings.includes("run"),
      ),
  },
  {
    name: "extension-hook-ends-turn",
    what: "a failure of an extension's beforeTurn ends the turn",
    needs: "extension",
    object: ({ log }) => {
      const warn = log.warn.bind(log);
      Object.assign(log, {
        warn: (event: string, fields: LogFields) => {
          warn(event, fields);
          if (event === "extension.hook-failed" && fields["hook"] === "beforeTurn")
            throw new Error("It fails.");
        },
      });
    },
  },
];
