/**
 * Numbers and times as people read them.
 * @module
 */

const integer = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** Is shown where there is no number. */
export const none = "–";

/** A count: `950`, `12.4K`. */
export function count(value: number): string {
  return value < 10_000 ? integer.format(value) : compact.format(value);
}

/** A count with its noun: `1 model`, `12 models`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** Something per second: `0.004`, `0.25`, `2.5`, `14`. */
export function rate(value: number): string {
  if (value >= 10) return compact.format(Math.round(value));
  return String(value < 0.1 ? Number(value.toPrecision(1)) : Number(value.toFixed(value < 1 ? 2 : 1)));
}

/** Milliseconds: `840 µs`, `12 ms`, `1.24 s`. */
export function duration(ms: number | undefined): string {
  if (ms === undefined || Number.isNaN(ms)) return none;
  if (ms === 0) return "0 ms";
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s` : span(ms);
}

/** The same without trailing zeros, for axes. */
export function shortDuration(ms: number): string {
  return ms === 0 ? "0" : duration(ms).replace(/\d{1,9}\.\d{1,9}/, (number) => String(Number(number)));
}

/** USD: `$0`, `$0.000042`, `$12.30`. */
export function usd(value: number | undefined): string {
  if (value === undefined) return none;
  if (value === 0) return "$0";
  return value < 0.01
    ? `$${Number(value.toPrecision(2)).toLocaleString("en-US", { maximumFractionDigits: 8 })}`
    : `$${value.toFixed(2)}`;
}

/** A share: `0 %`, `1.5 %`. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value === 0 || value >= 10 ? value.toFixed(0) : value < 0.1 ? "< 0.1" : value.toFixed(1)} %`;
}

/** A length of time in at most two units: `8 s`, `3 min 20 s`, `2 d 4 h`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

/** A time of day, of ms since 1970. */
export function timeOfDay(at: number): string {
  return clock.format(at);
}

/** A code of a record as words: `rate_limited` as `rate limited`. */
export function words(code: string): string {
  return code.replaceAll("_", " ");
}
