/**
 * Connectors that keys can name, as suggestions for editors and for the reference.
 * @module
 */
import { serverConnectors } from "../../connectors/server.ts";
import type { Attributes, Connector } from "../../src/contracts/connector.ts";
import { toShortName } from "../../src/config/settings/known.ts";

type Kind = Connector["kind"];

/** Kinds by the path of the key that names one. */
const kinds: readonly (readonly [path: RegExp, kind: Kind])[] = [
  [/^providers(\.\*\.connector)?$/, "provider"],
  [/^pools\.\*\.(fallback_)?strategy$/, "strategy"],
  [/^secrets\.store$/, "secretStore"],
  [/^storage\.connector$/, "storage"],
  [/^observability\.\w+\.connector$/, "observability"],
  [/^discovery\.sync\.connector$/, "discovery"],
  [/^discovery\.health\.connector$/, "discovery"],
  [/^guards\.\*\.connector$/, "guard"],
];

/** Titles of the kinds. */
const titles: readonly (readonly [kind: Kind, title: string])[] = [
  ["provider", "Providers"],
  ["strategy", "Strategies"],
  ["secretStore", "Secret stores"],
  ["storage", "Storages"],
  ["observability", "Sinks"],
  ["discovery", "Discovery"],
  ["guard", "Guards"],
];

/**
 * Returns the suggestions for a key; empty if it does not name a connector.
 *
 * @param path Path of the key.
 */
export function suggestionsFor(path: string): readonly string[] {
  const kind = kinds.find(([pattern]) => pattern.test(path))?.[1];
  return kind === "strategy" ? listIds(kind).map(toShortName) : listIds(kind);
}

/** Ids of all server connectors, by title. */
export function shippedConnectors(): readonly (readonly [title: string, ids: readonly string[]])[] {
  return titles.map(([kind, title]) => [title, listIds(kind)] as const).filter(([, ids]) => ids.length > 0);
}

/** Attributes of server connectors, by title and id; connectors without attributes are omitted. */
export function shippedAttributes(): readonly (readonly [title: string, id: string, attributes: Attributes])[] {
  return titles.flatMap(([kind, title]) => {
    const ofKind = serverConnectors.filter((connector) =>
      connector.kind === kind && Object.keys(connector.attributes ?? {}).length > 0
    );
    return ofKind.map(({ id, attributes = {} }) => [title, id, attributes] as const);
  });
}

function listIds(wanted: Kind | undefined): string[] {
  return serverConnectors.filter(({ kind }) => kind === wanted).map(({ id }) => id);
}
