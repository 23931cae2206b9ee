/**
 * Validates provider names and status lists in configurations.
 * @module
 */
import { type Report, show, suggest } from "../schema/report.ts";
import type { CodeValues } from "../schema/providers.ts";
import type { KnownProvider } from "../settings/known.ts";
import type { ProviderEntry } from "../settings/settings.ts";

/** Undefined for an instance, and for a connector that is not registered. */
export type ConnectorOf = (entry: ProviderEntry) => KnownProvider | undefined;

export interface ProviderParts {
  /** By entry id, in document order. */
  readonly entries: ReadonlyMap<string, ProviderEntry>;
  readonly connectorOf: ConnectorOf;
}

/** Resolves names to entry ids. A connector id or vendor stands for all of its entries, an unknown name for none. */
export function expandProviders(
  names: readonly string[] | undefined,
  { entries, connectorOf }: ProviderParts,
): string[] {
  const ids = (names ?? []).flatMap((name) => {
    if (entries.has(name)) return [name];
    const matching = [...entries.values()].filter((entry) => {
      return entry.connector === name || connectorOf(entry)?.vendor === name;
    });
    return matching.map(({ id }) => id);
  });
  return [...new Set(ids)];
}

/** Reports unknown provider names, with similar ones. */
export function checkProviders(
  names: readonly string[] | undefined,
  path: string,
  { entries, connectorOf, report }: ProviderParts & { readonly report: Report },
): void {
  names?.forEach((name, index) => {
    if (expandProviders([name], { entries, connectorOf }).length > 0) return;
    report.problem(`${path}[${index}]`, `no provider ${show(name)}${suggest(name, [...entries.keys()])}`);
  });
}

/** Reports statuses that one entry lists as both; across entries, those of a higher layer take precedence. */
export function checkCodes(codes: CodeValues | undefined, path: string, report: Report): void {
  const both = new Set(codes?.retryable_codes?.filter((code) => codes.non_retryable_codes?.includes(code)));
  if (both.size > 0) {
    report.problem(
      `${path}.non_retryable_codes`,
      `${[...both].join(", ")} ${both.size === 1 ? "is" : "are"} in "retryable_codes" as well: list each once`,
    );
  }
}
