import { assert, AssertionError } from "@std/assert";
import { schema } from "../../src/config/schema/schema.ts";
import { validate } from "../../src/config/build/validate.ts";
import { ConfigError } from "../../src/errors.ts";
import { junk, listPlaces } from "../config/_junk_places.ts";
import { known } from "../config/_known.ts";

Deno.test("validate() answers whatever stands anywhere with settings or a ConfigError", () => {
  let accepted = 0;
  let refused = 0;
  for (const put of listPlaces(schema)) {
    for (const value of junk) {
      try {
        validate(put(value), { knownConnectors: known });
        accepted++;
      } catch (error) {
        const isReported = ConfigError.isInstance(error) && error.problems.length > 0;
        if (!isReported) throw new AssertionError(`${Deno.inspect(put(value), { depth: 9 })}: ${Deno.inspect(error)}`);
        refused++;
      }
    }
  }
  assert(accepted > 1000 && refused > 5000, `${accepted} accepted, ${refused} refused`);
});
