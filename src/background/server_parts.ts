/**
 * What a mesh on a server works with and a page's may lack.
 * @module
 */
import { eligibility } from "../pipeline/eligibility.ts";
import { OutputEstimate } from "../pipeline/output_estimate.ts";
import { tryKeys } from "../pipeline/try_keys.ts";
import { fillAsConfigured } from "../registry/configured.ts";
import { meteringOf } from "../state/usage_trackers.ts";
import { costNanoUsd } from "../util/cost.ts";
import { askProviders } from "./ask_providers.ts";
import { discoverModels } from "./discover.ts";
import type { MeshParts } from "./mesh_parts.ts";
import { startWatch } from "./watch.ts";

type PartName =
  | "fill"
  | "discover"
  | "askProviders"
  | "costOf"
  | "estimateOutput"
  | "metering"
  | "eligibility"
  | "tryKeys"
  | "watch";

/** Configured models and pools, local servers, costs, limits and budgets, rotation of keys, probes and calendars. */
export const serverParts: Required<Pick<MeshParts, PartName>> = {
  fill: fillAsConfigured,
  discover: discoverModels,
  askProviders,
  costOf: costNanoUsd,
  estimateOutput: () => new OutputEstimate(),
  metering: meteringOf,
  eligibility,
  tryKeys,
  watch: startWatch,
};
