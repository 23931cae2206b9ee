/** The release of this package; the same as in `deno.json`. */
export const version = "0.1.0";
