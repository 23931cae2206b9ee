/** The other half of the suites in `behaviour_even_test.ts`: the two files run side by side. */
import { gateSuites, testSuitesInPages } from "./_behaviour.ts";

testSuitesInPages(gateSuites.filter((_, index) => index % 2 === 1));
