import { OutgoingFiles } from "../../../delivery/files/outgoing-files.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { Database } from "../../../src/core/store/database.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { ConversationWorkspace } from "../../../src/workspace/conversation-workspace.ts";
import type { Limits } from "../../../src/workspace/conversation-workspace.ts";
import type { LargeObjects } from "../../../src/workspace/large-objects.ts";
import { WorkspaceStore } from "../../../src/workspace/workspace-store.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";

const LIMITS: Limits = { maxBytes: 1024 * 1024 * 20, maxFiles: 100, maxFileBytes: 1024 * 1024 * 5 };

export interface WorkspaceRig {
  readonly workspace: ConversationWorkspace;
  readonly database: Database;
  readonly store: WorkspaceStore;
  readonly files: OutgoingFiles;
  readonly clock: VirtualClock;
}

/** The files of one conversation, with a database of their own unless one is given. */
export function createWorkspaceRig(
  limits: Partial<Limits> = {},
  database: Database = createNodeDatabase(),
  objectsOf: (store: WorkspaceStore, clock: VirtualClock) => LargeObjects | undefined = () => undefined,
): WorkspaceRig {
  const clock = createVirtualClock();
  const deps = { ...systemDeps, clock };
  const files = new OutgoingFiles({ database, deps });
  const store = new WorkspaceStore(database);
  const workspace = new ConversationWorkspace({
    database,
    store,
    deps,
    limits: { ...LIMITS, ...limits },
    files: () => files,
    objects: objectsOf(store, clock),
  });
  return { workspace, database, store, files, clock };
}

/** The number of pieces of bytes that are stored. */
export function piecesIn(database: Database): number {
  const tables = database.all("SELECT 1 AS found FROM sqlite_master WHERE name = 'file_piece_v1'");
  if (tables.length === 0) return 0;
  return database.all<{ count: number }>("SELECT count(*) AS count FROM file_piece_v1")[0]?.count ?? 0;
}
