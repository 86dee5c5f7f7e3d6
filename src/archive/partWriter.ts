/** Compresses lines into the parts of a batch, with bounded memory. */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createGzip, type Gzip } from 'node:zlib';

export interface Part {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly rows: number;
  readonly linesBytes: number;
}

/** A part ends at the first of these limits. A part is in memory as a whole, compressed. */
const MAX_LINES_BYTES = 256 * 1024 * 1024;
const MAX_COMPRESSED_BYTES = 16 * 1024 * 1024;

/** Lines are compressed in pieces of about this size; one by one takes several times as long. */
const PIECE_BYTES = 64 * 1024;

export interface PartLimits {
  readonly linesBytes: number;
  readonly compressedBytes: number;
}

const LIMITS: PartLimits = { linesBytes: MAX_LINES_BYTES, compressedBytes: MAX_COMPRESSED_BYTES };

export interface PartWriter {
  /** @returns a part if it became complete with this line */
  add(line: string): Promise<Part | undefined>;
  /** @returns the last part, unless it is empty */
  end(): Promise<Part | undefined>;
}

export function createPartWriter(limits: PartLimits = LIMITS): PartWriter {
  let open = openPart();
  const close = async (): Promise<Part> => {
    const part = await open.close();
    open = openPart();
    return part;
  };
  return {
    add: async (line) => {
      await open.add(line);
      const { linesBytes, compressedBytes } = open.size();
      const isFull = linesBytes >= limits.linesBytes || compressedBytes >= limits.compressedBytes;
      return isFull ? close() : undefined;
    },
    end: () => (open.size().linesBytes > 0 ? close() : Promise.resolve(undefined)),
  };
}

function openPart() {
  const gzip = createGzip();
  const collected = collect(gzip);
  let piece: string[] = [];
  let pieceBytes = 0;
  let rows = 0;
  let linesBytes = 0;
  const flush = async (): Promise<void> => {
    const isAccepted = gzip.write(piece.join(''));
    piece = [];
    pieceBytes = 0;
    if (!isAccepted) await once(gzip, 'drain');
  };
  return {
    size: () => ({ linesBytes, compressedBytes: collected.bytes() }),
    add: async (line: string): Promise<void> => {
      const bytes = Buffer.byteLength(line) + 1;
      piece.push(line, '\n');
      pieceBytes += bytes;
      linesBytes += bytes;
      rows += 1;
      if (pieceBytes >= PIECE_BYTES) await flush();
    },
    close: async (): Promise<Part> => {
      await flush();
      gzip.end();
      const bytes = await collected.all;
      return { bytes, sha256: hash('sha256', bytes, 'hex'), rows, linesBytes };
    },
  };
}

function collect(gzip: Gzip) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  gzip.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
  });
  const all = once(gzip, 'end').then(() => Buffer.concat(chunks));
  return { bytes: () => bytes, all };
}
