/**
 * Generates types of the configuration and its names, for programs that write one as an object.
 * @module
 */
import { serverConnectors } from "../../connectors/server.ts";
import { capabilityTree } from "../../src/capability/tree.ts";
import { shortNameOf } from "../../src/config/settings/known.ts";
import type { Field, Shape } from "../../src/config/schema/field.ts";
import { schema } from "../../src/config/schema/schema.ts";
import type { Connector, ProviderDeclaration } from "../../src/contracts/connector.ts";
import type { Key } from "./keys.ts";

/** Types that programs can use instead of a name, by path. */
const instances: Readonly<Record<string, string>> = {
  "providers.*.instance": "Provider",
  "pools.*.strategy": "SelectionStrategy",
};

/** Keys whose strings are names that editors complete. */
const named: readonly (readonly [path: RegExp, type: string])[] = [
  [/^providers\.\*\.connector$/, "ConnectorName"],
  [/^pools\.\*\.(fallback_)?strategy$/, "StrategyName"],
  [/^(secrets\.store|storage\.connector|observability\.\w+\.connector|discovery\.\w+\.connector)$/, "ConnectorName"],
  [/^(pools\.\*\.capability|models\.\*\.capabilities)$/, "CapabilityName"],
];

/** Sections whose entries have their own type. */
const sections: Readonly<Record<string, readonly [name: string, about: string]>> = {
  "providers.*": ["ProviderDocument", "An entry of `providers`."],
  "models.*": ["ModelDocument", "An entry of `models`."],
  "pools.*": ["PoolDocument", "An entry of `pools`."],
};

/**
 * Returns the text of `src/contracts/config_document.ts`.
 *
 * @param keys All keys with their descriptions.
 */
export function documentTypes(keys: readonly Key[]): string {
  const writer = new TypeWriter(keys);
  const document = writer.members(schema().shape, "");
  const entries = [...writer.entries].map(([path, shape]) => {
    const [name, about] = sections[path]!;
    return `/** ${about} */\nexport interface ${name} ${writer.members(shape, path)}\n`;
  });
  return `/**
 * A configuration as a program writes it: every key by its name, so that a misspelt one does not compile. Written by
 * \`deno task schema\` from \`src/config/schema\`.
 * @module
 */
import type { CapabilityName, ConnectorName, StrategyName } from "./names.ts";
import type { Provider } from "./provider.ts";
import type { SelectionStrategy } from "./rotation.ts";

/** A whole configuration. Durations are texts such as \`1h30m\`, sizes such as \`32MiB\`. */
export interface ConfigDocument ${document}

${entries.join("\n")}`;
}

class TypeWriter {
  /** Entries of sections, each generated once. */
  readonly entries = new Map<string, Shape>();
  readonly #about: ReadonlyMap<string, string>;

  constructor(keys: readonly Key[]) {
    this.#about = new Map(keys.map(({ path, about }) => [path, about]));
  }

  /** Returns the members of an object as an interface. */
  members({ fields = {}, required = [], isOpen }: Shape, path: string): string {
    const lines = Object.entries(fields).map(([key, field]) => {
      const full = path === "" ? key : `${path}.${key}`;
      const about = this.#about.get(full)!.replaceAll("*/", "*\\/");
      const name = /^[a-z_]\w*$/i.test(key) ? key : JSON.stringify(key);
      return `/** ${about} */\nreadonly ${name}${required.includes(key) ? "" : "?"}: ${this.#type(field, full)};`;
    });
    const others = isOpen === true
      ? "/** Attributes of the connector. */\nreadonly [attribute: string]: unknown;"
      : '/** A key in one with what it is in, such as `"retry.max_attempts"`. */\nreadonly [dotted: `${string}.${string}`]: unknown;';
    return `{\n${[...lines, others].join("\n")}\n}`;
  }

  #type({ shape }: Field, path: string): string {
    const { type, values = [], item, options = [] } = shape;
    switch (type) {
      case "flag":
        return "boolean";
      case "integer":
      case "number":
        return "number";
      case "text":
        return named.find(([pattern]) => pattern.test(path))?.[1] ?? "string";
      case "duration":
      case "size":
        return "string";
      case "choice":
        return values.map((value) => JSON.stringify(value)).join(" | ");
      case "list":
        return `readonly ${parenthesized(this.#type(item!, path))}[]`;
      case "map":
        return mapOf(this.#type(item!, `${path}.*`), path);
      case "either":
        return [...new Set(options.map((option) => this.#type(option, path)))].join(" | ");
      case "instance":
        return instances[path] ?? "object";
      case "any":
        return "Readonly<Record<string, unknown>>";
      case "object":
        return this.#object(shape, path);
    }
  }

  #object(shape: Shape, path: string): string {
    const section = sections[path];
    if (section === undefined) return this.members(shape, path);
    this.entries.set(path, shape);
    return section[0];
  }
}

/** A record by any name. An entry of `providers` is most often named by its connector's id: an editor completes these. */
function mapOf(type: string, path: string): string {
  const record = `Readonly<Record<string, ${type}>>`;
  if (path !== "providers") return record;
  const ids = serverConnectors.filter(({ kind }) => kind === "provider").map(({ id }) => JSON.stringify(id));
  return `${record} & Readonly<Partial<Record<${ids.join(" | ")}, ${type}>>>`;
}

function parenthesized(type: string): string {
  return type.includes(" | ") && !type.startsWith("{") ? `(${type})` : type;
}

/** Returns the text of `src/contracts/names.ts`. */
export function nameTypes(): string {
  const tree = capabilityTree();
  const ofKind = (kind: Connector["kind"]) => serverConnectors.filter((one) => one.kind === kind);
  const vendors = ofKind("provider").map((one) => (one as unknown as ProviderDeclaration).vendor);
  const kinds = ["provider", "secretStore", "storage", "observability", "discovery"] as const;
  const lists = {
    CapabilityName: [
      "A capability: its short name here, or a full path or an inner node.",
      tree.nodes().map((path) => tree.shortName(path)),
    ],
    StrategyName: ["A strategy: its short name here, or an id.", ofKind("strategy").map(({ id }) => shortNameOf(id))],
    VendorName: ["A vendor: its name here, or a connector's or an entry's id.", vendors],
    ConnectorName: [
      "A connector's id: one of those shipped, or one of another's.",
      kinds.flatMap((kind) => ofKind(kind).map(({ id }) => id)),
    ],
  } as const;
  const types = Object.entries(lists).map(([name, [about, names]]) => {
    const literals = [...new Set(names)].map((one) => `  | ${JSON.stringify(one)}`).join("\n");
    return `/** ${about} Any string is accepted; editors complete these. */\nexport type ${name} =\n${literals}\n  | (string & Record<never, never>);\n`;
  });
  return `/**
 * Names that editors complete. Written by \`deno task schema\` from the source.
 * @module
 */

${types.join("\n")}`;
}
