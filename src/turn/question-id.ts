/** The transcript's message that an operation answers: the last one, if it was asked several at once. */
export function userMessageId(operationId: string): string {
  return `${operationId}:question`;
}

/** The id of one of the messages that an operation was asked. */
export function questionIdOf(operationId: string, index: number, last: number): string {
  const id = userMessageId(operationId);
  return index === last ? id : `${id}:${index}`;
}
