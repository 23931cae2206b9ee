/**
 * Copies of records that cannot be read, so that no data is lost.
 * @module
 */
import { ConnectorError, MeshError } from "../../errors.ts";
import type { CodedStorage } from "../../storage/coded_storage.ts";

/** Maximum number of copies kept. */
const maxCopies = 3;

/**
 * Copies a record before it is replaced. Deletes older copies beyond the maximum.
 *
 * @param storage The storage of the record.
 * @param key The key of the record.
 * @param now Wall-clock ms, used in the name of the copy.
 * @returns The result, for a trace.
 */
export async function copyUnreadable(storage: CodedStorage, key: string, now: number): Promise<string> {
  const start = `${key}.unreadable-`;
  const copyKey = start + new Date(now).toISOString();
  try {
    await storage.copy(key, copyKey);
  } catch (error) {
    if (ConnectorError.isInstance(error) && error.problem === "unreadable") return "No copy of it can be made";
    throw error;
  }
  const copies = await storage.list(start);
  await Promise.all(copies.slice(0, -maxCopies).map((old) => storage.delete(old)));
  return `A copy is kept as "${copyKey}"`;
}

/**
 * Returns why a record cannot be read.
 *
 * @param error The error thrown while reading. An error with another cause is rethrown.
 */
export function unreadableReason(error: unknown): string {
  if (error instanceof SyntaxError) return "Cannot restore the saved state: it is not JSON";
  const isDamaged = ConnectorError.isInstance(error) && error.problem === "unreadable";
  if (isDamaged || MeshError.isInstance(error) && error.code === "invalid_state") return error.message;
  throw error;
}
