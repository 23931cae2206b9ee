/**
 * Forms of model ids that mean the same model.
 * @module
 */

const datePattern = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|(?:preview-)?\d{2}-\d{4})$/;

/**
 * Splits a dated id (`model-20251001`, `model-2025-10-01`, `model-preview-09-2025`), or a numbered one (`model-001`), a
 * release of the undated model.
 *
 * @returns The undated id, and the date with its hyphen; an empty date if it has none.
 */
export function splitDate(id: string): { readonly undated: string; readonly date: string } {
  const date = datePattern.exec(id)?.[0] ?? "";
  return { undated: id.slice(0, id.length - date.length), date };
}

/**
 * Returns other ids of the model that an id means, for a server that does not list the id itself: the undated id, and
 * for local servers the one with, or without, the tag `latest`.
 */
export function equivalentIds(id: string): readonly string[] {
  const { undated, date } = splitDate(id);
  const latest = ":latest";
  return [
    ...(date === "" ? [] : [undated]),
    id.endsWith(latest) ? id.slice(0, -latest.length) : `${id}${latest}`,
  ];
}
