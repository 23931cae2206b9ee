/**
 * The actions of a command, such as `list` of `modelmesh clients list`.
 * @module
 */
import { nearest } from "../util/nearest.ts";
import { UsageError } from "./command.ts";

/** A word that is quoted although the arguments may be secrets. */
const plainWord = /^[a-z]{1,16}$/;

/**
 * Finds an action by its name.
 *
 * @param actions The actions, by name.
 * @param name The first argument of the command.
 * @param isPrivate Whether the arguments may be secrets.
 * @throws {UsageError} When it is missing or unknown.
 */
export function findAction<Action>(
  actions: Readonly<Record<string, Action>>,
  name: string | undefined,
  isPrivate: boolean = false,
): Action {
  if (name !== undefined && Object.hasOwn(actions, name)) return actions[name]!;
  const names = Object.keys(actions);
  const choice = `use one of ${names.join(", ")}`;
  if (name === undefined) throw new UsageError(`Missing action: ${choice}`);
  if (isPrivate && !plainWord.test(name)) throw new UsageError(`Unknown action: ${choice}`);
  const [hint] = nearest(name, names, 1);
  throw new UsageError(
    `Unknown action "${name}": ${hint === undefined ? choice : `did you mean "${hint}"? ${choice}`}`,
  );
}
