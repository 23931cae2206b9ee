/**
 * Files of a program's request.
 * @module
 */
import type { UploadedFile } from "../contracts/provider.ts";
import { wrongType } from "../pipeline/check_body.ts";

/**
 * Reads a field's files.
 *
 * @param field The field, such as `file`.
 * @param value A blob, or a list of them; undefined and null are none.
 * @throws {UnsupportedRequestError} `invalid_value` for anything else.
 */
export async function filesOf(field: string, value: unknown): Promise<readonly UploadedFile[]> {
  if (value === undefined || value === null) return [];
  const isList = Array.isArray(value);
  const blobs: readonly unknown[] = isList ? value : [value];
  return await Promise.all(blobs.map(async (blob) => {
    if (!(blob instanceof Blob)) throw wrongType(field, "a Blob or a File", blob);
    return {
      field: isList ? `${field}[]` : field,
      name: blob instanceof File ? blob.name : field,
      type: blob.type || "application/octet-stream",
      bytes: new Uint8Array(await blob.arrayBuffer()),
    };
  }));
}
