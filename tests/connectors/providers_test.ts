/** Provider connectors of each dialect; `tests/slow` has the others. */
import { testProviders } from "./_provider_suites.ts";

testProviders("representatives");
