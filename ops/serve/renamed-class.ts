/** Says where the new name of a class has to stand, and how its data is kept. */
export function renamedClass(from: string, to: string): string {
  const migration = `{ "tag": "rename-to-${to}", "renamed_classes": [{ "from": "${from}", "to": "${to}" }] }`;
  return `The new name of a class stands in three more places, all in wrangler.jsonc: "name" and "class_name" of its binding, and a migration at the end, which keeps the data: ${migration}.`;
}
