/** The document that uses every attribute and what it may name. */
import { serverConnectors } from "../../connectors/server.ts";
import { groupConnectors, type KnownConnectors } from "../../src/config/settings/known.ts";

/** Its path. */
export const completePath = "tests/fixtures/config/whole.yaml";

const shipped = groupConnectors(serverConnectors);

/**
 * The connectors of servers, and those of the specification that it names besides. They declare no attributes: what
 * passes through is anything at all, as it is for connectors of a program's own.
 */
export const known: KnownConnectors = {
  ...shipped,
  findAttributes: () => undefined,
  providers: shipped.providers.map((one) => ({ ...one, attributes: undefined })),
  observability: [...new Set([...shipped.observability, "mesh.webhook.v1", "mesh.local-file.v1"])],
  secretStores: [...new Set([...shipped.secretStores, "mesh.dotenv.v1"])],
};

const named = ["providers", "models", "pools", "aliases"];

/** The same document, every nested key spelled in one with what it is in, as far as names allow it. */
export function dotted(document: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(document).flatMap(([section, value]): [string, unknown][] => {
      if (!named.includes(section)) return Object.entries(flat({ [section]: value }));
      const entries = Object.entries(value as object);
      return [[section, Object.fromEntries(entries.map(([name, one]) => [name, isObject(one) ? flat(one) : one]))]];
    }),
  );
}

function flat(value: object, prefix = ""): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
      const isBranch = isObject(member) && Object.keys(member).length > 0;
      return isBranch ? Object.entries(flat(member, `${prefix}${key}.`)) : [[prefix + key, member]];
    }),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
