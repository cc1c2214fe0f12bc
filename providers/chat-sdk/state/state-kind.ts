/**
 * - `secret`: it has a token. It is sealed, and never goes away to make room.
 * - `kept`: the adapter cannot find it out again: the installation of a repository, the address of a person.
 * - `cache`: the adapter can find it out again.
 * - `claim`: it says that an event was seen. The inbox knows that better, so it is not kept.
 */
export type StateKind = "secret" | "kept" | "cache" | "claim";
