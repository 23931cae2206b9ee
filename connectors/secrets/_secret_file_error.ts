/**
 * Errors of secret files.
 * @module
 */

/** An error of a secret file. It quotes no content; the store adds its own name, the file's and the secret's. */
export class SecretFileError extends Error {
  override name = "SecretFileError";
}
