/**
 * Makes a picture of a page small: a PNG of true colors becomes one with at most 256 of them. A page has
 * few colors, so nothing is seen of it, and the file has a third of its size.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const MAX_COLORS = 256;

/** @param png of 8 bits a channel, RGB or RGBA, not interlaced, as browsers write it */
export function toPalette(png: Buffer): Buffer {
  const { width, height, channels, pixels } = decode(png);
  const colors = new Map<number, number>();
  const wanted = new Uint32Array(width * height);
  for (let place = 0; place < wanted.length; place += 1) {
    const at = place * channels;
    // The lowest two bits of a channel are not seen.
    const color =
      (((pixels[at] ?? 0) & 0xfc) << 16) |
      (((pixels[at + 1] ?? 0) & 0xfc) << 8) |
      ((pixels[at + 2] ?? 0) & 0xfc);
    wanted[place] = color;
    colors.set(color, (colors.get(color) ?? 0) + 1);
  }
  const palette = [...colors]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MAX_COLORS)
    .map(([color]) => color);
  const indexOf = new Map<number, number>();
  for (const color of colors.keys()) indexOf.set(color, nearest(palette, color));
  const rows = Buffer.alloc((width + 1) * height);
  for (let place = 0; place < wanted.length; place += 1) {
    const row = Math.floor(place / width);
    rows[row * (width + 1) + 1 + (place % width)] = indexOf.get(wanted[place] ?? 0) ?? 0;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  header[9] = 3;
  const table = Buffer.from(
    palette.flatMap((c) => [c >> 16, (c >> 8) & 0xff, c & 0xff].map(bright)),
  );
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', table),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Repeats the upper bits in the two that were cut, so that white stays white. */
const bright = (value: number): number => value | (value >> 6);

function nearest(palette: readonly number[], color: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, one] of palette.entries()) {
    const distance = [16, 8, 0].reduce(
      (sum, shift) => sum + (((one >> shift) & 0xff) - ((color >> shift) & 0xff)) ** 2,
      0,
    );
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, sum]);
}

function decode(png: Buffer) {
  const parts: Buffer[] = [];
  let at = SIGNATURE.length;
  while (at < png.length) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') {
      parts.push(png.subarray(at + 8, at + 8 + length));
    }
    at += length + 12;
  }
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = png[25] === 6 ? 4 : 3;
  const pixels = unfilter(inflateSync(Buffer.concat(parts)), { width, height, channels });
  return { width, height, channels, pixels };
}

interface Size {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
}

function unfilter(raw: Buffer, { width, height, channels }: Size): Buffer {
  const stride = width * channels;
  // With a row above and a pixel before each row that are empty.
  const padded = stride + channels;
  const pixels = Buffer.alloc(padded * (height + 1));
  for (let row = 0; row < height; row += 1) {
    const start = row * (stride + 1);
    const filter = raw[start] ?? 0;
    for (let column = 0; column < stride; column += 1) {
      const at = (row + 1) * padded + channels + column;
      const near = [at - channels, at - padded, at - padded - channels];
      const [left = 0, up = 0, corner = 0] = near.map((one) => pixels[one]);
      pixels[at] = (raw[start + 1 + column] ?? 0) + predicted(filter, { left, up, corner });
    }
  }
  const rows = Array.from({ length: height }, (_, row) => (row + 1) * padded + channels);
  return Buffer.concat(rows.map((start) => pixels.subarray(start, start + stride)));
}

interface Neighbors {
  readonly left: number;
  readonly up: number;
  readonly corner: number;
}

/** The filters of PNG: none, sub, up, average, Paeth. */
function predicted(filter: number, { left, up, corner }: Neighbors): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return Math.floor((left + up) / 2);
  if (filter !== 4) return 0;
  const [a, b, c] = [left, up, corner].map((one) => Math.abs(left + up - corner - one));
  if ((a ?? 0) <= (b ?? 0) && (a ?? 0) <= (c ?? 0)) return left;
  return (b ?? 0) <= (c ?? 0) ? up : corner;
}
