/**
 * Members of a request that are for us.
 * @module
 */

/** Fields that steer us, or that would let a caller choose the target or the key. */
export const privateFields: readonly string[] = [
  "mesh",
  "models",
  "api_key",
  "api_base",
  "base_url",
  "extra_headers",
];
