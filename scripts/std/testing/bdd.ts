// @ts-types="./bdd.d.ts"
export { after as afterAll, afterEach, before as beforeAll, beforeEach, describe, it } from "node:test";
