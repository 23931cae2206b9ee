/**
 * Returns the members of an object that are not undefined.
 *
 * @param members The object, which is not modified.
 */
export function pickDefined<Members extends object>(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members;
}
