// What @std/testing/bdd is to the tests, when they run on Node.
export { after as afterAll, afterEach, before as beforeAll, beforeEach, describe, it } from "node:test";
