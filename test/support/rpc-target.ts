/** Stands for the class of `cloudflare:workers` that parts of a bot extend, where Node loads a bot's module. */
export class RpcTarget {
  readonly isStandIn = true;
}
