/**
 * Loads connector packages: reads, verifies and unpacks them, validates their manifests, imports and registers their
 * connectors.
 * @module
 */
import type { Connector, ConnectorKinds, PluggableConnector } from "../contracts/connector.ts";
import type { ModuleLoader, Runtime } from "../contracts/runtime.ts";
import { ConfigError, ConnectorError } from "../errors.ts";
import { describeDenial } from "../util/denial.ts";
import { isObject } from "../util/is_object.ts";
import { maxBytes, unpack } from "./_archive.ts";
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
    const other = names.get(`${kind} ${id}`) ?? catalogue.all.find((registered) => {
      return registered.id === id && registered.kind === kind && !fromPackages.has(registered);
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
    const reason = describeDenial(error) ?? "see the error's cause";
    throw new ConnectorError(`The connector package ${source} cannot be loaded (${reason})`, error);
  }
  return await toConnector(exported, manifest, source);
}

async function readPackage(path: string, { readBytes }: ModuleLoader): Promise<Uint8Array> {
  try {
    return await readBytes(path);
  } catch (error) {
    throw new ConnectorError(
      `The connector package ${path} cannot be read: ${describeDenial(error, { path }) ?? "is the path right?"}`,
      error,
    );
  }
}

function download(address: string, runtime: Runtime): Promise<Uint8Array> {
  return downloadBytes(address, { name: `The connector package ${address}`, maxBytes, runtime });
}

async function hash(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

interface Manifest {
  readonly id: string;
  readonly kind: keyof ConnectorKinds;
  readonly version: string;
  /** Path of the module within the package. */
  readonly entry: string;
  /** JSON Schema of the connector's attributes. */
  readonly configSchema?: Readonly<Record<string, unknown>>;
}

const kinds: Readonly<Record<string, keyof ConnectorKinds>> = {
  provider: "provider",
  strategy: "strategy",
  secret_store: "secretStore",
  storage: "storage",
  observability: "observability",
  discovery: "discovery",
  guard: "guard",
};

/**
 * Reads the manifest of a package.
 *
 * @throws {ConnectorError} When it is invalid; lists every problem.
 */
function readManifest(files: ReadonlyMap<string, Uint8Array>, name: string): Manifest {
  const { id, type, version, entry, config_schema: schema } = parseJsonFile(files.get("connector.json"), name);
  const problems = [
    typeof id === "string" && isConnectorId(id) ? [] : '"id" has to have the form "acme.llm.v1"',
    typeof type === "string" && Object.hasOwn(kinds, type)
      ? []
      : `"type" has to be one of ${Object.keys(kinds).join(", ")}`,
    typeof version === "string" && /^\d/.test(version) ? [] : '"version" has to have the form "1.0.0"',
    typeof entry === "string" && /\.m?js$/.test(entry) && files.has(entry)
      ? []
      : '"entry" has to be a file of the package that ends in .js or .mjs',
    schema === undefined || isObject(schema) ? [] : '"config_schema" has to be a JSON Schema, an object',
  ].flat();
  if (problems.length > 0) {
    throw new ConnectorError(`The connector package ${name} is refused: in connector.json ${problems.join("; ")}`);
  }
  const manifest = {
    id: id as string,
    kind: kinds[type as string]!,
    version: version as string,
    entry: entry as string,
  };
  return schema === undefined ? manifest : { ...manifest, configSchema: schema as Record<string, unknown> };
}

/**
 * Returns the connector of a package. Its attributes are validated against the schema whenever it creates something.
 *
 * @param exported Exports of the module.
 * @throws {ConnectorError} When it does not match the manifest.
 */
async function toConnector(
  exported: Readonly<Record<string, unknown>>,
  { id, kind, configSchema }: Manifest,
  name: string,
): Promise<Connector> {
  const connector = (exported.connector ?? exported.default) as Partial<Connector> | undefined;
  const isProvider = (connector: object) =>
    "vendor" in connector && "models" in connector && Array.isArray(connector.models);
  const problem = !isObject(connector) || typeof connector.create !== "function"
    ? 'its entry has to export a connector, as "connector" or as the default: an object with id, kind and create'
    : connector.id !== id || connector.kind !== kind
    ? `its connector has to have the id "${id}" and the kind "${kind}", as connector.json says`
    : kind === "provider" && !isProvider(connector)
    ? 'its connector has to have "vendor" and "models", as every provider\'s has'
    : undefined;
  if (problem !== undefined) throw new ConnectorError(`The connector package ${name} is refused: ${problem}`);
  const check = configSchema === undefined ? () => {} : await checkBy(configSchema, id, kind);
  const typed = connector as Connector;
  return Object.create(typed, {
    create: {
      value(...[settings, ...parts]: Parameters<Connector["create"]>) {
        check(settings);
        return typed.create(settings, ...parts);
      },
    },
  });
}

async function checkBy(
  schema: object,
  id: string,
  kind: Manifest["kind"],
): Promise<(settings: Readonly<Record<string, unknown>>) => void> {
  const { Validator } = await loadValidator();
  const validator = new Validator(schema, "2020-12", false);
  return (settings) => {
    const isProvider = kind === "provider";
    const { errors } = validator.validate(isProvider ? settings.config ?? {} : settings);
    const path = isProvider ? `providers.${settings.id}.config` : id;
    // errors of containers only repeat that something below is invalid
    const problems = errors.filter(({ keyword }) =>
      !/^(properties|additionalProperties|items|\$ref|allOf)$/.test(keyword)
    );
    if (errors.length === 0) return;
    throw new ConfigError(problems.map(({ instanceLocation, keyword, error }) => ({
      path: [path, ...instanceLocation.split("/").slice(1)].join("."),
      message: keyword === "false" ? `unknown key: "${id}" has none of this name` : error,
    })));
  };
}

function parseJsonFile(bytes: Uint8Array | undefined, name: string): Readonly<Record<string, unknown>> {
  const fail = (reason: string) => new ConnectorError(`The connector package ${name} is refused: ${reason}`);
  if (bytes === undefined) throw fail("it has no connector.json at its top");
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw fail("its connector.json is not JSON");
  }
  if (!isObject(value)) throw fail("its connector.json is not an object");
  return value as Readonly<Record<string, unknown>>;
}

async function loadValidator() {
  try {
    // deno-lint-ignore no-import-prefix -- an entry of `imports` would be downloaded before every task
    return await import("npm:@cfworker/json-schema@4.1.6");
  } catch (error) {
    const name = "@cfworker/json-schema";
    const message = `The config_schema of a connector package needs the package "${name}": npm install ${name}`;
    throw new ConnectorError(message, error);
  }
}

/** Whether an id has the form `acme.llm.v1`: at least three segments, of which the last one is a version. */
function isConnectorId(id: string): boolean {
  const segments = id.split(".");
  return segments.length >= 3 && /^v\d+$/i.test(segments.at(-1)!) && /^[a-z0-9]/i.test(id) &&
    segments.every((segment) => /^[\w-]+$/.test(segment));
}
