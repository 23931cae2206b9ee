/**
 * Secret stores: where secrets are read from.
 * @module
 */

/** Secrets by name. */
export interface SecretStore {
  /** A secret's value; undefined if it does not exist. */
  get(name: string): Promise<string | undefined>;
  /** Stores a secret. */
  set?(name: string, value: string): Promise<void>;
  /** Lists the names of the secrets, never their values. */
  list?(): Promise<readonly string[]>;
  /** Deletes a secret; false if it did not exist. */
  delete?(name: string): Promise<boolean>;
}
