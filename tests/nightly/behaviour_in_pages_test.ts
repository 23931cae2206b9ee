/** The behaviour suites in pages that the gate leaves out. */
import { behaviourSuites, testSuitesInPages } from "../browser/_behaviour.ts";
import { gateInPages } from "../browser/_not_in_pages.ts";

testSuitesInPages(behaviourSuites.filter((file) => !gateInPages.includes(file)));
