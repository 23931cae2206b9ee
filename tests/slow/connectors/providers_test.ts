/** The provider connectors beyond those that `tests/connectors` has. */
import { testProviders } from "../../connectors/_provider_suites.ts";

testProviders("others");
