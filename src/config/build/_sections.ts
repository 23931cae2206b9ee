/**
 * Builds the sections `secrets` and `proxy`.
 * @module
 */
import { readAttributes } from "../check/attributes.ts";
import { type Report, show, suggest } from "../schema/report.ts";
import { copyTree, deepFreeze } from "../schema/tree.ts";
import { defaultCors, defaultProxy, defaultSecretStore, defaultSecretTtlMs } from "../settings/defaults.ts";
import type { KnownConnectors } from "../settings/known.ts";
import { referencesIn } from "../schema/references.ts";
import type { SecretValues } from "../schema/schema.ts";
import type { CorsValues, ProxyValues } from "../schema/proxy.ts";
import type { CorsSettings, ProxySettings, SecretSettings } from "../settings/settings.ts";
import { buildClients, type ClientParts, warnOfToken } from "./_clients.ts";

/** Checks the connector and attributes of the store, and fills in defaults. */
export function buildSecrets(values: SecretValues, known: KnownConnectors, report: Report): SecretSettings {
  const { store = defaultSecretStore, resolution, ...others } = values;
  if (values.store !== undefined && !known.secretStores.includes(store)) {
    report.problem(
      "secrets.store",
      `no secret store ${show(store)} is registered${suggest(store, known.secretStores)}`,
    );
  }
  const config = copyTree(others, (text, path) => {
    if (referencesIn(text).names.length === 0) return;
    report.problem(path, "cannot be a secret reference: this section configures the secret store");
  }, "secrets") as Readonly<Record<string, unknown>>;
  const declared = known.findAttributes("secretStore", store);
  return Object.freeze({
    store,
    failOnMissing: resolution?.fail_on_missing ?? true,
    config: deepFreeze(
      readAttributes(config, { path: "secrets", connector: store, declared, common: ["path", "region"], report }),
    ),
    cacheTtlMs: resolution?.cache_enabled === false ? 0 : resolution?.cache_ttl ?? defaultSecretTtlMs,
    reloadOnRotation: resolution?.reload_on_rotation ?? true,
  });
}

/** Fills in defaults of the section `proxy`, and resolves its clients. */
export function buildProxy(values: ProxyValues, parts: ClientParts): ProxySettings {
  return {
    host: values.host ?? defaultProxy.host,
    port: values.port ?? defaultProxy.port,
    endpoints: values.endpoints,
    clients: buildClients(values.auth?.tokens ?? [], parts),
    ...adminTokens(values.auth?.admin_tokens, parts.report),
    tokenRequired: Object.values(values.auth ?? {}).some((given) => given !== undefined),
    cors: buildCors(values.cors ?? {}),
    allowedHosts: values.allowed_hosts ?? [],
    maxConcurrent: values.max_concurrent ?? defaultProxy.maxConcurrent,
    maxConnections: values.max_connections ?? defaultProxy.maxConnections,
    ...bodyBounds(values, parts.report),
    uploadLimit: values.upload_limit ?? defaultProxy.uploadLimit,
    drainDelayMs: values.drain_delay ?? defaultProxy.drainDelayMs,
    heartbeatMs: values.heartbeat ?? defaultProxy.heartbeatMs,
    listener: values.listener ?? defaultProxy.listener,
    ...(values.id_secret === undefined ? {} : { idSecret: values.id_secret }),
    ...(values.tls === undefined ? {} : { tls: values.tls }),
  };
}

function adminTokens(adminTokens: readonly string[] | undefined, report: Report): Pick<ProxySettings, "adminTokens"> {
  adminTokens?.forEach((token, index) => warnOfToken(token, `proxy.auth.admin_tokens[${index}]`, report));
  return adminTokens === undefined ? {} : { adminTokens };
}

/** The body limit of a client is a quarter of the shared memory limit. */
function bodyBounds(
  { body_limit, body_memory }: ProxyValues,
  report: Report,
): Record<"bodyLimit" | "bodyMemory", number> {
  const bodyMemory = body_memory ?? defaultProxy.bodyMemory;
  const quarter = Math.floor(bodyMemory / 4);
  if (body_limit !== undefined && body_limit > quarter) {
    report.warn(
      "proxy.body_limit",
      `exceeds a quarter of "body_memory", the limit of each client: ${quarter} bytes apply`,
    );
  }
  return { bodyLimit: Math.min(body_limit ?? defaultProxy.bodyLimit, quarter), bodyMemory };
}

function buildCors(values: CorsValues): CorsSettings {
  return {
    enabled: values.enabled ?? defaultCors.enabled,
    origins: values.origins,
    headers: values.headers,
    methods: values.methods,
    maxAgeSeconds: values.max_age === undefined ? defaultCors.maxAgeSeconds : Math.floor(values.max_age / 1000),
  };
}
