/**
 * The manifest of a connector package, and the connector it exports.
 * @module
 */
import type { Connector, ConnectorKinds } from "../contracts/connector.ts";
import { ConfigError, ConnectorError } from "../errors.ts";
import { isObject } from "../util/is_object.ts";

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
};

/**
 * Reads the manifest of a package.
 *
 * @throws {ConnectorError} When it is invalid; lists every problem.
 */
export function readManifest(files: ReadonlyMap<string, Uint8Array>, name: string): Manifest {
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
export async function toConnector(
  exported: Readonly<Record<string, unknown>>,
  { id, kind, configSchema }: Manifest,
  name: string,
): Promise<Connector> {
  const connector = (exported.connector ?? exported.default) as Partial<Connector> | undefined;
  const isProvider = (one: object) => "vendor" in one && "models" in one && Array.isArray(one.models);
  const problem = !isObject(connector) || typeof connector.create !== "function"
    ? 'its entry has to export a connector, as "connector" or as the default: an object with id, kind and create'
    : connector.id !== id || connector.kind !== kind
    ? `its connector has to have the id "${id}" and the kind "${kind}", as connector.json says`
    : kind === "provider" && !isProvider(connector)
    ? 'its connector has to have "vendor" and "models", as every provider\'s has'
    : undefined;
  if (problem !== undefined) throw new ConnectorError(`The connector package ${name} is refused: ${problem}`);
  const check = configSchema === undefined ? () => {} : await checkBy(configSchema, id, kind);
  const made = connector as Connector;
  return Object.create(made, {
    create: {
      value(...[settings, ...parts]: Parameters<Connector["create"]>) {
        check(settings);
        return made.create(settings, ...parts);
      },
    },
  });
}

type ManifestCheck = (settings: Readonly<Record<string, unknown>>) => void;

async function checkBy(schema: object, id: string, kind: Manifest["kind"]): Promise<ManifestCheck> {
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
