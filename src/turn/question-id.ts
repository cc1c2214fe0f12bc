/** Returns the id of the message that an operation answers: the last one, if it has several. */
export function userMessageId(operationId: string): string {
  return `${operationId}:question`;
}

export function questionIdOf(operationId: string, index: number, last: number): string {
  const id = userMessageId(operationId);
  return index === last ? id : `${id}:${index}`;
}
