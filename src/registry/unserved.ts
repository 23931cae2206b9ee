/**
 * Warnings about pools without models, names that mean no model, and exposed endpoints without a model, once providers
 * have listed their models.
 * @module
 */
import { servesOperation } from "../capability/operations.ts";
import { emptyPoolMessage, endpointOperations, unservedMessage } from "../config/check/members.ts";
import { show, under } from "../config/schema/report.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { ConfigProblem } from "../errors.ts";
import { findNamedModels } from "./named_models.ts";
import type { Registry } from "./registry.ts";

/**
 * Returns the warnings that the configuration alone could not give.
 *
 * @param settings Their warnings are not repeated.
 */
export function unservedWarnings(registry: Registry, settings: Settings): ConfigProblem[] {
  const reported = new Set(settings.warnings.map(({ path }) => path));
  const leaves = new Set(registry.models.flatMap((model) => model.leaves));
  const empty = registry.pools.filter(({ members }) => members.length === 0).map(({ name }) => ({
    path: under("pools", name),
    message: emptyPoolMessage(settings.pools.get(name) ?? { capability: name }),
  }));
  const unserved = (settings.proxy?.endpoints ?? []).flatMap((endpoint, index) => {
    const operations = endpointOperations[endpoint];
    const isServed = operations?.some((operation) => [...leaves].some((leaf) => servesOperation(leaf, operation)));
    return isServed === false ? [{ path: `proxy.endpoints[${index}]`, message: unservedMessage(endpoint) }] : [];
  });
  const isEmpty = new Set(empty.map(({ path }) => path));
  const unknown = [...settings.pools.values()].flatMap(({ name, models }) => {
    const path = under("pools", name);
    if (isEmpty.has(path)) return [];
    return models.flatMap((model, index) => {
      const isKnown = findNamedModels(model, registry) !== undefined;
      return isKnown ? [] : [{ path: `${path}.models[${index}]`, message: unlistedMessage(model) }];
    });
  });
  return [...empty, ...unknown, ...unserved].filter(({ path }) => !reported.has(path));
}

function unlistedMessage(model: string): string {
  return `no provider has listed the model ${show(model)}`;
}
