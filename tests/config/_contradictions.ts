/** Documents that hold but for what one test adds to them, and what is said of it. */
import type { KnownConnectors } from "../../src/config/settings/known.ts";
import { validate } from "../../src/config/build/validate.ts";
import { acme, home, known as few, open, zeta } from "./_known.ts";

const [small = { id: "" }, large = { id: "" }] = acme.models;

/** A provider with a default model and a price, one without either, and all strategies that settings are made for. */
export const known: KnownConnectors = {
  ...few,
  providers: [
    {
      ...acme,
      models: [
        { ...small, defaultFor: ["chat-completion"], pricing: [{ input: 1, output: 2 }] },
        { ...large, pricing: [{ input: 3 }] },
        { id: "embed", capabilities: ["text-embeddings"], pricing: [{ input: 1 }] },
      ],
    },
    zeta,
    open,
    home,
  ],
  strategies: [...few.strategies, "mesh.rate-limit-aware.v1", "mesh.load-balanced.v1", "own.strategy.v1"],
};

/** Three providers, one of them a server of one's own. */
export const providers = { "acme.llm.v1": {}, "zeta.api.v1": {}, "home.local.v1": {} };
/** What makes a model one with a price. */
export const price = { pricing: { input: 1, output: 1 } };
/** Two models with prices. */
export const models: Readonly<Record<string, object>> = {
  fast: { provider: "acme.llm.v1", model: "x", limits: { rpm: 10 }, ...price },
  slow: { provider: "zeta.api.v1", ...price },
};

/** A document with one pool that has both models. */
export function pool(entry: object, more: object = {}): unknown {
  return { providers, models, pools: { mine: { models: ["fast", "slow"], ...entry } }, ...more };
}

/** The same, with settings for all pools. */
export function common(entry: object, own: object = {}): unknown {
  return { providers, models, pools: { "*": entry, mine: { models: ["fast", "slow"], ...own } } };
}

/** The lines of the warnings of a document that holds. */
export function listWarnings(document: unknown): string[] {
  return validate(document, { knownConnectors: known }).warnings.map(({ path, message }) => `${path}: ${message}`);
}

/** A document, and every line about it. */
export type Case = readonly [document: unknown, ...lines: string[]];

/** Providers that recover by a probe only. */
export const probed = { provider_deactivation: "on_api_outage", provider_recovery: "on_probe_success" };
