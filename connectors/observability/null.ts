/**
 * Discards records.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import { nullDeclaration } from "./declarations.ts";

/** Discards all records, for sections whose output is not wanted. */
export const nullObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign({
  create: () => ({ emit() {}, log() {}, trace() {}, flush: () => Promise.resolve() }),
}, nullDeclaration);
