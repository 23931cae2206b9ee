/**
 * Timeouts of secret stores.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { SecretStore } from "../../contracts/secret_store.ts";
import { ConnectorError } from "../../errors.ts";
import { waitWithin } from "../../util/within.ts";

/**
 * Timeouts, ms: above the timeouts of the built-in stores, whose errors are more specific. A change waits for the lock of a
 * file, and a list has many pages.
 */
const [lookUpMs, changeMs, listMs] = [30_000, 60_000, 300_000];

/**
 * Returns a secret store whose calls fail when it does not respond.
 *
 * @param store The store; operations that it lacks stay absent.
 */
export function withTimeouts(store: SecretStore, { id, clock }: {
  /** Its connector id, for error messages. */
  readonly id: string;
  readonly clock: Pick<Clock, "after">;
}): SecretStore {
  const timed = <T>(task: string, ms: number, start: () => Promise<T>) => {
    const message = `The secret store "${id}" cannot ${task}: it did not respond within ${ms / 1000} s`;
    return waitWithin(start, { clock, ms, expired: () => new ConnectorError(message, undefined, "unavailable") });
  };
  return {
    get: (name) => timed(`look up the secret "${name}"`, lookUpMs, () => store.get(name)),
    ...(store.set && {
      set: (name, value) => timed(`store the secret "${name}"`, changeMs, () => store.set!(name, value)),
    }),
    ...(store.list && { list: () => timed("list its secrets", listMs, () => store.list!()) }),
    ...(store.delete && {
      delete: (name) => timed(`delete the secret "${name}"`, changeMs, () => store.delete!(name)),
    }),
  };
}
