/**
 * The connectors that keys name: editors suggest them, the reference lists them.
 * @module
 */
import { serverConnectors } from "../../connectors/server.ts";
import type { Attributes, Connector } from "../../src/contracts/connector.ts";
import { shortNameOf } from "../../src/config/settings/known.ts";

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
];

/** Kinds in words. */
const titles: readonly (readonly [kind: Kind, title: string])[] = [
  ["provider", "Providers"],
  ["strategy", "Strategies"],
  ["secretStore", "Secret stores"],
  ["storage", "Storages"],
  ["observability", "Sinks"],
  ["discovery", "Discovery"],
];

/**
 * What a key may name, as people write it; empty for a key that names no connector.
 *
 * @param path Its path.
 */
export function suggestionsFor(path: string): readonly string[] {
  const kind = kinds.find(([pattern]) => pattern.test(path))?.[1];
  return kind === "strategy" ? idsOf(kind).map(shortNameOf) : idsOf(kind);
}

/** The ids of all connectors of servers, by kind in words. */
export function shippedConnectors(): readonly (readonly [title: string, ids: readonly string[]])[] {
  return titles.map(([kind, title]) => [title, idsOf(kind)] as const).filter(([, ids]) => ids.length > 0);
}

/** The attributes that connectors of servers read, by kind in words and id; without those that read none. */
export function shippedAttributes(): readonly (readonly [title: string, id: string, attributes: Attributes])[] {
  return titles.flatMap(([kind, title]) => {
    const ofKind = serverConnectors.filter((one) => one.kind === kind && Object.keys(one.attributes ?? {}).length > 0);
    return ofKind.map(({ id, attributes = {} }) => [title, id, attributes] as const);
  });
}

function idsOf(wanted: Kind | undefined): string[] {
  return serverConnectors.filter(({ kind }) => kind === wanted).map(({ id }) => id);
}
