/**
 * Duration of an audio file, read from its headers. Vendors price and limit by duration, and many do not report it.
 *
 * Sources: RIFF WAVE (Microsoft, 1991), RFC 9639 (FLAC), RFC 3533 and RFC 7845 (Ogg, Opus), ISO/IEC 14496-12 (MP4),
 * ISO/IEC 11172-3 and 13818-3 (frame headers of MP3), the Xing header (Xing Technology).
 * @module
 */

/** Assumed bit rate of speech in a format without a duration: 24 kbit/s, low, so that estimates are high. */
const assumedBytesPerSecond = 3_000;
/**
 * Minimum bytes per second in any format, even of silence. A file with a longer declared duration is damaged or forged.
 */
const minBytesPerSecond = 25;
/** Maximum number of boxes or chunks examined. */
const maxParts = 1_000;
/** Maximum length of an Ogg page (RFC 3533), rounded up. */
const oggTailBytes = 70_000;

/** Bit rates of MPEG 1 and MPEG 2 layer III, by index, kbit/s. */
const mpeg1Rates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const mpeg2Rates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
/** Sample rates of MPEG 1, by index. MPEG 2 has half, MPEG 2.5 a quarter of them. */
const sampleRates = [44_100, 48_000, 32_000];

const formats: readonly ((view: DataView) => number | undefined)[] = [ofWave, ofFlac, ofOgg, ofMp4, ofMp3];

/**
 * Returns the duration of an audio file.
 *
 * @returns Seconds; an estimate from the file size if the headers have no duration.
 *
 * @example
 * ```ts
 * audioSeconds(await Deno.readFile("speech.wav")); // 2.5
 * ```
 */
export function audioSeconds(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const secondsOf of formats) {
    const seconds = secondsOf(view);
    if (seconds !== undefined && seconds >= 0 && seconds <= bytes.length / minBytesPerSecond) return seconds;
  }
  return bytes.length / assumedBytesPerSecond;
}

function hasText(view: DataView, position: number, text: string): boolean {
  if (position < 0 || position + text.length > view.byteLength) return false;
  for (let index = 0; index < text.length; index++) {
    if (view.getUint8(position + index) !== text.charCodeAt(index)) return false;
  }
  return true;
}

function ofWave(view: DataView): number | undefined {
  if (!hasText(view, 0, "RIFF") || !hasText(view, 8, "WAVE")) return undefined;
  let bytesPerSecond: number | undefined;
  for (let at = 12, parts = 0; at + 8 <= view.byteLength && parts < maxParts; parts++) {
    const size = view.getUint32(at + 4, true);
    if (hasText(view, at, "fmt ") && at + 20 <= view.byteLength) bytesPerSecond = view.getUint32(at + 16, true);
    if (hasText(view, at, "data")) {
      const rest = view.byteLength - at - 8;
      const present = size === 0 ? rest : Math.min(size, rest); // a live recording declares 0, or a size beyond its end
      return bytesPerSecond === undefined ? undefined : present / bytesPerSecond;
    }
    at += 8 + size + size % 2;
  }
  return undefined;
}

function ofFlac(view: DataView): number | undefined {
  if (!hasText(view, 0, "fLaC") || view.byteLength < 26) return undefined;
  const rate = view.getUint32(18) >>> 12;
  const samples = (view.getUint8(21) & 0x0f) * 2 ** 32 + view.getUint32(22);
  return rate === 0 || samples === 0 ? undefined : samples / rate;
}

/** Reads the duration from the position of the last page. */
function ofOgg(view: DataView): number | undefined {
  if (!hasText(view, 0, "OggS")) return undefined;
  const isOpus = hasText(view, 28, "OpusHead");
  if (!isOpus && !hasText(view, 29, "vorbis")) return undefined;
  const rate = isOpus ? 48_000 : view.byteLength < 44 ? 0 : view.getUint32(40, true);
  const skipped = isOpus && view.byteLength >= 40 ? view.getUint16(38, true) : 0; // pre-skip
  const first = Math.max(0, view.byteLength - oggTailBytes);
  for (let at = view.byteLength - 27; at >= first; at--) {
    if (!hasText(view, at, "OggS")) continue;
    const position = view.getBigInt64(at + 6, true);
    if (position < 0) continue; // no packet ends on this page
    const samples = Number(position) - skipped;
    return rate === 0 ? undefined : samples / rate;
  }
  return undefined;
}

function ofMp4(view: DataView): number | undefined {
  if (!hasText(view, 4, "ftyp")) return undefined;
  const movie = findBox(view, { name: "moov", from: 0, to: view.byteLength });
  const header = movie && findBox(view, { name: "mvhd", ...movie });
  if (header === undefined || header.from + 32 > view.byteLength) return undefined;
  const isLong = view.getUint8(header.from) === 1;
  const scale = view.getUint32(header.from + (isLong ? 20 : 12));
  const duration = isLong ? Number(view.getBigUint64(header.from + 24)) : view.getUint32(header.from + 16);
  return duration === 0 ? undefined : duration / scale; // fragmented: the header has no total
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Returns the content of the first box of a type. */
function findBox(view: DataView, { name, from, to }: Span & { readonly name: string }): Span | undefined {
  for (let at = from, parts = 0; at + 16 <= to && parts < maxParts; parts++) {
    const short = view.getUint32(at);
    const size = short === 1 ? Number(view.getBigUint64(at + 8)) : short === 0 ? to - at : short;
    const head = short === 1 ? 16 : 8;
    if (size < head) return undefined;
    if (hasText(view, at + 4, name)) return { from: at + head, to: Math.min(at + size, to) };
    at += size;
  }
  return undefined;
}

/** Uses the frame count that many encoders write, else the bit rate of the first frame. */
function ofMp3(view: DataView): number | undefined {
  const hasTag = hasText(view, 0, "ID3") && view.byteLength > 10;
  const sevenBits = (position: number) => view.getUint8(position) & 0x7f;
  const tag = hasTag ? 10 + (sevenBits(6) << 21 | sevenBits(7) << 14 | sevenBits(8) << 7 | sevenBits(9)) : 0;
  if (tag + 4 > view.byteLength) return undefined;
  const head = view.getUint32(tag);
  const isFrame = head >>> 21 === 0x7ff && (head >>> 17 & 3) === 1; // sync word, and layer III
  const version = head >>> 19 & 3; // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
  const kilobits = (version === 3 ? mpeg1Rates : mpeg2Rates)[head >>> 12 & 15];
  const rate = sampleRates[head >>> 10 & 3];
  if (!isFrame || !kilobits || rate === undefined || version === 1) return undefined;
  const isMono = (head >>> 6 & 3) === 3;
  const sideBytes = version === 3 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  const frames = framesIn(view, tag + 4 + sideBytes);
  if (frames === undefined) return (view.byteLength - tag) / (kilobits * 125);
  const samples = version === 3 ? 1152 : 576;
  const perSecond = version === 3 ? rate : version === 2 ? rate / 2 : rate / 4;
  return frames * samples / perSecond;
}

/** Returns the frame count of a Xing or LAME header; undefined without one. */
function framesIn(view: DataView, at: number): number | undefined {
  if (!hasText(view, at, "Xing") && !hasText(view, at, "Info") || at + 12 > view.byteLength) return undefined;
  const hasFrames = (view.getUint32(at + 4) & 1) === 1;
  return hasFrames ? view.getUint32(at + 8) : undefined;
}
