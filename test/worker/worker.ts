import { DurableObject } from "cloudflare:workers";

/** A bare object with SQLite, for tests that bring their own logic through `runInDurableObject`. */
export class TestObject extends DurableObject {}

export default {
  fetch: (): Response => new Response("test worker"),
};
