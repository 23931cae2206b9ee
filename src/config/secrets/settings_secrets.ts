/**
 * Resolves the secrets of settings through their secret store.
 * @module
 */
import type { ConnectorImplementation } from "../../contracts/connector.ts";
import type { Runtime } from "../../contracts/runtime.ts";
import type { ProviderEntry, Settings } from "../settings/settings.ts";
import { completeSettings, resolveEntry, resolveSettings } from "./resolve_settings.ts";
import { SecretResolver, withTimeouts } from "./resolver.ts";

export interface SecretParts {
  readonly catalogue: { load(kind: "secretStore", id: string): Promise<ConnectorImplementation<"secretStore">> };
  readonly runtime: Runtime;
  /** Redacts the added values from log records and events. */
  readonly redactor: { add(value: string): void };
}

/** The secrets of one configuration, resolved through its secret store. */
export class SettingsSecrets {
  #written: Settings;
  readonly #resolver: SecretResolver;
  readonly #redactor: SecretParts["redactor"];

  private constructor(written: Settings, resolver: SecretResolver, redactor: SecretParts["redactor"]) {
    this.#written = written;
    this.#resolver = resolver;
    this.#redactor = redactor;
  }

  /**
   * Opens the secret store.
   *
   * @param written Validated settings with a `secrets` section.
   * @throws {ConfigError} If the store is unknown.
   * @throws {ConnectorError} If its implementation cannot be imported.
   */
  static async open(written: Settings, { catalogue, runtime, redactor }: SecretParts): Promise<SettingsSecrets> {
    const { store: id, config, cacheTtlMs } = written.secrets!;
    const store = await (await catalogue.load("secretStore", id)).create(config, runtime);
    const { clock } = runtime;
    const resolver = new SecretResolver({
      id,
      store: withTimeouts(store, { id, clock }),
      policy: { cacheTtlMs },
      clock,
    });
    return new SettingsSecrets(written, resolver, redactor);
  }

  /**
   * The settings with resolved secrets.
   *
   * @throws {SecretNotFoundError} If secrets are missing; lists all of them.
   * @throws {ConfigError} If a resolved key, token or URL is invalid.
   */
  async resolve(): Promise<Settings> {
    const get = (name: string) => this.#resolver.get(name);
    this.#written = await completeSettings(this.#written, get);
    const { settings, secrets } = await resolveSettings(this.#written, get);
    for (const secret of secrets) this.#redactor.add(secret);
    return settings;
  }

  /**
   * A provider entry with the current values of its secrets.
   *
   * @param options `anew` bypasses the cache.
   * @throws {SecretNotFoundError} If secrets are missing; lists all of them.
   * @throws {ConfigError} If a resolved key, token or URL is invalid.
   */
  async entry(provider: string, options: { readonly isForced: boolean }): Promise<ProviderEntry> {
    const get = (name: string) => this.#resolver.get(name, options);
    const { entry, secrets } = await resolveEntry(provider, this.#written, get);
    for (const secret of secrets) this.#redactor.add(secret);
    return entry;
  }
}
