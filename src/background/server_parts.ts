/**
 * What a mesh on a server works with and a page's may lack.
 * @module
 */
import { fillAsConfigured } from "../registry/configured.ts";
import type { FillRegistry } from "../registry/build.ts";
import { costNanoUsd } from "../util/cost.ts";
import { discoverModels } from "./discover.ts";

/** Reads configured models and pools, asks local servers for their models, knows what an answer cost. */
export const serverParts: {
  readonly fill: FillRegistry;
  readonly discover: typeof discoverModels;
  readonly costOf: typeof costNanoUsd;
} = { fill: fillAsConfigured, discover: discoverModels, costOf: costNanoUsd };
