/**
 * Subtitles, for vendors that return only words with timestamps.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { TranscriptSegment } from "../../src/contracts/audio.ts";

/** A word, or the whitespace between two words; times in seconds. */
export interface TimedWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Pause that ends a segment, seconds. */
const longPause = 1.5;
/** Maximum characters of a segment: two lines on screen. */
const maxChars = 84;

/**
 * Groups words into segments: one sentence each, or as much of it as fits on two lines.
 *
 * @param words Words in order; spaces are separate words.
 */
export function groupSegments(words: readonly TimedWord[]): TranscriptSegment[] {
  const groups: TimedWord[][] = [];
  let isOver = true;
  for (const word of words) {
    const group = groups.at(-1) ?? [];
    const isSpace = word.text.trim() === "";
    if (!isSpace && (isOver || word.start - group.at(-1)!.end > longPause)) groups.push([word]);
    else if (!isOver) group.push(word);
    if (!isSpace) isOver = /[.!?…。！？]["'”’)\]]*$/.test(word.text) || joinWords(groups.at(-1)!).length >= maxChars;
  }
  return groups.map((group, id) => ({
    id,
    start: group[0]!.start,
    end: group.findLast(({ text }) => text.trim() !== "")!.end,
    text: joinWords(group),
  }));
}

function joinWords(words: readonly TimedWord[]): string {
  return words.map(({ text }) => text).join("").trim();
}

/**
 * Formats segments as a subtitle file.
 *
 * @param segments Segments; times in seconds.
 * @param format `srt` or `vtt`.
 */
export function formatSubtitles(segments: readonly JsonObject[], format: string): string {
  const mark = format === "srt" ? "," : ".";
  const cues = segments.map(({ start, end, text }, index) => {
    const line = `${formatTime(Number(start), mark)} --> ${formatTime(Number(end), mark)}\n${text}\n`;
    return format === "srt" ? `${index + 1}\n${line}` : line;
  });
  return (format === "srt" ? cues : ["WEBVTT\n", ...cues]).join("\n");
}

function formatTime(seconds: number, mark: string): string {
  const ms = Math.max(0, Math.round(seconds * 1000)) || 0;
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  return `${two(ms / 3_600_000)}:${two(ms / 60_000 % 60)}:${two(ms / 1000 % 60)}${mark}${
    String(ms % 1000).padStart(3, "0")
  }`;
}
