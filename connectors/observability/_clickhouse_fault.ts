/**
 * Faults that ClickHouse reports.
 *
 * Source: https://clickhouse.com/docs/interfaces/http, and ErrorCodes.cpp of ClickHouse 25.8, read 2026-11-27.
 * @module
 */
import { RejectedError } from "./_batch_delivery.ts";

/** Codes that later calls may not have: of connections, load, replicas, and of what an operator can change. */
const passing: ReadonlySet<number> = new Set([
  60, // UNKNOWN_TABLE
  81, // UNKNOWN_DATABASE
  159, // TIMEOUT_EXCEEDED
  160, // TOO_SLOW
  164, // READONLY
  192, // UNKNOWN_USER
  193, // WRONG_PASSWORD
  194, // REQUIRED_PASSWORD
  201, // QUOTA_EXCEEDED
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  225, // NO_ZOOKEEPER
  236, // ABORTED
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  252, // TOO_MANY_PARTS
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  289, // REPLICA_IS_NOT_IN_QUORUM
  319, // UNKNOWN_STATUS_OF_INSERT
  394, // QUERY_WAS_CANCELLED
  425, // SYSTEM_ERROR
  439, // CANNOT_SCHEDULE_TASK
  473, // DEADLOCK_AVOIDED
  497, // ACCESS_DENIED
  516, // AUTHENTICATION_FAILED
  999, // KEEPER_EXCEPTION
]);

/** The code for a table that does not exist. */
export const unknownTable = 60;

/** ClickHouse did not accept a query, for a reason that may pass. */
export class ClickHouseError extends Error {
  /** The code of its exception; undefined if it reported none. */
  readonly code: number | undefined;

  /** @param message The message. @param code The code. */
  constructor(message: string, code: number | undefined) {
    super(message);
    this.code = code;
  }
}

/** Statuses without a code after which the same call may succeed; below 500. */
const passingStatuses: ReadonlySet<number> = new Set([401, 403, 404, 408, 429]);

/**
 * Throws the fault of a response. A query that fails after the head was sent has status 200, and its exception in the body.
 * The text of an exception is not part of the message, since it may quote records.
 *
 * @param id The connector id.
 * @throws {RejectedError} If ClickHouse rejects the records themselves.
 * @throws {ClickHouseError} If the call may succeed later.
 */
export function throwFault(
  id: string,
  { status, headers, text }: {
    readonly status: number;
    readonly headers: { get(name: string): string | null };
    readonly text: string;
  },
): void {
  const stated = headers.get("x-clickhouse-exception-code") ?? /\bCode: (\d{1,5})\. DB::/.exec(text)?.[1];
  const code = stated === undefined || !/^\d{1,5}$/.test(stated) ? undefined : Number(stated);
  if (status >= 200 && status < 300 && code === undefined) return;
  const name = /\(([A-Z][A-Z0-9_]{2,60})\) \(version /.exec(text)?.[1];
  const detail = [`status ${status}`, code !== undefined && `code ${code}`, name].filter(Boolean).join(", ");
  const message = `"${id}" was not accepted by ClickHouse (${detail})`;
  const mayPass = code === undefined ? status >= 500 || passingStatuses.has(status) || status < 400 : passing.has(code);
  throw mayPass ? new ClickHouseError(message, code) : new RejectedError(message);
}
