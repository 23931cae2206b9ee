/**
 * What can be wrong with a file of secrets.
 * @module
 */

/** What is wrong with a file; it quotes nothing of it. The store adds its own name, the file's and the secret's. */
export class SecretFileError extends Error {
  override name = "SecretFileError";
}
