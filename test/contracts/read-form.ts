/** Reads a form with files. */
export async function readForm(request: Request): Promise<FormData> {
  // oxlint-disable-next-line typescript/no-deprecated -- forms of a test are small
  return request.formData();
}
