/** The behaviour suites in pages that the gate leaves out. */
import { testSuitesInPages } from "../browser/_behaviour.ts";
import { slowInPages } from "../browser/_not_in_pages.ts";

testSuitesInPages(slowInPages);
