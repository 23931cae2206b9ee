/**
 * Failures of storages.
 * @module
 */
import { ConnectorError, type ConnectorProblem, MeshError } from "../../errors.ts";

/** Delay of the first retry of a failed write, and the maximum delay, ms. */
export const writeRetry = { firstMs: 500, maxMs: 30_000 };

/** Returns the class of a failure; undefined if the connector has not classified it. */
export function problemOf(error: unknown): ConnectorProblem | undefined {
  return ConnectorError.isInstance(error) ? error.problem : undefined;
}

/** Returns the error of a built-in connector. Messages of other connectors may quote secrets and are not passed on. */
export function errorOf(error: unknown, action: string): MeshError {
  if (MeshError.isInstance(error)) return error;
  return new ConnectorError(`Cannot ${action} the state: the storage failed (see the error's cause)`, error);
}
