/**
 * Where secrets come from.
 * @module
 */

/** Spec: Secret store. */
export interface SecretStore {
  /** A secret's value; undefined when there is none of that name. */
  get(name: string): Promise<string | undefined>;
  /** Stores a secret. */
  set?(name: string, value: string): Promise<void>;
  /** Names only. */
  list?(): Promise<readonly string[]>;
  /** Whether there was one to delete. */
  delete?(name: string): Promise<boolean>;
}
