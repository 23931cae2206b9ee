/**
 * Connectors that a document names, by id or by a short name.
 * @module
 */
import { listNearest, type Report, show, suggest } from "../schema/report.ts";
import { findConnectors, type NamedConnector } from "../settings/known.ts";

/** The name of a connector in a document. */
interface ConnectorReference {
  /** The connectors that it may mean. */
  readonly connectors: readonly NamedConnector[];
  /** What they are, for messages, such as `storage`. */
  readonly what: string;
  readonly path: string;
  readonly report: Report;
}

/**
 * Resolves the name of a connector. A name that means none or several is reported.
 *
 * @returns The id; the name itself if it is not resolved.
 */
export function resolveConnector(name: string, { connectors, what, path, report }: ConnectorReference): string {
  const [id = name, ...others] = findConnectors(name, connectors);
  if (others.length > 0) report.problem(path, describeAmbiguity(name, [id, ...others]));
  else if (!connectors.some((connector) => connector.id === id)) {
    const ids = connectors.map((connector) => connector.id);
    report.problem(path, `no ${what} ${show(name)} is registered${suggest(name, ids)}`);
  }
  return id;
}

/** Says which ones a name may mean. */
export function describeAmbiguity(name: string, candidates: readonly string[]): string {
  return `${show(name)} is ambiguous, use one of ${listNearest(name, candidates)}`;
}

/** Connectors of which nothing but the id is known. */
export function byId(ids: readonly string[]): readonly NamedConnector[] {
  return ids.map((id) => ({ id }));
}
