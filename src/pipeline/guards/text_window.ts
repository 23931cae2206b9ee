/**
 * The text of one member of a stream, on its way past the guards.
 * @module
 */

/** Characters that were sent and are checked again with what follows, so that a match does not begin at a cut. */
const contextChars = 64;

/** Characters that are held back at most, whatever changes. */
const maxHeldChars = 2048;

/**
 * Holds back what may be the beginning of a match. What the guards have seen whole leaves it; what they replace leaves
 * it as they say.
 */
export class TextWindow {
  readonly #reach: number;
  /** Sent before, as it was received. */
  #context = "";
  #held = "";
  #unchecked = 0;

  /** @param reach Length of the longest match, characters. */
  constructor(reach: number) {
    this.#reach = reach;
  }

  /** Whether there is nothing left to send. */
  get isEmpty(): boolean {
    return this.#held === "";
  }

  /** Number of characters since the last check. */
  get unchecked(): number {
    return this.#unchecked;
  }

  /** Whether a check would let something pass. */
  get isDue(): boolean {
    return this.#held.length > this.#reach;
  }

  /** The text to check. */
  get text(): string {
    return this.#context + this.#held;
  }

  append(text: string): void {
    this.#held += text;
    this.#unchecked += text.length;
  }

  /**
   * Returns what may be sent after a check.
   *
   * @param checked The text as the guards have left it.
   * @param isFinal Whether nothing follows.
   */
  release(checked: string, isFinal: boolean): string {
    const held = this.#held;
    this.#unchecked = 0;
    const kept = countCommonStart(this.#context, checked);
    const after = checked.slice(kept);
    if (isFinal) return this.#send(held.length, after);
    const end = held.length - this.#reach;
    if (end <= 0) return "";
    if (after === held) return this.#send(beforeSurrogate(held, end));
    const from = countCommonStart(held, after);
    const to = held.length - countCommonEnd(held.slice(from), after.slice(from));
    const isFull = held.length > maxHeldChars && from === 0;
    const cut = end >= to ? beforeSurrogate(held, end) : isFull ? to : beforeSurrogate(held, Math.min(from, end));
    if (cut < to) return this.#send(cut);
    const sent = this.#send(cut, after.slice(0, after.length - (held.length - cut)));
    this.#context = held.slice(to, cut).slice(-contextChars); // a match that is sent is not found again
    return sent;
  }

  /** Drops the first characters, and returns what is sent in their place. */
  #send(length: number, text: string = this.#held.slice(0, length)): string {
    const left = this.#held.slice(0, length);
    this.#context = (this.#context + left).slice(-contextChars);
    this.#held = this.#held.slice(length);
    return text;
  }
}

function countCommonStart(a: string, b: string): number {
  let count = 0;
  while (count < a.length && count < b.length && a.charCodeAt(count) === b.charCodeAt(count)) count++;
  return count;
}

function countCommonEnd(a: string, b: string): number {
  let count = 0;
  while (
    count < a.length && count < b.length &&
    a.charCodeAt(a.length - 1 - count) === b.charCodeAt(b.length - 1 - count)
  ) count++;
  return count;
}

/** The nearest place up to here that is not inside a surrogate pair. */
function beforeSurrogate(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return at > 0 && code >= 0xd800 && code < 0xdc00 ? at - 1 : at;
}
