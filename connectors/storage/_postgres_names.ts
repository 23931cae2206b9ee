/**
 * Names and expressions in the statements of a storage in PostgreSQL.
 * @module
 */

/** Names of tables and functions, qualified and quoted. */
export interface PostgresNames {
  (name: string): string;
  readonly schema: string;
  readonly prefix: string;
}

/** Names in a schema, with a prefix. */
export function createNames(schema: string, prefix: string): PostgresNames {
  const qualify = (name: string) => `"${schema}"."${prefix}${name}"`;
  return Object.assign(qualify, { schema, prefix });
}

/** Wall-clock time of the server, ms. */
export const nowMs: string = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Timeout of a wait for a row that another process has locked. */
export const lockTimeout: string = "SET lock_timeout = '4s'";
