/**
 * Replaces values in the text of a JSON object by other text.
 * @module
 */
import { topLevelMembers } from "./json_members.ts";

/**
 * Replaces, adds and removes top-level members in the text of a JSON object. If members are only replaced, every other
 * byte is unchanged, including white space.
 *
 * @param text A valid JSON object without duplicate keys.
 * @param edits The JSON of new values by key; undefined removes the member.
 */
export function editMemberTexts(text: string, edits: ReadonlyMap<string, string | undefined>): string {
  const members = [...topLevelMembers(text)];
  const keys = new Set(members.map(({ key }) => key));
  const isReplacing = [...edits].every(([key, json]) => json !== undefined && keys.has(key));
  if (isReplacing) return replaced(text, members.filter(({ key }) => edits.has(key)), edits);
  const kept = members.filter(({ key }) => !edits.has(key) || edits.get(key) !== undefined);
  const parts = kept.map(({ key, start, value, end }) =>
    edits.has(key) ? text.slice(start, value) + edits.get(key) : text.slice(start, end)
  );
  const added = [...edits].filter(([key, json]) => json !== undefined && !keys.has(key));
  return `{${[...parts, ...added.map(([key, json]) => `${JSON.stringify(key)}:${json}`)].join(",")}}`;
}

function replaced(
  text: string,
  members: readonly { readonly key: string; readonly value: number; readonly end: number }[],
  edits: ReadonlyMap<string, string | undefined>,
): string {
  let [result, copied] = ["", 0];
  for (const { key, value, end } of members) {
    result += text.slice(copied, value) + edits.get(key);
    copied = end;
  }
  return result + text.slice(copied);
}
