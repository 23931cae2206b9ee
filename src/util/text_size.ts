/**
 * How long a text is, by the kinds of script that tokenizers cut differently.
 * @module
 */

/** Characters (UTF-16 code units) by the kind of script. */
export interface TextSize {
  /** Below U+0250: English, code, JSON, most European languages. */
  latin: number;
  /** Up to U+2E7F: Greek, Cyrillic, Arabic, Devanagari, Thai, curly quotes. */
  alphabetic: number;
  /** From U+2E80 on: Chinese, Japanese, Korean, and both halves of an emoji. */
  ideographic: number;
}

/** Characters of one text that are examined; a longer one is sampled in blocks at even distances, which bounds the work. */
const maxSampled = 65_536;
/** Long enough that a text which repeats itself is seen as a whole. */
const sampleBlock = 1024;
const beyondLatin = /[\u0250-\uffff]/;

export function emptyText(): TextSize {
  return { latin: 0, alphabetic: 0, ideographic: 0 };
}

/** Adds the characters of a text to a size, which it changes in place. */
export function addText(text: string, size: TextSize): void {
  const { length } = text;
  let [alphabetic, ideographic] = [0, 0];
  if (beyondLatin.test(text)) { // at once for a text that the engine keeps as Latin-1, as it does most
    const skipped = sampleBlock * (Math.ceil(length / maxSampled) - 1);
    let looked = 0;
    for (let place = 0; place < length; place++) {
      const unit = text.charCodeAt(place);
      if (unit >= 0x2e80) ideographic++;
      else if (unit >= 0x250) alphabetic++;
      if (++looked % sampleBlock === 0) place += skipped;
    }
    alphabetic *= length / looked;
    ideographic *= length / looked;
  }
  size.latin += length - alphabetic - ideographic;
  size.alphabetic += alphabetic;
  size.ideographic += ideographic;
}
