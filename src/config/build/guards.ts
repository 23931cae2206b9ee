/**
 * Builds the section `guards`, and checks the names of guards in other sections.
 * @module
 */
import { byId, readAttributes, resolveConnector } from "../check/connectors.ts";
import { complete } from "../schema/complete.ts";
import type { Given } from "../schema/field.ts";
import { type Report, show, suggest, under } from "../schema/report.ts";
import { type DocumentValues, guard } from "../schema/schema.ts";
import { deepFreeze } from "../schema/tree.ts";
import type { KnownConnectors } from "../settings/known.ts";
import type { GuardSettings } from "../settings/settings.ts";

type GuardValues = Given<typeof guard>;

/** Checks connectors and attributes; undefined without guards. */
export function buildGuards(
  { guards, pools, teams, proxy }: DocumentValues,
  { guards: connectors, findAttributes }: Pick<KnownConnectors, "guards" | "findAttributes">,
  report: Report,
): ReadonlyMap<string, GuardSettings> | undefined {
  const used = new Set<string>();
  const check = (names: readonly string[] | undefined, path: string) => {
    names?.forEach((name, index) => {
      used.add(name);
      if (guards?.has(name)) return;
      report.problem(`${path}[${index}]`, `no guard ${show(name)}${suggest(name, [...guards?.keys() ?? []])}`);
    });
  };
  for (const [name, pool] of pools ?? []) check(pool.guards, `${under("pools", name)}.guards`);
  for (const [name, team] of teams ?? []) check(team.guards, `${under("teams", name)}.guards`);
  check(proxy?.guards, "proxy.guards");
  proxy?.auth?.tokens?.forEach((token, index) => {
    if (typeof token !== "string") check(token.guards, `proxy.auth.tokens[${index}].guards`);
  });
  if (guards === undefined || guards.size === 0) return undefined;
  return new Map([...guards].map(([name, values]) => {
    const path = under("guards", name);
    if (!used.has(name)) {
      report.warn(path, "has no effect: name it under `proxy.guards`, in the `guards` of a pool, or of a client");
    }
    return [name, buildGuard(values, { path, connectors, findAttributes, report })];
  }));
}

function buildGuard(values: GuardValues, { path, connectors, findAttributes, report }: {
  readonly path: string;
  readonly connectors: readonly string[];
  readonly findAttributes: KnownConnectors["findAttributes"];
  readonly report: Report;
}): GuardSettings {
  const settings = complete(guard, values);
  const connector = settings.connector && resolveConnector(settings.connector, {
    connectors: byId(connectors),
    what: "guard connector",
    path: `${path}.connector`,
    report,
  });
  const config = Object.fromEntries(Object.entries(values).filter(([key]) => !Object.hasOwn(guard.fields, key)));
  const declared = connector === undefined ? undefined : findAttributes("guard", connector);
  const read = readAttributes(config, { path, connector, declared, report });
  for (const [name, { isRequired }] of Object.entries(declared ?? {})) {
    if (isRequired && (read[name] === undefined || read[name] === null) && !report.hasProblemAt(path)) {
      report.problem(`${path}.${name}`, `missing: "${connector}" requires it`);
    }
  }
  return { ...settings, connector, config: deepFreeze(read) };
}
