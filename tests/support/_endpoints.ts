/**
 * Expected messages about `proxy.endpoints`.
 * @module
 */
import { listNearest } from "../../src/config/schema/report.ts";
import schema from "../../docs/schema.json" with { type: "json" };

/** The endpoints that a message about "chat" lists. */
export const allowedEndpoints: string = `(allowed: ${
  listNearest("chat", schema.definitions["proxy.endpoints"].items.enum)
})`;
