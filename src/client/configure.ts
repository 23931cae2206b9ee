/**
 * Configures an engine from the `config` option of `create`.
 * @module
 */
import {
  type ConfigSource,
  givenDocument,
  readSettings,
  readSource,
  type SourcedDocument,
} from "../config/load/sources.ts";
import { checkedDocument, MeshConfigBase } from "../config/load/mesh_config.ts";
import type { Engine } from "../engine/engine.ts";
import { createConfigContext } from "../registry/catalogue.ts";
import { loadPackages, namesPackages } from "../registry/packages.ts";
import type { CreateOptions } from "./options.ts";

/**
 * Configures an engine synchronously, unless a file has to be read or a package loaded first.
 *
 * @param engine An engine that has its connectors.
 * @param options Options with a `config`.
 * @returns A function that completes the configuration asynchronously; undefined when it is complete.
 * @throws {ConfigError} When the document is invalid; lists every problem.
 */
export function configureByDocument(engine: Engine, options: CreateOptions): (() => Promise<void>) | undefined {
  const config = options.config as ConfigSource;
  const sourced = givenDocument(config);
  if (sourced !== undefined && !namesPackages(sourced.document)) return configureWith(engine, sourced, options);
  return async () => {
    const read = await readSource(config, engine.runtime.files);
    await loadPackages(read.document, engine); // packages are imported in `ready()`
    configureWith(engine, read, options);
  };
}

/**
 * Configures an engine from a document.
 *
 * @throws {ConfigError} When the document is invalid; lists every problem.
 */
export function configureWith(
  engine: Engine,
  { document, source }: SourcedDocument,
  { apiKeys }: Pick<CreateOptions, "apiKeys"> = {},
): undefined {
  const settings = readSettings(document, createConfigContext(engine), {
    ...(source === undefined ? {} : { source }),
    ...(apiKeys === undefined ? {} : { apiKeys }),
  });
  engine.configure(settings);
  engine.config = new MeshConfigBase(checkedDocument(document, settings));
}
