/**
 * Budgets, quotas and error rates, imported: for tests that make states without an engine, which imports them by need.
 * @module
 */
import type { Settings } from "../../src/config/settings/settings.ts";
import { loadLimits } from "../../src/state/limits/load_limits.ts";

const none = { providers: new Map(), pools: new Map(), defaultRouting: { deactivation: {} } } as unknown as Settings;

await loadLimits(none, true);
