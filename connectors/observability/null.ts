/**
 * Discards records.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import { nullDeclaration } from "./declarations.ts";

/** Takes everything and keeps nothing: a section whose output is not wanted names it. */
export const nullObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign({
  create: () => ({ emit() {}, log() {}, trace() {}, flush: () => Promise.resolve() }),
}, nullDeclaration);
