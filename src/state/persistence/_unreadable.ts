/**
 * Records that cannot be read: nothing is thrown away.
 * @module
 */
import { ConnectorError, MeshError } from "../../errors.ts";
import type { CodedStorage } from "../../storage/coded_storage.ts";

/** Most of them that are kept. */
const maxCopies = 3;

/**
 * Copies a record that is about to be replaced, as it is. Of those kept before the last ones stay.
 *
 * @param storage Where it is.
 * @param now Wall clock, ms: the copy is called by it.
 * @returns What became of it.
 */
export async function copyUnreadable(storage: CodedStorage, key: string, now: number): Promise<string> {
  const start = `${key}.unreadable-`;
  const aside = start + new Date(now).toISOString();
  try {
    await storage.copy(key, aside);
  } catch (error) {
    if (ConnectorError.isInstance(error) && error.problem === "unreadable") return "Nothing of it can be kept";
    throw error;
  }
  const kept = await storage.list(start);
  await Promise.all(kept.slice(0, -maxCopies).map((old) => storage.delete(old)));
  return `It is kept as "${aside}"`;
}

/**
 * Why a record cannot be read, when that is what an error says.
 *
 * @param error Of reading it; any other one is thrown.
 */
export function unreadableBy(error: unknown): string {
  if (error instanceof SyntaxError) return "Cannot restore the saved state: it is no JSON";
  const isDamaged = ConnectorError.isInstance(error) && error.problem === "unreadable";
  if (isDamaged || MeshError.isInstance(error) && error.code === "invalid_state") return error.message;
  throw error;
}
