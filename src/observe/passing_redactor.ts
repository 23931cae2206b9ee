/**
 * Takes also those secrets out of texts that come and go.
 * @module
 */
import { Redactor } from "./redact.ts";

/** So many of the latest ones are known: many more than are in use at a time. */
const maxTemporary = 100;

/** Knows the secrets of one mesh, the tokens among them that others will replace. */
export class PassingRedactor extends Redactor {
  #passing: readonly Redactor[] = [];

  /** Remembers a secret's value for as long as it is one of the latest. */
  addPassing(value: string): void {
    const one = new Redactor();
    one.add(value);
    this.#passing = [one, ...this.#passing].slice(0, maxTemporary);
  }

  override redact(text: string): string {
    return super.redact(this.#passing.reduce((rest, one) => one.redact(rest), text));
  }
}
