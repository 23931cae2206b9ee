/**
 * Azure Key Vault. Source: learn.microsoft.com/rest/api/keyvault/secrets (7.4), read 2026-11.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { ConfigError } from "../../src/errors.ts";
import { TokenCache } from "../../src/util/token_cache.ts";
import { createAzureGrant, hasAzureIdentity } from "../clouds/azure.ts";
import {
  address,
  asksForAmbient,
  attribute,
  variable,
  Vendor,
  type VendorCall,
  type VendorResponse,
} from "./_vendor.ts";
import { keyVaultDeclaration } from "./declarations.ts";

const { id } = keyVaultDeclaration;
const version = "api-version=7.4";
const scope = "https://vault.azure.net/.default";

/** A deleted secret is recovered asynchronously: polling interval in ms, and number of attempts. */
const recoveryMs = 1_000;
const maxTries = 30;

/**
 * Azure Key Vault, accessed as an application, or as a machine, with permission to get, set, list and delete secrets.
 * Settings: `url` (defaults to `AZURE_KEY_VAULT_URL`), `tenant_id` and `client_id` (default to `AZURE_TENANT_ID`,
 * `AZURE_CLIENT_ID`), `credentials` (`ambient` for the managed identity of a machine). The client secret is read from
 * `AZURE_CLIENT_SECRET`, the token of a workload from the file in `AZURE_FEDERATED_TOKEN_FILE`. Names must not contain `_`: `OPENAI_API_KEY` is stored as
 * `OPENAI-API-KEY`.
 */
export const keyVaultSecrets: Connector<"secretStore"> = {
  ...keyVaultDeclaration,
  create(settings, runtime) {
    const text = (key: string, ...variables: string[]) =>
      attribute(settings[key], key) ?? variable(runtime, ...variables);
    const url = text("url", "AZURE_KEY_VAULT_URL");
    if (url === undefined) {
      const message = `${id} requires the vault's URL: set "secrets.url" or AZURE_KEY_VAULT_URL`;
      throw new ConfigError([{ path: "secrets.url", message }]);
    }
    const authority = text("authority", "AZURE_AUTHORITY_HOST") ?? keyVaultDeclaration.attributes.authority.default;
    const vault = new KeyVaultName(
      new Vendor(id, runtime, "AZURE_CLIENT_SECRET and the application's role in the vault"),
      {
        url: address(url, "url"),
        authority: address(authority, "authority"),
        tenant: text("tenant_id", "AZURE_TENANT_ID"),
        client: text("client_id", "AZURE_CLIENT_ID"),
        isAmbient: asksForAmbient(settings.credentials),
      },
    );
    return createVaultStore(vault);
  },
};

function createVaultStore(vault: KeyVaultName): Required<SecretStore> {
  return {
    async get(name) {
      const task = `look up the secret "${name}"`;
      const path = vault.toSecretPath(name, task);
      const { status, body } = await vault.call({ task, path, method: "GET", expected: [404] });
      if (status === 404) return undefined;
      if (typeof body.value === "string") return body.value;
      throw vault.vendor.error(task, "its response has no value");
    },
    async set(name, value) {
      const task = `store the secret "${name}"`;
      const path = vault.toSecretPath(name, task);
      const put = { task, path, method: "PUT", content: { value }, expected: [409] };
      if ((await vault.call(put)).status !== 409) return;
      await vault.call({ task, path: `/deleted${path.slice(1)}/recover`, expected: [404, 409] }); // it was deleted
      for (let tries = 0; tries < maxTries; tries++) {
        await vault.wait(recoveryMs);
        if ((await vault.call(put)).status !== 409) return;
      }
      throw vault.vendor.error(task, `a secret of that name was deleted and is not recovered after ${maxTries} s`);
    },
    list: () =>
      vault.vendor.names(async (next) => {
        const { body } = await vault.call({ task: "list secrets", path: "/secrets", url: next, method: "GET" });
        const secrets = Array.isArray(body.value) ? body.value as { id?: unknown }[] : [];
        return { names: secrets.map((secret) => String(secret.id).split("/").at(-1)), next: body.nextLink };
      }),
    async delete(name) {
      const task = `delete the secret "${name}"`;
      const path = vault.toSecretPath(name, task);
      const { status } = await vault.call({ task, path, method: "DELETE", expected: [404, 409] });
      return status !== 404 && status !== 409; // 409: it is being deleted
    },
  };
}

interface VaultOptions {
  readonly url: string;
  readonly authority: string;
  readonly tenant: string | undefined;
  readonly client: string | undefined;
  /** Whether the managed identity of the machine is used although the environment does not announce it. */
  readonly isAmbient: boolean;
}

/** Calls a vault as an application. */
class KeyVaultName {
  readonly vendor: Vendor;
  readonly #options: VaultOptions;
  readonly #tokens: TokenCache;

  constructor(vendor: Vendor, options: VaultOptions) {
    this.vendor = vendor;
    this.#options = options;
    this.#tokens = new TokenCache(createAzureGrant(vendor.runtime, scope, options), vendor.runtime.clock);
  }

  toSecretPath(name: string, task: string): string {
    const there = name.replaceAll("_", "-");
    if (/^[A-Za-z0-9-]{1,127}$/.test(there)) return `/secrets/${there}`;
    throw this.vendor.error(task, "a name may contain only letters, digits and - (_ is stored as -)");
  }

  wait(ms: number): Promise<void> {
    return this.vendor.runtime.clock.sleep(ms);
  }

  async call({ task, path, url, method, expected, content }: Pick<VendorCall, "task" | "method" | "expected"> & {
    /** Path after the vault's URL. */
    readonly path: string;
    /** Replaces the complete URL, as returned by the vault. */
    readonly url?: string | undefined;
    /** JSON request body. */
    readonly content?: object;
  }): Promise<VendorResponse> {
    const own = this.#options.url;
    // the token is sent to this vault only, whatever a response contains
    const isForeign = url !== undefined && !url.startsWith(`${own}/`);
    if (isForeign) throw this.vendor.error(task, "its next page is on another host");
    return await this.vendor.call({
      task,
      url: url ?? `${own}${path}?${version}`,
      method: method ?? "POST",
      headers: {
        authorization: `Bearer ${await this.#getToken(task)}`,
        "content-type": "application/json",
      },
      ...(content === undefined ? {} : { body: JSON.stringify(content) }),
      expected: expected ?? [],
    });
  }

  async #getToken(task: string): Promise<string> {
    const { runtime } = this.vendor;
    if (!this.#options.isAmbient && !hasAzureIdentity(runtime, this.#options)) {
      const advice = 'for the managed identity of a machine, set "secrets.credentials" to "ambient"';
      throw this.vendor.error(task, `set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET; ${advice}`);
    }
    return await this.#tokens.get().catch((error) => {
      throw this.vendor.unauthorized(task, error);
    });
  }
}
