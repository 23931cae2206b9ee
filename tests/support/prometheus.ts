/**
 * Strict parser of the Prometheus text format. Unknown syntax is an error.
 * @module
 */

/** A sample. */
export interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All samples of one `# TYPE`. */
export interface ScrapedFamily {
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ScrapedSample[];
}

/**
 * Parses an exposition.
 *
 * @param text The complete exposition.
 * @throws {Error} When it violates the format.
 */
export function readPrometheus(text: string): ReadonlyMap<string, ScrapedFamily> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, ScrapedFamily & { samples: ScrapedSample[] }>();
  const seen = new Set<string>();
  let current = "";
  let help = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line);
    if (comment?.[1] === "HELP") {
      help = comment[3]!;
    } else if (comment !== null) {
      current = comment[2]!;
      if (families.has(current)) throw new Error(`a second group of ${current}`);
      if (!/^(?:counter|gauge|histogram)$/.test(comment[3]!)) throw new Error(`a type is ${comment[3]}`);
      families.set(current, { help, type: comment[3]!, samples: [] });
    } else {
      const sample = readSample(line);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(key)) throw new Error(`twice: ${line}`);
      seen.add(key);
      const family = families.get(current)!;
      const base = family.type === "histogram" ? sample.name.replace(/_(?:bucket|sum|count)$/, "") : sample.name;
      if (base !== current) throw new Error(`${sample.name} is outside of its group`);
      family.samples.push(sample);
    }
  }
  for (const [name, family] of families) if (family.type === "histogram") checkBuckets(name, family);
  return families;
}

function readSample(line: string): ScrapedSample {
  const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const [, name, pairs = "", number] = match;
  const value = number === "+Inf" ? Infinity : Number(number);
  if (Number.isNaN(value) && number !== "NaN") throw new Error(`not a number: ${line}`);
  const labels: Record<string, string> = {};
  const rest = pairs.replace(/([a-zA-Z_]\w*)="((?:[^"\\]|\\[\\n"])*)"(?:,|$)/g, (_, label: string, text: string) => {
    if (label in labels) throw new Error(`a label twice: ${line}`);
    labels[label] = text.replace(/\\(.)/g, (_, character) => character === "n" ? "\n" : character);
    return "";
  });
  if (rest !== "") throw new Error(`not labels: ${line}`);
  return { name: name!, labels, value };
}

/** Checks that buckets are cumulative, and that `+Inf` is last and equal to the count. */
function checkBuckets(name: string, { samples }: ScrapedFamily): void {
  const groups = new Map<string, { below: number; bound: number; last?: number }>();
  for (const { name: sample, labels, value } of samples) {
    const { le, ...others } = labels;
    const key = JSON.stringify(others);
    const group = groups.get(key) ?? { below: 0, bound: -Infinity };
    if (sample === `${name}_bucket`) {
      const bound = le === "+Inf" ? Infinity : Number(le);
      if (!(bound > group.bound) || value < group.below) throw new Error(`buckets of ${name} do not grow`);
      groups.set(key, { below: value, bound });
    } else if (sample === `${name}_count`) {
      if (group.bound !== Infinity || group.below !== value) throw new Error(`${name} has no +Inf bucket of its count`);
    }
  }
}
