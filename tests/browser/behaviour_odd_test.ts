/** The other half of the suites in `behaviour_even_test.ts`: the two files run side by side. */
import { testSuitesInPages } from "./_behaviour.ts";
import { gateInPages } from "./_not_in_pages.ts";

testSuitesInPages(gateInPages.filter((_, index) => index % 2 === 1));
