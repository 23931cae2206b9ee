/**
 * In place of `tests/support/schema.ts` in a page: values are kept, and checked outside when the test is over, since
 * the checker makes code of text.
 * @module
 */
import type { SchemaName } from "../../support/schema.ts";

export type { SchemaName };

/** A value that a test gave for what a schema describes. */
export interface Claim {
  readonly name: SchemaName;
  readonly value: unknown;
}

const claims: Claim[] = [];
Object.assign(globalThis, { takeClaims: () => claims.splice(0) });

/** Keeps a value to be checked. */
export function assertMatchesSchema(name: SchemaName, value: unknown): void {
  claims.push({ name, value });
}
