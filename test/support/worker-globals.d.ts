/**
 * The runtime's types that the product's files name and that tests in Node meet, too. Node's own globals
 * (`URL`, `ReadableStream`) differ from the runtime's, so the runtime's as a whole cannot stand beside them.
 */
import type * as Runtime from "@cloudflare/workers-types/index.ts";

declare global {
  type DurableObjectId = Runtime.DurableObjectId;
  type DurableObjectNamespace = Runtime.DurableObjectNamespace;
  type DurableObjectState = Runtime.DurableObjectState;
  type DurableObjectStorage = Runtime.DurableObjectStorage;
  type SqlStorage = Runtime.SqlStorage;
  type SqlStorageValue = Runtime.SqlStorageValue;
}
