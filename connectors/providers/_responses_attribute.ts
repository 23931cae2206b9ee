/**
 * What a configuration says of the Responses API.
 * @module
 */
import type { Attributes } from "../../src/contracts/connector.ts";

/** For vendors that have the Responses API, some of them, or some versions of theirs. */
export const responsesAttribute: Attributes = {
  responses: {
    type: "flag",
    about:
      "Whether `POST /responses` is there, for clients of `/v1/responses`; unset, it is taken for granted at the " +
      "vendor's own address alone, of OpenAI, Azure OpenAI and xAI.",
  },
};
