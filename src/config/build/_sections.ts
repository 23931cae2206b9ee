/**
 * Builds the sections `secrets` and `proxy`.
 * @module
 */
import { readAttributes } from "../check/attributes.ts";
import { type Report, show, suggest } from "../schema/report.ts";
import { copyTree, deepFreeze } from "../schema/tree.ts";
import type { KnownConnectors } from "../settings/known.ts";
import { referencesIn } from "../schema/references.ts";
import { complete } from "../schema/complete.ts";
import { secrets, type SecretValues } from "../schema/schema.ts";
import { proxy, type ProxyValues } from "../schema/proxy.ts";
import type { ProxySettings, SecretSettings } from "../settings/settings.ts";
import { buildClients, type ClientParts, warnOfToken } from "./_clients.ts";

/** Checks the connector and attributes of the store. */
export function buildSecrets(values: SecretValues, known: KnownConnectors, report: Report): SecretSettings {
  const { store, resolution: { cacheEnabled, cacheTtlMs, ...resolution } } = complete(secrets, values);
  const { store: given, resolution: _, ...others } = values;
  if (given !== undefined && !known.secretStores.includes(given)) {
    report.problem(
      "secrets.store",
      `no secret store ${show(given)} is registered${suggest(given, known.secretStores)}`,
    );
  }
  const config = copyTree(others, (text, path) => {
    if (referencesIn(text).names.length === 0) return;
    report.problem(path, "cannot be a secret reference: this section configures the secret store");
  }, "secrets") as Readonly<Record<string, unknown>>;
  const declared = known.findAttributes("secretStore", store);
  return Object.freeze({
    store,
    ...resolution,
    config: deepFreeze(
      readAttributes(config, { path: "secrets", connector: store, declared, common: ["path", "region"], report }),
    ),
    cacheTtlMs: cacheEnabled ? cacheTtlMs : 0,
  });
}

/** The settings of a proxy without the section `proxy`. */
export function builtInProxy(): ProxySettings {
  const { auth: _, ...settings } = complete(proxy);
  return { ...settings, allowedHosts: [], clients: [], tokenRequired: false };
}

/** Resolves the clients of the section `proxy`. */
export function buildProxy(values: ProxyValues, parts: ClientParts): ProxySettings {
  const { auth, allowedHosts = [], bodyLimit, bodyMemory, ...settings } = complete(proxy, values);
  const { adminTokens } = auth;
  adminTokens?.forEach((token, index) => warnOfToken(token, `proxy.auth.admin_tokens[${index}]`, parts.report));
  return {
    ...settings,
    clients: buildClients(values.auth?.tokens ?? [], parts),
    ...(adminTokens === undefined ? {} : { adminTokens }),
    tokenRequired: Object.values(values.auth ?? {}).some((given) => given !== undefined),
    allowedHosts,
    bodyMemory,
    bodyLimit: Math.min(bodyLimit, clientShare(values, bodyMemory, parts.report)),
  };
}

/** A client may use a quarter of the memory for bodies. */
function clientShare({ body_limit }: ProxyValues, bodyMemory: number, report: Report): number {
  const quarter = Math.floor(bodyMemory / 4);
  if (body_limit !== undefined && body_limit > quarter) {
    report.warn(
      "proxy.body_limit",
      `exceeds a quarter of "body_memory", the limit of each client: ${quarter} bytes apply`,
    );
  }
  return quarter;
}
