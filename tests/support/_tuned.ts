/**
 * Settings of single models and providers of a stage.
 * @module
 */
import type { StageOptions } from "./_failover.ts";
import { testConfig } from "./proxy.ts";

/** Settings of a stage, and of single models and providers. */
export interface Tuning extends StageOptions {
  /** Settings by model name, in addition to provider and capability. */
  readonly models?: Sections;
  /** Settings by provider, in addition to URL and API key. */
  readonly providers?: Sections;
}

type Sections = Readonly<Record<string, object>>;

/**
 * Returns the options of `stage`.
 *
 * @param tuning Settings.
 *
 * @example
 * ```ts
 * import { stage } from "./_failover.ts";
 * import { ok } from "./upstream.ts";
 *
 * await stage({ a: ok(), b: ok() }, tuned({ models: { a: { limits: { rpm: 10 } } } }));
 * ```
 */
export function tuned(
  { models = {}, providers = {}, config, ...rest }: Tuning,
): (urls: Readonly<Record<string, string>>) => StageOptions {
  return (upstreams) => {
    const plain = testConfig({ upstreams, ...rest }) as Record<"providers" | "models", Sections>;
    return {
      ...rest,
      config: { providers: over(plain.providers, providers), models: over(plain.models, models), ...config },
    };
  };
}

/** Counts equal values, such as `{ a: 10, b: 40 }` for ten `a` and forty `b`. */
export function tally(values: readonly (string | number | null | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
}

function over(plain: Sections, own: Sections): Sections {
  return Object.fromEntries(Object.entries(plain).map(([name, section]) => [name, { ...section, ...own[name] }]));
}
