/**
 * Which providers are authorized with access tokens, and which grant fetches them: as configured, or as the cloud of the
 * connector issues them to this machine. Imported on demand.
 * @module
 */
import type { ProviderEntry, TokenSettings } from "../config/settings/settings.ts";
import type { AmbientIdentity, ProviderDeclaration, ProviderSettings, TokenGrant } from "../contracts/connector.ts";
import type { Provider } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { Redactor } from "../observe/redact.ts";
import { authorized } from "./authorized.ts";

interface TokenParts {
  readonly runtime: Runtime;
  readonly hub: Hub;
  readonly redactor: Redactor;
}

/** A provider's entry, and its connector; undefined for an instance. */
interface TokenOwner {
  readonly entry: Pick<ProviderEntry, "id" | "tokens" | "apiKeys" | "baseUrl">;
  readonly connector?: Pick<ProviderDeclaration, "tokenScope" | "ambient"> | undefined;
}

/**
 * Creates a provider, and wraps it so that its calls are authorized with access tokens. Fetches nothing yet.
 *
 * @param create Creates the provider, with further settings of its connector.
 * @returns The provider itself if it has no tokens.
 */
export async function withTokens(
  create: (settings: Pick<ProviderSettings, "isAmbient">) => Provider,
  owner: TokenOwner,
  parts: TokenParts,
): Promise<Provider> {
  const grant = await createProviderGrant(owner, parts);
  const provider = create(owner.entry.tokens?.method === "ambient" ? { isAmbient: true } : {});
  return grant === undefined ? provider : authorized(provider, { ...parts, id: owner.entry.id, grant });
}

async function createProviderGrant(
  { entry: { id, baseUrl, tokens, apiKeys }, connector: { tokenScope, ambient } = {} }: TokenOwner,
  { runtime, redactor, hub }: TokenParts,
): Promise<TokenGrant | undefined> {
  if (tokens !== undefined && isConfigured(tokens)) {
    // a refresh token already has a scope
    const scope = tokens.scope ?? (tokens.refreshToken === undefined ? tokenScope : undefined);
    return (await import("./grants.ts")).createGrant({ ...tokens, scope }, { runtime, redactor });
  }
  if (ambient?.load === undefined || apiKeys.length > 0) return undefined;
  if (tokens === undefined && !isAnnounced(ambient, runtime)) {
    if (baseUrl === undefined) {
      hub.trace({ severity: "warning", component: "provider", provider: id, message: advise(id) });
    }
    return undefined;
  }
  return (await ambient.load())(runtime, tokens?.scope ?? tokenScope ?? "");
}

function advise(id: string): string {
  return `The provider "${id}" has no credentials: set "api_key" or "auth". For the identity of this machine in its cloud, ` +
    'which no variable announces, set "auth.method" to "ambient"';
}

function isConfigured(tokens: TokenSettings): tokens is TokenSettings & { method: "oauth" | "service_account" } {
  return tokens.method !== "ambient";
}

function isAnnounced({ announcedBy }: AmbientIdentity, { env }: Runtime): boolean {
  return announcedBy.some((names) => names.every((name) => (env(name)?.trim() ?? "") !== ""));
}
