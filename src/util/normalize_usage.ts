/**
 * Normalizes the token counts of chat responses and chunks.
 * @module
 */
import { isObject } from "./is_object.ts";

/** An object whose members are not yet checked. */
type UncheckedMembers = Record<string, unknown>;

/** The counts that OpenAI's schema requires. */
const counts = ["prompt_tokens", "completion_tokens", "total_tokens"] as const;

/**
 * Removes token counts that are not natural numbers, and adds a single missing one. Usage that is empty then is removed.
 *
 * @param holder A response or a chunk.
 */
export function normalizeUsage(holder: { usage?: unknown }): boolean {
  const { usage } = holder;
  if (usage === undefined) return false;
  if (!isObject(usage)) {
    delete holder.usage;
    return true;
  }
  let isChanged = false;
  for (const name of counts) isChanged = removeUnlessCount(usage, name) || isChanged;
  if (Object.keys(usage).length === 0) {
    delete holder.usage;
    return true;
  }
  isChanged = addMissingCount(usage) || isChanged;
  for (const name of ["prompt_tokens_details", "completion_tokens_details"]) {
    const details = usage[name];
    if (details === undefined) continue;
    if (isObject(details)) {
      for (const member of Object.keys(details)) {
        if (/_tokens$/.test(member)) isChanged = removeUnlessCount(details, member) || isChanged;
      }
    } else {
      delete usage[name];
      isChanged = true;
    }
  }
  return isChanged;
}

function removeUnlessCount(holder: UncheckedMembers, name: string): boolean {
  const value = holder[name];
  if (value === undefined || Number.isSafeInteger(value) && value as number >= 0) return false;
  delete holder[name];
  return true;
}

/** Adds the count that follows from the other two. */
function addMissingCount(usage: UncheckedMembers): boolean {
  const { prompt_tokens: read, completion_tokens: written, total_tokens: total } = usage as Record<string, number>;
  if (total === undefined) {
    if (read === undefined || written === undefined) return false;
    usage.total_tokens = read + written;
    return true;
  }
  const [name, known] = read === undefined ? ["prompt_tokens", written] as const : ["completion_tokens", read] as const;
  if (usage[name] !== undefined || known === undefined || total < known) return false;
  usage[name] = total - known;
  return true;
}
