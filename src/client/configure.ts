/**
 * Configuring an engine by a configuration that `create` is given.
 * @module
 */
import { type ConfigSource, givenDocument, readSource, type SourcedDocument } from "../config/load/config_source.ts";
import { settingsOf } from "../config/load/sources.ts";
import type { Engine } from "../engine/engine.ts";
import { configContextOf } from "../registry/catalogue.ts";
import { loadPackages, namesPackages } from "../registry/packages.ts";
import type { CreateOptions } from "./options.ts";

/**
 * Configures an engine at once, where nothing has to be read or loaded for that.
 *
 * @param engine Has the connectors.
 * @param options With a `config`.
 * @returns What configures it later; undefined when that is done.
 * @throws {ConfigError} With all that is wrong with a document.
 */
export function configureByDocument(engine: Engine, options: CreateOptions): (() => Promise<void>) | undefined {
  const config = options.config as ConfigSource;
  const given = givenDocument(config);
  if (given !== undefined && !namesPackages(given.document)) return configureWith(engine, given, options);
  return async () => {
    const read = await readSource(config, engine.runtime.files);
    await loadPackages(read.document, engine); // code is loaded when the client gets ready
    configureWith(engine, read, options);
  };
}

function configureWith(engine: Engine, { document, source }: SourcedDocument, { apiKeys }: CreateOptions): undefined {
  engine.configure(settingsOf(document, configContextOf(engine), {
    ...(source === undefined ? {} : { source }),
    ...(apiKeys === undefined ? {} : { apiKeys }),
  }));
}
