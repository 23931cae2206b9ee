/**
 * Members of requests that are not sent to providers.
 * @module
 */

/** Fields that control the mesh, or that would let a caller choose the target or the API key. */
export const privateFields: readonly string[] = [
  "mesh",
  "models",
  "api_key",
  "api_base",
  "base_url",
  "extra_headers",
];
