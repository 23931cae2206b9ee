/**
 * Expected messages about `proxy.endpoints`.
 * @module
 */
import schema from "../../docs/schema.json" with { type: "json" };

/** The endpoints, as a message lists them. */
export const allowedEndpoints: string = `(allowed: ${
  schema.definitions["proxy.endpoints"].items.enum.map((value) => JSON.stringify(value)).join(", ")
})`;
