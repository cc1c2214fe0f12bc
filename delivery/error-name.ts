/** What a log line may say of an error that has no code: never its message (I10). */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
