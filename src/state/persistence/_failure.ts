/**
 * Failures of storages.
 * @module
 */
import type { StorageSettings } from "../../config/settings/storage.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { CodedStorage } from "../../storage/coded_storage.ts";
import { storageTimeoutMs } from "../../config/settings/defaults.ts";
import { waitWithin } from "../../util/within.ts";
import { ConnectorError, type ConnectorProblem, MeshError } from "../../errors.ts";

/** Delay of the first retry of a failed write, and the maximum delay, ms. */
export const writeRetry = { firstMs: 500, maxMs: 30_000 };

/** Returns the class of a failure; undefined if the connector has not classified it. */
export function findConnectorProblem(error: unknown): ConnectorProblem | undefined {
  return ConnectorError.isInstance(error) ? error.problem : undefined;
}

/** Returns the error of a built-in connector. Messages of other connectors may quote secrets and are not passed on. */
export function toStorageError(error: unknown, action: string): MeshError {
  if (MeshError.isInstance(error)) return error;
  return new ConnectorError(`Cannot ${action} the state: the storage failed (see the error's cause)`, error);
}

/**
 * Limits a last write, which may wait for an earlier one and consists of several calls.
 *
 * @returns The failure of a storage that does not respond: the process ends without it.
 */
export async function lastWrite(
  write: () => Promise<void>,
  { clock, storage: { title }, settings: { locking } }: {
    readonly clock: Pick<Clock, "after">;
    readonly storage: Pick<CodedStorage, "title">;
    readonly settings: Pick<StorageSettings, "locking">;
  },
): Promise<MeshError | undefined> {
  const ms = storageTimeoutMs + (locking?.timeoutMs ?? 0);
  const message = `${title} did not respond within ${ms / 1000} s: the last changes of the state are not saved`;
  const failure = new ConnectorError(message, undefined, "unavailable");
  return await waitWithin(write, { clock, ms, expired: () => failure }).then(() => undefined, () => failure);
}
