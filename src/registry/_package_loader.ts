/**
 * Loads connector packages: reads, verifies, unpacks, imports and registers them.
 * @module
 */
import type { Connector, PluggableConnector } from "../contracts/connector.ts";
import type { ModuleLoader, Runtime } from "../contracts/runtime.ts";
import { ConnectorError } from "../errors.ts";
import { maxBytes, unpack } from "./_archive.ts";
import { readManifest, toConnector } from "./_manifest.ts";
import type { ConnectorCatalogue } from "./catalogue.ts";
import { downloadBytes } from "./download.ts";

/** A package named by a configuration. */
export interface PackageEntry {
  /** Path of a file, or an https URL. */
  readonly source: string;
  readonly sha256?: string;
}

/** Dependencies of {@linkcode loadAll}. */
export interface PackageParts {
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
}

/** Connectors loaded from packages. Packages may replace only these. */
const fromPackages = new WeakSet<PluggableConnector>();

/**
 * Loads packages, and registers their connectors.
 *
 * @param parts The catalogue, and the runtime port.
 * @throws {ConnectorError} When a package cannot be read, is invalid, or has a connector whose id is taken.
 */
export async function loadAll(
  entries: readonly PackageEntry[],
  { catalogue, runtime }: PackageParts,
): Promise<void> {
  const { modules } = runtime;
  if (modules === undefined) throw new ConnectorError("Connector packages cannot be loaded here: there are no files");
  const loaded = await Promise.all(entries.map((entry) => loadPackage(entry, modules, runtime)));
  const names = new Map<string, string>();
  for (const [at, connector] of loaded.entries()) {
    const { id, kind } = connector;
    const { source } = entries[at]!;
    const other = names.get(`${kind} ${id}`) ?? catalogue.all.find((one) => {
      return one.id === id && one.kind === kind && !fromPackages.has(one);
    })?.id;
    if (other !== undefined) {
      throw new ConnectorError(`The connector package ${source} contains "${id}", which is already registered`);
    }
    names.set(`${kind} ${id}`, source);
  }
  for (const connector of loaded) {
    fromPackages.add(connector);
    catalogue.register(connector.id, connector);
  }
}

async function loadPackage(
  { source, sha256 }: PackageEntry,
  modules: ModuleLoader,
  runtime: Runtime,
): Promise<Connector> {
  const bytes = /^https?:/i.test(source) ? await download(source, runtime) : await readPackage(source, modules);
  const digest = await hash(bytes);
  if (sha256 !== undefined && sha256.toLowerCase() !== digest) {
    throw new ConnectorError(
      `The connector package ${source} is refused: its SHA-256 is ${digest}, not the one configured`,
    );
  }
  const files = await unpack(bytes, source);
  const manifest = readManifest(files, source);
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = await modules.importFrom(files, { key: digest, entry: manifest.entry });
  } catch (error) {
    throw new ConnectorError(`The connector package ${source} cannot be loaded (see the error's cause)`, error);
  }
  return await toConnector(exported, manifest, source);
}

async function readPackage(path: string, { readBytes }: ModuleLoader): Promise<Uint8Array> {
  try {
    return await readBytes(path);
  } catch (error) {
    throw new ConnectorError(`The connector package ${path} cannot be read: is the path right?`, error);
  }
}

function download(address: string, runtime: Runtime): Promise<Uint8Array> {
  return downloadBytes(address, { name: `The connector package ${address}`, maxBytes, runtime });
}

async function hash(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
