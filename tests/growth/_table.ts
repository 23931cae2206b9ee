/**
 * The table of growth: a row for whatever reads what clients, providers and operators send. `table_test.ts` checks that
 * it is complete, `tests/slow/growth_test.ts` measures each row.
 * @module
 */
import type { GrowthCase } from "./_case.ts";
import { conversionCases } from "./_conversion_cases.ts";
import { dialectCases } from "./_dialect_cases.ts";
import { meshCases } from "./_mesh_cases.ts";
import { operationCases } from "./_operation_cases.ts";
import { proxyCases } from "./_proxy_cases.ts";
import { providerCases } from "./_provider_cases.ts";
import { textCases } from "./_text_cases.ts";
import { vendorRuleCases } from "./_vendor_rule_cases.ts";
import { wireCases } from "./_wire_cases.ts";

/** All rows. */
export const cases: readonly GrowthCase[] = [
  ...textCases,
  ...wireCases,
  ...conversionCases,
  ...dialectCases,
  ...providerCases,
  ...operationCases,
  ...meshCases,
  ...proxyCases,
  ...vendorRuleCases,
];
