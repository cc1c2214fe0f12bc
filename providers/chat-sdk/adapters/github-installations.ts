import { z } from "zod";
import { isFunction } from "../../../src/core/json/check-options.ts";
import type { InstallationRules } from "./installation-rules.ts";

const githubAdapter = z.object({
  isMultiTenant: z.boolean(),
  getInstallationId: z.custom<(threadId: string) => Promise<number | undefined>>(isFunction),
});

const repositories = z.array(z.object({ full_name: z.string() }));
const change = z.object({
  action: z.string(),
  installation: z.object({ id: z.number() }),
  repositories: repositories.nullish(),
  repositories_added: repositories.nullish(),
  repositories_removed: repositories.nullish(),
});

/** The adapter keeps the installation of each repository. */
export const INSTALLATION_KEYS = "github:install:";
const keyOf = ({ full_name: name }: { readonly full_name: string }): string => INSTALLATION_KEYS + name;

/** An app on GitHub is installed in repositories. Each has the id of its installation, which is no secret. */
export const githubInstallations: InstallationRules = {
  isUsed: (adapter) => githubAdapter.safeParse(adapter).data?.isMultiTenant === true,
  current: () => undefined,
  async find(adapter, _id, threadId) {
    githubAdapter.parse(adapter);
    const id = await (adapter as unknown as z.infer<typeof githubAdapter>).getInstallationId(threadId);
    return id === undefined ? undefined : { id: String(id), version: String(id), run: (call) => call() };
  },
  changes(_adapter, headers, body) {
    const event = headers.get("x-github-event");
    if (event !== "installation" && event !== "installation_repositories") return {};
    const { data } = change.safeParse(body);
    if (data === undefined) return {};
    const {
      action,
      installation,
      repositories: all,
      repositories_added: more,
      repositories_removed: less,
    } = data;
    const added = [...(action === "created" ? (all ?? []) : []), ...(more ?? [])];
    const removed = [...(action === "deleted" ? (all ?? []) : []), ...(less ?? [])];
    return {
      stored: added.map((repository) => ({ key: keyOf(repository), value: installation.id })),
      removed: removed.map(keyOf),
    };
  },
};
