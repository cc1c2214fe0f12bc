/** The class of `cloudflare:workers` that parts of a bot extend, for tests that load a bot's module in Node. */
export class RpcTarget {}
