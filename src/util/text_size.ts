/**
 * Text length by groups of scripts that tokenizers split differently, to estimate token counts.
 * @module
 */

/** Characters (UTF-16 code units) per group of scripts. */
export interface TextSize {
  /** Below U+0250: English, code, JSON, most European languages. */
  latin: number;
  /** Up to U+2E7F: Greek, Cyrillic, Arabic, Devanagari, Thai, curly quotes. */
  alphabetic: number;
  /** From U+2E80: Chinese, Japanese, Korean, and both surrogates of an emoji. */
  ideographic: number;
}

/** Maximum number of characters examined. A longer text is sampled in evenly spaced blocks, which bounds the work. */
const maxSampled = 65_536;
/** Block size, large enough to cover the period of repetitive text. */
const sampleBlock = 1024;
const beyondLatin = /[\u0250-\uffff]/;

export function emptyText(): TextSize {
  return { latin: 0, alphabetic: 0, ideographic: 0 };
}

/** Adds the characters of a text to a size in place. */
export function addText(text: string, size: TextSize): void {
  const { length } = text;
  let [alphabetic, ideographic] = [0, 0];
  if (beyondLatin.test(text)) { // immediate for strings stored as Latin-1, as most are
    const skipped = sampleBlock * (Math.ceil(length / maxSampled) - 1);
    let inspected = 0;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x2e80) ideographic++;
      else if (unit >= 0x250) alphabetic++;
      if (++inspected % sampleBlock === 0) index += skipped;
    }
    alphabetic *= length / inspected;
    ideographic *= length / inspected;
  }
  size.latin += length - alphabetic - ideographic;
  size.alphabetic += alphabetic;
  size.ideographic += ideographic;
}
